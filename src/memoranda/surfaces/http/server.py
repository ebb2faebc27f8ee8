"""`memoranda serve`: a server in this process, or several that share one address.

Only a socket is handed to the workers, and options that can be sent to another process. Each of
them opens the database for itself.
"""

import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryDirectory
from threading import Event
from typing import Final

import uvicorn
from prometheus_client.multiprocess import mark_process_dead

import memoranda
from memoranda import models
from memoranda.app.surfaces import AppOf, LocalPrincipal, no_app
from memoranda.surfaces.http.application import HttpServer, Mounts, no_mounts
from memoranda.surfaces.http.connection import HttpConnection
from memoranda.surfaces.http.door import AT_ONCE, LOOPBACK, TIME_LIMIT_S, DoorLimits
from memoranda.surfaces.http.messages import MAX_BODY
from memoranda.surfaces.http.metrics import SHARED

DRAIN_S: Final = 10
"""How long a server that stops waits for requests that are under way."""
_BACKLOG: Final = 2048
_LOOK_S: Final = 0.2
_NOT_STARTED: Final = 3
"""How a worker ends that could not begin: another one could not either."""
_QUIET: Final = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}

log = logging.getLogger("memoranda.http")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How a server runs; all of it can be sent to another process."""

    url: str
    host: str = "127.0.0.1"
    port: int = 8300
    workers: int = 1
    scope: str = "default"
    """That of whoever comes without a key and names none."""
    actor: str = "human:local"
    """Who that is."""
    hosts: tuple[str, ...] = ()
    """The names that it answers to besides those of this machine to itself."""
    at_once: int = AT_ONCE
    time_limit_s: float = TIME_LIMIT_S
    per_minute: int | None = None
    mounts: Mounts = no_mounts
    """What is served beside /v1."""
    app_of: Callable[[], AppOf] = lambda: no_app  # the command line gives one that can be sent
    """Loads the code of the user's own, in the process that runs it."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    def server(self) -> HttpServer:
        """The application."""
        hosts = None
        if self.is_local or self.hosts:
            hosts = LOOPBACK | set(self.hosts) if self.is_local else set(self.hosts)
        return HttpServer(
            lambda: memoranda.connect(self.url, embedder=models.embedder_from_environment()),
            app_of=self.app_of(),
            local=LocalPrincipal(self.actor, self.scope) if self.is_local else None,
            limits=DoorLimits(self.at_once, self.time_limit_s, hosts),
            per_minute=self.per_minute,
            mounts=self.mounts,
        )


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Uvicorn(uvicorn.Server):
    """A server that says when it listens, and ends streams of events when it stops."""

    def __init__(self, config: uvicorn.Config, server: HttpServer, say: Callable[[], None]) -> None:
        super().__init__(config)
        self._server = server
        self._say = say

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._say()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._server.stop()
        await super().shutdown(sockets)


def serve(options: ServeOptions, say: Callable[[str], None]) -> bool:
    """Serve until a signal comes; whether it ended well. `say` is told the address."""
    with socket.create_server(
        (options.host, options.port), family=_family(options.host), backlog=_BACKLOG
    ) as listening:
        # Accepted sockets have it from this one. Without it the second part of an answer waits for
        # the client to acknowledge the first, which takes 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        address = _address(listening)
        if options.workers == 1:
            return _work(options, partial(say, address), [listening])
        say(address)
        with TemporaryDirectory(prefix="memoranda-metrics-") as counts:
            os.environ[SHARED] = counts  # workers count together, whichever of them is asked
            return _supervise(options, listening)


def _supervise(options: ServeOptions, listening: socket.socket) -> bool:
    """Run workers until a signal comes; one that dies is replaced, unless none ever lived."""
    context = get_context("spawn")
    stopped = Event()
    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, lambda *_: stopped.set())

    def worker() -> SpawnProcess:
        made = context.Process(target=_work_apart, args=(options, listening))
        made.start()
        return made

    workers = [worker() for _ in range(options.workers)]
    while not stopped.wait(_LOOK_S):
        if any(found.exitcode == _NOT_STARTED for found in workers):
            break
        for number, found in enumerate(workers):
            if not found.is_alive():
                mark_process_dead(found.pid)
                log.warning("a worker ended with %s, and is replaced", found.exitcode)
                workers[number] = worker()
    for found in workers:
        if found.is_alive():
            found.terminate()
    for found in workers:
        found.join()
    return stopped.is_set()


def _work_apart(options: ServeOptions, listening: socket.socket) -> None:
    if not _work(options, _nothing, [listening]):
        sys.exit(_NOT_STARTED)


def _work(options: ServeOptions, say: Callable[[], None], sockets: list[socket.socket]) -> bool:
    server = options.server()
    worker = _Uvicorn(_config(server), server, say)
    worker.run(sockets)
    return worker.started


def _nothing() -> None:
    """Nobody is told that a worker listens: the address was said before."""


def _config(server: HttpServer) -> uvicorn.Config:
    return uvicorn.Config(
        server.application(),
        http=HttpConnection,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=_QUIET,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_S,
        h11_max_incomplete_event_size=MAX_BODY,
    )


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
