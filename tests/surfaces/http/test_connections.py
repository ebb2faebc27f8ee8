"""Whoever is slow, silent or numerous takes nothing from others."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import uvicorn

import memoranda
from memoranda.app.doorkeeper import LocalPrincipal
from memoranda.surfaces.http import connection
from memoranda.surfaces.http.application import HttpServer
from memoranda.surfaces.http.door import DoorLimits
from memoranda.surfaces.http.server import _config
from tests.patience import PATIENCE

HEAD = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@asynccontextmanager
async def listening(folder: Path, limits: DoorLimits) -> AsyncIterator[tuple[str, int]]:
    """A server on a real socket, as `memoranda serve` configures it."""
    url = f"sqlite:///{folder}/memory.db"
    server = HttpServer(
        lambda: memoranda.connect(url), local=LocalPrincipal("human:me", "s"), limits=limits
    )
    running = uvicorn.Server(_config(server))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        served = asyncio.create_task(running.serve([bound]))
        while not running.started:
            assert not served.done()
            await asyncio.sleep(0.005)
        try:
            yield bound.getsockname()
        finally:
            server.stop()
            running.should_exit = True
            await served


async def test_a_head_that_does_not_come_closes_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_S", 0.2)
    async with listening(tmp_path, DoorLimits()) as (host, port):
        for said in (b"", b"GET /healthz HTTP/1.1\r\nHost: local"):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(said)
            async with asyncio.timeout(PATIENCE):
                assert await reader.read() == b""
            writer.close()
        reader, writer = await asyncio.open_connection(host, port)
        for _ in range(2):  # one that asks stays open between its requests
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            async with asyncio.timeout(PATIENCE):
                assert (await reader.readuntil(b"ok\n")).startswith(b"HTTP/1.1 200")
            await asyncio.sleep(0.3)
        writer.close()


async def test_slow_bodies_and_idle_sockets_leave_room_for_others(tmp_path: Path) -> None:
    limits = DoorLimits(at_once=3, time_limit_s=0.5)
    async with listening(tmp_path, limits) as (host, port):
        idle = [await asyncio.open_connection(host, port) for _ in range(200)]
        slow = [await asyncio.open_connection(host, port) for _ in range(3)]
        for _, writer in slow:
            writer.write(HEAD + b'Content-Length: 100\r\n\r\n{"data": "')
        async with asyncio.timeout(PATIENCE):
            answers = [await reader.readuntil(b"request_timed_out") for reader, _ in slow]
        async with httpx2.AsyncClient(base_url=f"http://{host}:{port}") as client:
            answer = await client.post("/v1/memories", json={"data": "hello"})
        for _, writer in (*idle, *slow):
            writer.close()

    assert all(found.startswith(b"HTTP/1.1 503") for found in answers)
    assert answer.status_code == 200
