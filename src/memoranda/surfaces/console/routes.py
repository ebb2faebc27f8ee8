"""The routes of the console: a request is let in, its page is made, and it is sent.

1. the host is ours, and no page of another origin asks
2. there is room
3. somebody is logged in: a key in a cookie that scripts and other sites don't get, or nobody else
   can reach the server
4. a form comes from a page of this server: browsers send the origin with every form
5. the page is made; what is refused is shown as a page, too
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final
from urllib.parse import unquote

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from memoranda.app.surfaces import Principal
from memoranda.errors import (
    EntryDamaged,
    HostRefused,
    KeyMissing,
    KeyRefused,
    MethodRefused,
)
from memoranda.surfaces.console.pages import (
    erasure,
    inbox,
    journal,
    memories,
    overview,
    people,
    recalls,
    session,
    turns,
    worlds,
)
from memoranda.surfaces.console.shown import STATIC, static_file
from memoranda.surfaces.console.streams import ConsoleStream
from memoranda.surfaces.console.view import KEY_COOKIE, SCOPE_COOKIE, Console, View, redirect
from memoranda.surfaces.errors import BUG, problem_of
from memoranda.surfaces.http.door import Door, check_place
from memoranda.surfaces.http.messages import HttpAnswer

log = logging.getLogger("memoranda.console")

Answer = HttpAnswer | ConsoleStream
Page = Callable[[View], Awaitable[Answer]]

PAGES: Final[Mapping[str, Mapping[str, Page]]] = {
    "/": {"GET": overview.show},
    "/verification": {"POST": overview.verify},
    "/memories": {"GET": memories.show, "POST": memories.remember},
    "/memory": {"GET": memories.show_one},
    "/memory/change": {"POST": memories.change},
    "/recalls": {"GET": recalls.show, "POST": recalls.ask},
    "/recall": {"GET": recalls.show_one},
    "/original": {"GET": recalls.show_original},
    "/worlds": {"GET": worlds.show},
    "/world": {"GET": worlds.show_one},
    "/world/replay": {"POST": worlds.replay},
    "/inbox": {"GET": inbox.show},
    "/proposal": {"GET": inbox.show_one, "POST": inbox.decide},
    "/turns": {"GET": turns.show},
    "/turn": {"GET": turns.show_one},
    "/turn/replay": {"POST": turns.replay},
    "/journal": {"GET": journal.show},
    "/entry": {"GET": journal.show_one},
    "/journal/tail": {"GET": journal.tail},
    "/erasure": {"GET": erasure.show, "POST": erasure.erase},
    "/people": {"GET": people.show},
    "/person": {"GET": people.show_one},
    "/person/used": {"GET": people.show_used},
    "/person/export": {"GET": people.export},
    "/login": {"GET": session.show, "POST": session.log_in},
    "/logout": {"POST": session.log_out},
    "/scope": {"POST": session.choose_scope},
    "/language": {"POST": session.choose_language},
}
_OPEN: Final = frozenset({"/login", "/language"})
"""Pages that nobody has to be logged in for."""


@asynccontextmanager
async def console_routes(door: Door) -> AsyncIterator[Sequence[BaseRoute]]:
    """The pages, as long as they are served."""
    console = Console(door)
    statics = [Route(f"/static/{name}", _Static(door, name)) for name in STATIC]
    yield [*statics, *(Route(path, _Path(console, path)) for path in PAGES)]


class _Static:
    """A file that is the same for everybody; its address changes when it does."""

    def __init__(self, door: Door, name: str) -> None:
        self._door = door
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            check_place(request.headers, self._door.limits.hosts)
        except HostRefused as refused:
            await HttpAnswer(problem_of(refused).status).send(send)
            return
        body = static_file(self._name) if request.method in ("GET", "HEAD") else b""
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        await HttpAnswer(200 if body else 405, body, STATIC[self._name], headers).send(send)


class _Path:
    """An ASGI application: the pages of one path."""

    def __init__(self, console: Console, path: str) -> None:
        self._console = console
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = perf_counter(), BUG.status
        view = View(self._console, Request(scope, receive), None)
        door = self._console.door
        try:
            check_place(view.request.headers, door.limits.hosts)  # 1.
            with door.room():  # 2.
                answer = await self._answer(view)
                if isinstance(answer, HttpAnswer):
                    status = answer.status
                    await answer.send(send)
                    return
            status = 200
            await answer.send(door, receive, send)
        except ConnectionResetError:
            raise
        except (KeyMissing, KeyRefused):
            status = 303
            await redirect("/login").send(send)
        except Exception as error:
            problem = problem_of(error)
            if problem is BUG:
                log.exception("the page %s failed", self._path)
            status = problem.status
            entry = error.entry if isinstance(error, EntryDamaged) else None
            await view.show("problem.html", status, problem=problem, entry=entry).send(send)
        finally:
            door.metrics.note("console", status, perf_counter() - began)

    async def _answer(self, view: View) -> Answer:
        methods = PAGES[self._path]
        method = "GET" if view.request.method == "HEAD" else view.request.method
        if method not in methods:
            raise MethodRefused(", ".join(methods))
        view.given = await self._principal(view)  # 3.
        if method == "POST":
            if "origin" not in view.request.headers:  # 4. one that is there was compared above
                raise HostRefused("Origin")
            await view.read_form()
        return await methods[method](view)  # 5.

    async def _principal(self, view: View) -> Principal | None:
        key = view.request.cookies.get(KEY_COOKIE)
        scope = unquote(view.request.cookies.get(SCOPE_COOKIE, "")) or None
        try:
            return await view.console.service.principal(key, scope=None if key else scope)
        except (KeyMissing, KeyRefused):
            if self._path in _OPEN:
                return None
            raise
