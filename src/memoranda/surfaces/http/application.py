"""The application that a server runs: /v1, and what tells how it does and what it offers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Final

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda import Database
from memoranda.app.surfaces import AppOf, LocalPrincipal, Service, no_app
from memoranda.errors import MemorandaError, MethodRefused, RouteNotFound
from memoranda.surfaces.errors import problem_of
from memoranda.surfaces.http.door import Door, DoorLimits, check_place, principal_in
from memoranda.surfaces.http.messages import HttpAnswer, json_bytes, problem_answer
from memoranda.surfaces.http.metrics import TEXT, Metrics
from memoranda.surfaces.http.openapi import document
from memoranda.surfaces.http.pages import HTML, reference_page
from memoranda.surfaces.http.routes import PREFIX

PLAIN: Final = "text/plain; charset=utf-8"
Mounts = Callable[[Door], AbstractAsyncContextManager[Sequence[BaseRoute]]]
"""Further routes beside /v1, with the same service and limits, as long as they are served."""


@asynccontextmanager
async def no_mounts(_door: Door) -> AsyncIterator[Sequence[BaseRoute]]:
    """Nothing beside /v1."""
    yield ()


class HttpServer:
    """One open database behind HTTP; an ASGI application with its lifespan."""

    def __init__(
        self,
        database: Callable[[], Database],
        *,
        app_of: AppOf = no_app,
        local: LocalPrincipal | None = None,
        limits: DoorLimits | None = None,
        per_minute: int | None = None,
        mounts: Mounts = no_mounts,
    ) -> None:
        """`database` connects, in the loop that serves."""
        self._database = database
        self._app_of = app_of
        self._local = local
        self._limits = limits or DoorLimits()
        self._per_minute = {} if per_minute is None else {"per_minute": per_minute}
        self._mounts = mounts
        self.metrics = Metrics()
        self.door: Door | None = None
        self.stopping = asyncio.Event()

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Open the database; at the end finish what is under way, sign checkpoints, and close."""
        async with self._database() as database:
            service = Service(database, app_of=self._app_of, local=self._local, **self._per_minute)
            self.door = Door(service, self._limits, self.metrics, self.stopping)
            async with self._mounts(self.door) as routes:
                app.router.routes[:0] = routes
                yield
            self.door = None

    def application(self) -> Starlette:
        """The application."""
        return Starlette(
            routes=[Mount("/", app=self._beside)],
            middleware=[Middleware(_DoorFirst, server=self)],
            lifespan=self._lifespan,
        )

    def stop(self) -> None:
        """End streams of events: the server wants to stop."""
        self.stopping.set()

    # ------------------------------------------------------------------------- beside /v1

    async def _beside(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        try:
            answer = await self._answer(scope)
        except MemorandaError as error:
            answer = problem_answer(problem_of(error))
        await answer.send(send)

    async def _answer(self, scope: Scope) -> HttpAnswer:
        headers = Headers(scope=scope)
        check_place(headers, self._limits.hosts)
        path = scope["path"]
        known = {"/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"}
        if path not in known:
            raise RouteNotFound
        if scope["method"] not in ("GET", "HEAD"):
            raise MethodRefused("GET, HEAD")
        match path:
            case "/healthz":
                return HttpAnswer(200, b"ok\n", PLAIN)
            case "/readyz":
                return await self._readiness()
            case "/openapi.json":
                return HttpAnswer(200, openapi_bytes())
            case "/docs":
                return HttpAnswer(200, reference_page(), HTML, {"content-security-policy": CSP})
            case _:
                return await self._counted(headers)

    async def _readiness(self) -> HttpAnswer:
        """Whether the database answers; why it does not, is not said here."""
        door = self.door
        try:
            if door is None or self.stopping.is_set():
                return HttpAnswer(503, b"stopping\n", PLAIN)
            await door.service.check_ready()
        except MemorandaError:
            return HttpAnswer(503, b"unavailable\n", PLAIN)
        return HttpAnswer(200, b"ready\n", PLAIN)

    async def _counted(self, headers: Headers) -> HttpAnswer:
        if self.door is None:
            raise RouteNotFound
        principal = await principal_in(self.door.service, headers)
        principal.check_right("metrics", "maintain")
        return HttpAnswer(200, self.metrics.text(), TEXT)


class _DoorFirst:
    """Hands /v1 to the door before anybody looks at the path: an id may have any character."""

    def __init__(self, app: ASGIApp, server: HttpServer) -> None:
        self._app = app
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = self._server.door
        is_for_it = scope["type"] == "http" and scope["path"].startswith(f"{PREFIX}/")
        await (door if is_for_it and door is not None else self._app)(scope, receive, send)


CSP: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"


@cache
def openapi_bytes() -> bytes:
    """The OpenAPI document."""
    return json_bytes(document())
