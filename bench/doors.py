"""What a server's door costs: HTTP against the same calls in this process.

The server runs in a process of its own, on loopback, over SQLite. Times are the client's; CPU is
what the server itself used, which says more on a busy machine. `--short` takes fewer requests;
`--memory` measures nothing but what the server holds over 100,000 of them.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2

import memoranda
from memoranda.kernel.access import RIGHTS

TICKS = os.sysconf("SC_CLK_TCK")
MIX = 10
"""Of so many requests one writes, one recalls, one lists and the others read the journal's head."""
AT_ONCE = 8
QUESTION = {"query": "how should I reach the customer of ticket 7?", "topK": 5}


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_of(pid: int) -> int:
    """KiB that a process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


async def timed(call: Callable[[int], Awaitable[object]], count: int) -> list[float]:
    """Milliseconds of each call, one after another, sorted."""
    found = []
    for number in range(count):
        began = time.perf_counter()
        await call(number)
        found.append((time.perf_counter() - began) * 1000)
    return sorted(found)


def said(name: str, times: list[float], cpu_ms: float) -> str:
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    rate = 1000 * len(times) / sum(times)
    return f"{name:28} p50 {p50:7.2f} ms  p99 {p99:7.2f} ms  {rate:7.0f}/s  CPU {cpu_ms:6.2f} ms"


async def in_process(folder: Path, count: int) -> None:
    async with memoranda.open(folder / "direct.db", scope="s", actor="agent:a") as memory:
        for number in range(200):
            await memory.remember(f"The customer of ticket {number} prefers email")
        for name, call in {
            "remember, in process": lambda n: memory.remember(f"note {n} of today"),
            "recall, in process": lambda _: memory.recall(str(QUESTION["query"]), top_k=5),
            "journal.head, in process": lambda _: memory.journal.head(),
        }.items():
            began = time.process_time()
            times = await timed(call, count)
            print(said(name, times, (time.process_time() - began) * 1000 / count))


async def over_http(address: str, pid: int, key: str, count: int) -> None:
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as client:

        async def post(path: str, body: object) -> None:
            (await client.post(path, json=body)).raise_for_status()

        for number in range(200):
            await post("/v1/memories", {"data": f"The customer of ticket {number} prefers email"})
        for name, call in {
            "remember, HTTP": lambda n: post("/v1/memories", {"data": f"note {n} of today"}),
            "recall, HTTP": lambda _: post("/v1/recall", QUESTION),
            "journal.head, HTTP": lambda _: client.get("/v1/journal"),
            "healthz, HTTP": lambda _: client.get("/healthz"),
        }.items():
            began = cpu_of(pid)
            times = await timed(call, count)
            print(said(name, times, (cpu_of(pid) - began) * 1000 / count))


async def at_once(address: str, keys: list[str], requests: int) -> None:
    """Each key, which is each scope, asks at once; then three times as much as is let in."""

    async def one(client: httpx2.AsyncClient, key: str, number: int) -> int:
        answer = await client.post(
            "/v1/memories",
            json={"data": f"note {number}"},
            headers={"authorization": f"Bearer {key}"},
        )
        return answer.status_code

    limits = httpx2.Limits(max_connections=300)
    async with httpx2.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
        began = time.perf_counter()
        statuses: list[int] = []
        for first in range(0, requests, 90):
            batch = [one(client, keys[n % len(keys)], n) for n in range(first, first + 90)]
            statuses += await asyncio.gather(*batch)
        took = time.perf_counter() - began
        print(f"{len(keys)} scopes, 90 at once: {len(statuses) / took:.0f}/s, "
              f"{statuses.count(200)} of {len(statuses)} well")  # fmt: skip
        flood = await asyncio.gather(*(one(client, keys[n % len(keys)], n) for n in range(300)))
        after = await one(client, keys[0], 0)
        well, later = flood.count(200), flood.count(429)
        print(f"3x overload: {well} well, {later} told to come again, "
              f"others {len(flood) - well - later}; after it {after}")  # fmt: skip


async def flat(address: str, pid: int, key: str, count: int) -> None:
    """Reads and writes in turns, a few at once; what the server holds is told after each tenth."""
    headers = {"authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=address, headers=headers, timeout=60) as client:

        async def one(number: int) -> None:
            match number % MIX:
                case 0:
                    body: object = {"data": f"note {number} of ticket {number % 97}"}
                    answer = await client.post("/v1/memories", json=body)
                case 1:
                    answer = await client.post("/v1/recall", json=QUESTION)
                case 2:
                    answer = await client.get("/v1/memories", params={"limit": 5})
                case _:
                    answer = await client.get("/v1/journal")
            answer.raise_for_status()

        for tenth in range(10):
            start, end = tenth * count // 10, (tenth + 1) * count // 10
            for first in range(start, end, AT_ONCE):
                await asyncio.gather(*(one(n) for n in range(first, min(first + AT_ONCE, end))))
            print(
                f"{end:,} requests, {end // MIX:,} of them writes: {memory_of(pid):,} KiB",
                flush=True,
            )


def main() -> None:
    """Measure, and print."""
    is_short, only_memory = "--short" in sys.argv, "--memory" in sys.argv
    count = 200 if is_short else 2_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with memoranda.connect_sync(folder / "served.db") as database:
            keys = [
                database.keys.create(
                    scope=f"s{n}", actor="agent:a", rights=RIGHTS, per_minute=1_000_000
                ).key
                for n in range(200)
            ]
        if not only_memory:
            asyncio.run(in_process(folder, count))
        began = time.perf_counter()
        command = [sys.executable, "-m", "memoranda", "serve", "-d", str(folder / "served.db")]
        with subprocess.Popen(  # noqa: S603 - our own interpreter
            [*command, "--port", "0"], stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().split()[-1]
                httpx2.get(f"{address}/healthz").raise_for_status()
                took = time.perf_counter() - began
                print(f"start to first answer: {took:.2f} s, CPU {cpu_of(server.pid):.2f} s")
                if not only_memory:
                    asyncio.run(over_http(address, server.pid, keys[0], count))
                    asyncio.run(at_once(address, keys, 360 if is_short else 3_600))
                asyncio.run(flat(address, server.pid, keys[1], 5_000 if is_short else 100_000))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
