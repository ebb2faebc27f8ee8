"""The door: a request is let in, its operation is called, and what came of it is sent.

1. the host is ours, and no page of another origin asks
2. there is room: at most so many requests are under way at once
3. somebody asks: a key, or nobody else can reach the server
4. the operation follows from method and path
5. its members follow from path, query, body and headers, which come in time
6. it is called, for at most so long; a write under way lands whole or not at all
7. its result, or the problem, is sent

Whatever goes wrong is a problem document (RFC 9457); a bug says nothing of itself but in the log.
"""

import asyncio
import logging
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Collection,
    Iterator,
    Mapping,
)
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from memoranda.app.surfaces import Operation, Principal, Service, continued
from memoranda.errors import (
    HostRefused,
    KeyRefused,
    Overloaded,
    RecordNotFound,
    RequestTimedOut,
)
from memoranda.surfaces.errors import BUG, problem_of
from memoranda.surfaces.http.messages import (
    EVENTS,
    NDJSON,
    HttpAnswer,
    json_bytes,
    members_of,
    problem_answer,
    started,
)
from memoranda.surfaces.http.metrics import Metrics
from memoranda.surfaces.http.routes import Routes

log = logging.getLogger("memoranda.http")

TIME_LIMIT_S: Final = 10.0
LONGEST_BODY_S: Final = 60.0
"""How long the body of an import may take to come."""
AT_ONCE: Final = 100
HEARTBEAT_S: Final = 15.0
"""How often a stream of events says that it is still there."""
PORTION: Final = 16 * 1024
"""So many bytes of lines are sent at once."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
_SLOW: Final = frozenset({"verify", "maintain.reindex", "maintain.embed", "maintain.scrub",
                          "govern.record_audit", "journal.import_objects",
                          "turns.take"})  # fmt: skip
"""What walks everything, or asks a model, takes as long as it takes."""


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """How much a server takes on."""

    at_once: int = AT_ONCE
    """Requests under way; more are told to come again (429)."""
    time_limit_s: float = TIME_LIMIT_S
    """How long a request may take; what walks the whole journal may take longer."""
    hosts: Collection[str] | None = None
    """The hosts that it answers to, without ports; None for all."""


@dataclass(slots=True)
class Door:
    """What lies behind /v1; an ASGI application."""

    service: Service
    limits: DoorLimits
    metrics: Metrics
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server stops: streams of events end."""
    under_way: int = 0
    routes: Routes = field(init=False)

    def __post_init__(self) -> None:
        self.routes = Routes(self.service.operations.values())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        began, name = perf_counter(), "none"
        status = BUG.status
        try:
            headers = Headers(scope=scope)
            check_place(headers, self.limits.hosts)  # 1.
            with self.room():  # 2.
                principal = await principal_in(self.service, headers)  # 3.
                operation, in_path = self.routes.find(scope["method"], scope["raw_path"])  # 4.
                name = operation.name
                async with self._within(operation, LONGEST_BODY_S):
                    members = await members_of(operation, in_path, scope, receive)  # 5.
                if operation.stream is None:
                    answer = await self._answer(principal, operation, members, headers)  # 6.
            if operation.stream is None:
                status = answer.status
                await answer.send(send)  # 7. whoever reads slowly takes no room
                return
            status = 200
            await self._stream(principal, operation, members, headers, receive, send)
        except (ConnectionResetError, asyncio.CancelledError):
            raise
        except BaseException as error:
            if not isinstance(error, Exception):
                raise
            problem = problem_of(error)
            if problem is BUG:
                log.exception("a request for %s failed", name)
            status = problem.status
            await problem_answer(problem).send(send)
        finally:
            self.metrics.note(name, status, perf_counter() - began)

    @contextmanager
    def room(self) -> Iterator[None]:
        """Room for a request; Overloaded where there is none."""
        if self.under_way >= self.limits.at_once:
            raise Overloaded(1)
        self.under_way += 1
        self.metrics.under_way.set(self.under_way)
        try:
            yield
        finally:
            self.under_way -= 1
            self.metrics.under_way.set(self.under_way)

    @asynccontextmanager
    async def _within(self, operation: Operation, longest: float | None) -> AsyncIterator[None]:
        """As long as a request may take; what is slow by its nature may take the longest."""
        limit = longest if operation.name in _SLOW else self.limits.time_limit_s
        try:
            async with asyncio.timeout(limit):
                yield
        except TimeoutError:
            raise RequestTimedOut(limit or 0) from None

    async def _answer(
        self,
        principal: Principal,
        operation: Operation,
        members: Mapping[str, Any],
        headers: Headers,
    ) -> HttpAnswer:
        async with self._within(operation, None):
            with continued(headers):
                result = await self.service.call(principal, operation, members)
        if result is None and operation.finds:
            raise RecordNotFound(str(members.get("id", members.get("seq", ""))))
        if operation.answers is type(None):
            return HttpAnswer(204)
        version = getattr(result, "version", None)
        tagged = {"etag": f'"{version}"'} if isinstance(version, int) else {}
        if operation.reads_only and tagged and headers.get("if-none-match") == tagged["etag"]:
            return HttpAnswer(304, headers=tagged)
        return HttpAnswer(200, json_bytes(result), headers=tagged)

    # ------------------------------------------------------------------------- streams

    async def _stream(
        self,
        principal: Principal,
        operation: Operation,
        members: Mapping[str, Any],
        headers: Headers,
        receive: Receive,
        send: Send,
    ) -> None:
        """Send what comes, one by one; the first is awaited, so that a refusal is a problem."""
        given = dict(members)
        last = headers.get("last-event-id", "")
        if operation.stream == "events" and last.isdecimal() and "after" not in given:
            given["after"] = int(last)
        stream: AsyncGenerator[Any, None] = await self.service.call(principal, operation, given)
        async with aclosing(stream):
            gone = asyncio.create_task(_gone(receive))
            try:
                if operation.stream == "events":
                    await send(started(200, {"content-type": EVENTS}))
                    await self._send_events(stream, gone, send)
                else:
                    write = bytes if operation.stream == "lines" else json_bytes
                    await self._send_lines(stream, write, gone, send)
            finally:
                gone.cancel()

    async def _send_lines(
        self,
        stream: AsyncIterator[Any],
        write: Callable[[Any], bytes],
        gone: "asyncio.Task[None]",
        send: Send,
    ) -> None:
        item = await anext(stream, None)
        await send(started(200, {"content-type": NDJSON}))
        lines = bytearray()
        while item is not None and not gone.done():
            lines += write(item).rstrip(b"\n") + b"\n"
            if len(lines) >= PORTION:
                await send(_part(bytes(lines)))
                lines.clear()
                # What is read ahead and sent at once waits for nothing: nobody would learn here
                # that whoever asked has gone, nor would others have their turn.
                await asyncio.sleep(0)
            item = await anext(stream, None)
        await send({"type": "http.response.body", "body": bytes(lines)})

    async def _send_events(
        self, stream: AsyncIterator[Any], gone: "asyncio.Task[None]", send: Send
    ) -> None:
        stopping = asyncio.create_task(self.stopping.wait())
        following: asyncio.Task[Any] = asyncio.ensure_future(anext(stream))
        await send(_part(b": memoranda\n\n"))
        try:
            while True:
                done, _ = await asyncio.wait(
                    {following, gone, stopping},
                    timeout=HEARTBEAT_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if gone in done or stopping in done:
                    break
                if following in done:
                    entry = following.result()
                    text = f"id: {entry.seq}\nevent: {entry.kind}\ndata: ".encode()
                    await send(_part(text + json_bytes(entry) + b"\n\n"))
                    following = asyncio.ensure_future(anext(stream))
                else:
                    await send(_part(b": still here\n\n"))
        finally:
            for task in (stopping, following):
                task.cancel()
            await asyncio.wait({stopping, following})
        if not gone.done():
            await send({"type": "http.response.body", "body": b""})


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


async def _gone(receive: Receive) -> None:
    """Ends when whoever asked has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


# ------------------------------------------------------------------------------ who asks


def check_place(headers: Headers, hosts: Collection[str] | None) -> None:
    """Refuse with HostRefused a host that is not ours, and a page of another origin."""
    host = headers.get("host", "")
    if hosts is not None and _name(host) not in hosts:
        raise HostRefused("Host")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise HostRefused("Origin")


def _name(host: str) -> str:
    """A host without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


async def principal_in(service: Service, headers: Headers) -> Principal:
    """Whoever asks, by the key that stands in the headers."""
    authorization = headers.get("authorization")
    key = None
    if authorization is not None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise KeyRefused
    scope, actor = headers.get("memoranda-scope"), headers.get("memoranda-actor")
    return await service.principal(
        key,
        scope=None if scope is None else unquote(scope),
        actor=None if actor is None else unquote(actor),
    )
