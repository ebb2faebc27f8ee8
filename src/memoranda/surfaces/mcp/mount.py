"""/mcp as a server mounts it: the SDK is loaded when somebody first comes.

Loading it takes as long as everything else that a server does until it answers.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memoranda.surfaces.http.door import Door

PATH: Final = "/mcp"


@asynccontextmanager
async def mcp_routes(door: Door, *, stateless: bool = False) -> AsyncIterator[Sequence[BaseRoute]]:
    """The route of /mcp, as long as it is served.

    Revision 2026-07-28 has no sessions. Clients of earlier ones have, so that a person can be
    asked; `stateless` does without, for several processes behind one address.
    """
    mount = _McpMount(door, stateless=stateless)
    try:
        yield [Route(PATH, mount)]
    finally:
        await mount.close()


class _McpMount:
    """An ASGI application that is made when it is first asked."""

    def __init__(self, door: Door, *, stateless: bool) -> None:
        self._door = door
        self._stateless = stateless
        self._made: asyncio.Future[ASGIApp] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._is_over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._made is None:
            loop = asyncio.get_running_loop()
            self._made = loop.create_future()
            self._keeper = loop.create_task(self._keep(self._made))
        application = await asyncio.shield(self._made)
        await application(scope, receive, send)

    async def _keep(self, made: "asyncio.Future[ASGIApp]") -> None:
        """Serve until the server stops; what the SDK begins, it ends in the same task."""
        try:
            served = await asyncio.to_thread(_loaded)
            async with served(self._door, stateless=self._stateless) as application:
                made.set_result(application)
                await self._is_over.wait()
        except BaseException as failed:
            if not made.done():
                made.set_exception(failed)
            raise

    async def close(self) -> None:
        """End what was begun."""
        self._is_over.set()
        if self._keeper is not None:
            await asyncio.wait({self._keeper})


def _loaded() -> Callable[..., AbstractAsyncContextManager[ASGIApp]]:
    from memoranda.surfaces.mcp.http import mcp_application  # noqa: PLC0415 - see above

    return mcp_application
