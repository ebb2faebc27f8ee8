"""The SDK's own client, before our server: in memory, by stdio, and by HTTP on a real socket."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ElicitResult, TextContent

import memoranda
from memoranda import App
from memoranda.app.surfaces import LocalPrincipal, Principal, Service
from memoranda.kernel.access import RIGHTS
from memoranda.kernel.json import parse
from memoranda.surfaces.http.application import HttpServer
from memoranda.surfaces.http.door import LOOPBACK, DoorLimits
from memoranda.surfaces.mcp.calls import Requested
from memoranda.surfaces.mcp.mount import mcp_routes
from memoranda.surfaces.mcp.server import McpDoor

ROOT = Path(__file__).parents[3]
LEGACY, MODERN = "legacy", "2026-07-28"
MODES = (LEGACY, MODERN)
"""The handshake of 2025-11-25, and the revision without one."""
SCOPE = "shop"
AGENT, LEE = "agent:desk", "human:lee"
DESK = Principal(AGENT, SCOPE, frozenset(RIGHTS))
REFUND = {"ticket": "t2", "customer": "kim", "amount": 250}


@dataclass
class Person:
    """Whoever sits before a client, and what they say to questions."""

    says: Mapping[str, Any] | None = field(default_factory=lambda: {"confirm": True})
    """What they fill in; None for no."""
    asked: list[str] = field(default_factory=list)

    async def answer(self, context: Any, params: Any) -> ElicitResult:
        """Answer a form."""
        del context
        self.asked.append(params.message)
        if self.says is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=dict(self.says))


def talking(server: Any, mode: str, person: Person | None = None) -> Client:
    """A client that can ask this person, if there is one."""
    return Client(server, mode=mode, elicitation_callback=None if person is None else person.answer)


def said(content: Any) -> str:
    """What a content says, which is a text."""
    assert isinstance(content, TextContent)
    return content.text


def problem(answer: CallToolResult) -> dict[str, Any]:
    """The problem that a tool answered with."""
    assert answer.is_error, answer.structured_content
    assert answer.structured_content is None
    (content,) = answer.content
    found = parse(said(content))
    assert isinstance(found, dict)
    return found


def refund_app() -> App:
    """The example's shop: large refunds wait for Lee."""
    from examples.refunds.shop import authority, shop  # noqa: PLC0415

    return App(domain=shop, authority=authority)


# ------------------------------------------------------------------------------- transports


@dataclass(frozen=True)
class Desk:
    """A database with servers for whoever comes."""

    service: Service

    def server(
        self, actor: str = AGENT, rights: Any = RIGHTS, key: str | None = None, scope: str = SCOPE
    ) -> Any:
        """A server whose only client is this principal, or whoever has this key."""

        async def principal_of(_ctx: Requested) -> Principal:
            if key is not None:
                return await self.service.principal(key)
            return Principal(actor, scope, frozenset(rights))

        return McpDoor(self.service, principal_of).server()


@asynccontextmanager
async def desk(url: str, *, app_of: Callable[[str], App | None] | None = None, **more: Any) -> Any:
    """A service in this process."""
    app = refund_app()
    async with memoranda.connect(url, **more) as database:
        yield Desk(Service(database, app_of=app_of or (lambda _scope: app)))


def by_stdio(url: str, *arguments: str, folder: Path, **environment: str) -> StdioServerParameters:
    """`memoranda mcp` as a process of its own."""
    (folder / "served.py").write_text(
        "from examples.refunds.shop import authority, shop\n"
        "from memoranda import App\n"
        "app = App(domain=shop, authority=authority)\n"
    )
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "memoranda", "mcp", "-d", url, "--app", "served:app", *arguments],
        env={"PYTHONPATH": str(ROOT), **environment},
        cwd=folder,
    )


@asynccontextmanager
async def by_http(url: str, actor: str = AGENT, **options: Any) -> AsyncIterator[str]:
    """The address of a server on a real socket, with /mcp."""
    app = refund_app()
    server = HttpServer(
        lambda: memoranda.connect(url),
        app_of=lambda _scope: app,
        local=LocalPrincipal(actor, SCOPE),
        limits=DoorLimits(hosts=LOOPBACK),
        **({"mounts": mcp_routes} | options),
    )
    config = uvicorn.Config(server.application(), lifespan="on", log_config=None)
    running = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        served = asyncio.create_task(running.serve([listening]))
        while not running.started:
            assert not served.done()
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.stop()
            running.should_exit = True
            await served


@asynccontextmanager
async def with_key(address: str, key: str) -> AsyncIterator[Any]:
    """A transport that sends a key."""
    headers = {"authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers) as client,
        streamable_http_client(f"{address}/mcp", http_client=client) as streams,
    ):
        yield streams
