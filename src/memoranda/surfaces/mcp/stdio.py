"""MCP by stdio: one client, which started this process; its principal is the command's."""

from collections.abc import Mapping

from mcp.server.stdio import stdio_server

import memoranda
from memoranda import models
from memoranda.app.surfaces import AppOf, LocalPrincipal, Principal, Service
from memoranda.surfaces.mcp.calls import Requested
from memoranda.surfaces.mcp.server import McpDoor


async def serve_stdio(
    url: str,
    local: LocalPrincipal,
    *,
    key: str | None,
    said: Mapping[str, str | None],
    app_of: AppOf,
) -> None:
    """Serve until the client closes standard input.

    With a key, the principal is the key's, and is looked at again for each request: one that was
    revoked is refused, and so is another scope or actor in `said`. Without a key it is `local`, as
    long as the database never had one.
    """
    async with memoranda.connect(url, embedder=models.embedder_from_environment()) as database:
        service = Service(database, app_of=app_of, local=local)
        named = {} if key is None else said

        async def principal_of(_ctx: Requested | None = None) -> Principal:
            return await service.principal(key, **named)

        await principal_of()  # what is wrong with it is said before anything is served
        server = McpDoor(service, principal_of).server()
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
