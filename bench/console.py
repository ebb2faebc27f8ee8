"""What each page of the console costs the server over 100,000 memories.

The story of the demo comes first; then as many memories, of 1,000 people. Pages are asked for in
this process without a socket. CPU is what counts on a busy machine; `--count` takes fewer memories.
"""

import argparse
import asyncio
import re
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx2

import memoranda
from memoranda.app.surfaces import LocalPrincipal
from memoranda.surfaces import sample
from memoranda.surfaces.console.routes import console_routes
from memoranda.surfaces.http.application import HttpServer
from memoranda.surfaces.story import MANAGER

AIM_MS: Final = 100
ASKED: Final = 9
AT_ONCE: Final = 1_000
WORDS: Final = ("lamp", "cushion", "voucher", "parcel", "card", "invoice", "garden", "winter")


async def fill(url: str, count: int) -> None:
    """The story, and so many memories more."""
    await sample.tell(url)
    async with memoranda.open(url, scope=sample.SCOPE, actor="agent:support") as memory:
        for first in range(0, count, AT_ONCE):
            await memory.remember_many(
                [
                    memoranda.Memo(
                        f"Customer {n % 1_000} asked about the {WORDS[n % 8]} of order {n}",
                        source=f"ticket/{n}",
                        subject=f"customer:{n % 1_000:04}",
                        tags=["log"],
                    )
                    for n in range(first, min(first + AT_ONCE, count))
                ]
            )
        await memory.maintain.embed()  # else the first questions wait for it


async def pages_of(client: httpx2.AsyncClient) -> dict[str, str]:
    """Each page by its name: the lists, and one of what they lead to."""
    found = {
        "overview": "/",
        "memories": "/memories",
        "memories, asked": "/memories?q=" + quote("how does Kim want to be paid back?"),
        "memories, a tag": "/memories?tag=log",
        "memory": "/memory?id=kim/refunds",
        "recalls": "/recalls",
        "worlds": "/worlds",
        "inbox": "/inbox",
        "turns": "/turns",
        "journal": "/journal",
        "journal, recalls": "/journal?family=recalls",
        "entry": "/entry?seq=20",
        "people": "/people",
        "person": "/person?id=customer:0007",
        "person, used": "/person/used?id=customer:0007",
        "erasure": "/erasure",
        "login": "/login",
    }
    for name, path in (("recall", "/recalls"), ("world", "/worlds"), ("proposal", "/inbox"),
                       ("turn", "/turns")):  # fmt: skip
        text = (await client.get(path)).text
        links = re.findall(rf'href="(/{name}\?[^"]*)"', text)
        found[name] = links[-1].replace("&amp;", "&")
    return found


async def measure(url: str) -> None:
    """Ask for each page some times, and print the median."""
    server = HttpServer(
        lambda: memoranda.connect(url),
        app_of=sample.app_of,
        local=LocalPrincipal(MANAGER, sample.SCOPE),
        mounts=console_routes,
    )
    app = server.application()
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        slow = []
        for name, path in (await pages_of(client)).items():
            times, cpu, size = [], [], 0
            for _ in range(ASKED):
                began, used = time.perf_counter(), time.process_time()
                answer = await client.get(path)
                times.append((time.perf_counter() - began) * 1000)
                cpu.append((time.process_time() - used) * 1000)
                size = len(answer.raise_for_status().content) // 1024
            middle, used_ms = sorted(times)[ASKED // 2], sorted(cpu)[ASKED // 2]
            print(f"{name:20} {middle:8.1f} ms  CPU {used_ms:8.1f} ms  first {times[0]:8.1f} ms"
                  f"  {size:4} KiB")  # fmt: skip
            if used_ms > AIM_MS:
                slow.append(name)
    print(f"above {AIM_MS} ms of CPU: {', '.join(slow) or 'none'}")


def main() -> None:
    """Fill a database, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory(prefix="memoranda-console-") as name:
        url = f"sqlite:///{Path(name)}/memory.db"
        began = time.perf_counter()
        asyncio.run(fill(url, count))
        print(f"{count:,} memories in {time.perf_counter() - began:.0f} s")
        asyncio.run(measure(url))


if __name__ == "__main__":
    main()
