"""MCP by streamable HTTP: /mcp, with the checks, keys and limits of every other path."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any, Final

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.app.surfaces import Principal
from memoranda.errors import KeyMissing
from memoranda.surfaces.errors import BUG, problem_of
from memoranda.surfaces.http.door import Door, check_place, principal_in
from memoranda.surfaces.http.messages import MAX_BODY, SAFE, problem_answer
from memoranda.surfaces.mcp.calls import Requested
from memoranda.surfaces.mcp.server import McpDoor

log = logging.getLogger("memoranda.mcp")

MOST_SESSIONS: Final = 1_000
IDLE_S: Final = 15 * 60
_PRINCIPAL: Final = "memoranda.principal"


@asynccontextmanager
async def mcp_application(door: Door, *, stateless: bool) -> AsyncIterator[ASGIApp]:
    """What answers at /mcp, as long as it is served."""
    server = McpDoor(door.service, _principal_of, door.limits.time_limit_s).server()
    manager = StreamableHTTPSessionManager(
        server,
        stateless=stateless,
        max_request_body_size=MAX_BODY,
        session_idle_timeout=IDLE_S,
        max_sessions=MOST_SESSIONS,
    )
    async with manager.run():
        yield _McpPath(door, manager)


async def _principal_of(ctx: Requested) -> Principal:
    found = None if ctx.request is None else ctx.request.scope.get(_PRINCIPAL)
    if not isinstance(found, Principal):
        raise KeyMissing
    return found


class _McpPath:
    """An ASGI application that lets requests in, and hands them to the SDK."""

    def __init__(self, door: Door, manager: StreamableHTTPSessionManager) -> None:
        self._door = door
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status, is_open = perf_counter(), BUG.status, False

        async def noted(message: Message) -> None:
            nonlocal status, is_open
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _with_safe(message["headers"])}
            is_open = message.get("more_body", message["type"] == "http.response.start")
            await send(message)

        try:
            headers = Headers(scope=scope)
            check_place(headers, self._door.limits.hosts)
            with self._door.room():
                principal = await principal_in(self._door.service, headers)
                known = {**scope, _PRINCIPAL: principal, "user": _user(principal)}
                if scope["method"] != "GET":
                    await self._manager.handle_request(known, receive, noted)
                    return
            await self._stream(known, receive, noted)  # it takes no room
            if is_open:  # the server stops
                await send({"type": "http.response.body"})
        except Exception as error:
            problem = problem_of(error)
            if problem is BUG:
                log.exception("a request for %s failed", scope["path"])
            status = problem.status
            await problem_answer(problem).send(send)
        finally:
            self._door.metrics.note("mcp", status, perf_counter() - began)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream that stays open, until the client goes or the server stops."""
        streamed = asyncio.create_task(self._manager.handle_request(scope, receive, send))
        stopping = asyncio.create_task(self._door.stopping.wait())
        tasks = {streamed, stopping}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        if not streamed.cancelled():
            await streamed


def _user(principal: Principal) -> AuthenticatedUser:
    """By this the SDK keeps a session to whoever began it."""
    who = f"{principal.scope}\n{principal.actor}"
    return AuthenticatedUser(
        AccessToken(token="", client_id=principal.key_id or "none", scopes=[], subject=who)
    )


def _with_safe(headers: Any) -> list[tuple[bytes, bytes]]:
    known = {name.lower() for name, _ in headers}
    safe = [(name.encode(), value.encode()) for name, value in SAFE.items()]
    return [*headers, *(pair for pair in safe if pair[0] not in known)]
