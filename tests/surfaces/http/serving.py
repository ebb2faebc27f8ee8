"""A server in this process, and a client that speaks HTTP with it."""

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx2

import memoranda
from memoranda.app.doorkeeper import LocalPrincipal, Service
from memoranda.surfaces.http.application import HttpServer
from memoranda.surfaces.http.door import LOOPBACK, DoorLimits
from tests.patience import PATIENCE

BASE = "http://localhost"
ME = "human:me"


@dataclass(frozen=True)
class Served:
    """A server, whoever asks it, and what lies behind."""

    client: httpx2.AsyncClient
    server: HttpServer
    database: memoranda.Database

    @property
    def service(self) -> Service:
        """The service behind the door."""
        assert self.server.door is not None
        return self.server.door.service

    async def ask(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """An answer, whatever it is."""
        return await self.client.request(method, path, **options)

    async def told(self, method: str, path: str, **options: Any) -> Any:
        """The document of an answer that is well."""
        answer = await self.ask(method, path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def refused(self, method: str, path: str, **options: Any) -> tuple[int, str]:
        """The status and the code of an answer that is a problem."""
        answer = await self.ask(method, path, **options)
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        problem = answer.json()
        assert problem["status"] == answer.status_code
        return answer.status_code, str(problem["code"])


@contextmanager
def process(url: str, *arguments: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`memoranda serve` as a process of its own, and its address; it is stopped in the end."""
    command = [sys.executable, "-m", "memoranda", "serve", "-d", url, "--port", "0", *arguments]
    with (
        TemporaryFile("w+") as errors,  # and no pipe: nobody reads it while the server runs
        subprocess.Popen(  # noqa: S603 - our own interpreter
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder
        ) as running,
    ):
        try:
            assert running.stdout is not None
            said = running.stdout.readline()
            if not said:
                errors.seek(0)
                raise AssertionError(errors.read())
            yield said.split()[-1], running
        finally:
            running.terminate()
            running.communicate(timeout=PATIENCE)


@asynccontextmanager
async def served(
    url: str, *, scope: str = "default", keyless: bool = True, **options: Any
) -> AsyncIterator[Served]:
    """A server over a database; whoever has no key is let in, if `keyless`."""
    made: list[memoranda.Database] = []
    clock = options.pop("clock", None)
    clockwork = options.pop("clockwork", None) or (
        memoranda.Clockwork() if clock is None else memoranda.Clockwork(clock)
    )
    more = {"embedder": options.pop("embedder")} if "embedder" in options else {}

    def connected() -> memoranda.Database:
        made.append(memoranda.connect(url, clockwork=clockwork, **more))
        return made[0]

    limits = options.pop("limits", DoorLimits(hosts=LOOPBACK))
    local = LocalPrincipal(ME, scope) if keyless else None
    server = HttpServer(connected, local=local, limits=limits, **options)
    app = server.application()
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=BASE) as client,
    ):
        yield Served(client, server, made[0])
