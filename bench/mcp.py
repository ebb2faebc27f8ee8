"""What MCP adds to a call: the same operations in process, by the SDK in memory, and over HTTP.

CPU time of this process for each call, client and server together, on a SQLite file; the wall time
of the best round beside it. ``python -m bench.mcp``
"""

import asyncio
import socket
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from mcp.client.client import Client

import memoranda
from memoranda.app.surfaces import OPERATIONS, LocalPrincipal, Principal, Service
from memoranda.kernel.access import RIGHTS
from memoranda.surfaces.http.application import HttpServer
from memoranda.surfaces.mcp.mount import mcp_routes
from memoranda.surfaces.mcp.server import McpDoor

ROUNDS, CALLS, RECORDS = 5, 100, 1_000
WHO = Principal("agent:bench", "bench", frozenset(RIGHTS))
Act = Callable[[int], Awaitable[Any]]


async def measured(act: Act) -> tuple[float, float]:
    """Milliseconds of CPU and of the clock for a call: the best of some rounds."""
    found = []
    for _ in range(ROUNDS):
        cpu, wall = time.process_time(), time.perf_counter()
        for number in range(CALLS):
            await act(number)
        found.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in found) / CALLS * 1e3, min(wall for _, wall in found) / CALLS * 1e3


def by_service(service: Service) -> dict[str, Act]:
    async def get(number: int) -> None:
        await service.call(WHO, OPERATIONS["get"], {"id": f"m{number}"})

    async def recall(number: int) -> None:
        given = {"query": f"what about customer {number}?", "topK": 5}
        await service.call(WHO, OPERATIONS["recall"], given)

    async def remember(number: int) -> None:
        await service.call(WHO, OPERATIONS["remember"], {"data": f"noted {number}"})

    return {"get": get, "recall": recall, "remember": remember}


def by_client(client: Client) -> dict[str, Act]:
    async def get(number: int) -> None:
        await client.call_tool("get_memory", {"id": f"m{number}"})

    async def recall(number: int) -> None:
        given = {"query": f"what about customer {number}?", "topK": 5}
        await client.call_tool("recall", given)

    async def remember(number: int) -> None:
        await client.call_tool("remember", {"data": f"noted {number}"})

    return {"get": get, "recall": recall, "remember": remember}


async def show(name: str, acts: dict[str, Act]) -> None:
    for what, act in acts.items():
        await act(0)
        cpu, wall = await measured(act)
        print(f"{name:<26}{what:<10}{cpu:8.2f} ms CPU {wall:8.2f} ms")


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder)}/memory.db"
        async with memoranda.connect(url) as database:
            memory = database.scope("bench", actor="agent:bench")
            for number in range(RECORDS):
                await memory.put(f"m{number}", f"Customer {number} prefers email on day {number}")
            service = Service(database)

            async def principal_of(_ctx: Any) -> Principal:
                return WHO

            await show("in process", by_service(service))
            for mode in ("2026-07-28", "legacy"):
                server = McpDoor(service, principal_of).server()
                async with Client(server, mode=mode) as client:
                    await show(f"SDK in memory, {mode}", by_client(client))
        http = HttpServer(
            lambda: memoranda.connect(url),
            local=LocalPrincipal("agent:bench", "bench"),
            mounts=mcp_routes,
        )
        running = uvicorn.Server(uvicorn.Config(http.application(), lifespan="on", log_config=None))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            served = asyncio.create_task(running.serve([listening]))
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as `serve` does
            while not running.started:  # noqa: ASYNC110 - nobody tells us
                await asyncio.sleep(0.01)
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
            for mode in ("2026-07-28", "legacy"):
                async with Client(address, mode=mode) as client:
                    await show(f"HTTP, {mode}", by_client(client))
            http.stop()
            running.should_exit = True
            await served


if __name__ == "__main__":
    asyncio.run(main())
