"""``memoranda serve``, ``mcp`` and ``keys``: servers, and who may come to their doors."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

import memoranda
from memoranda import App
from memoranda.app.surfaces import RIGHTS, AppOf, LocalPrincipal, no_app, parse_url
from memoranda.errors import DependencyMissing
from memoranda.surfaces.cli.command import OF_A_SCOPE, command
from memoranda.surfaces.cli.database import signer
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import UNTIL
from memoranda.surfaces.cli.present import Output, details, print_line, shows, table, when
from memoranda.surfaces.cli.target import ACTOR, Target, found_by
from memoranda.types import AccessKey

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from memoranda.surfaces.http.door import Door

_KEY: Final = "MEMORANDA_API_KEY"
_CLIENT: Final = "agent:mcp"
"""Who an MCP client is where nobody says: what it writes is no person's word."""

# ---------------------------------------------------------------------------------- serve


@command("serve", common=OF_A_SCOPE)
def serve(
    target: Target,
    host: Annotated[str, opt("The address; one that others reach needs keys.")] = "127.0.0.1",
    port: Annotated[int, opt("The port; 0 is any that is free.", min=0, max=65535)] = 8300,
    workers: Annotated[
        int, opt("How many processes; more than one needs PostgreSQL.", min=1, max=64)
    ] = 1,
    app: Annotated[
        str | None,
        opt("An App, or a function from a scope to one.", metavar="MODULE:NAME"),
    ] = None,
    allow_host: Annotated[
        list[str] | None, opt("A name that it is called by; may be repeated.", metavar="NAME")
    ] = None,
    at_once: Annotated[int, opt("How many requests at once; more get 429.", min=1)] = 100,
    time_limit: Annotated[float, opt("How many seconds a request may take.", min=0.1)] = 10.0,
    per_minute: Annotated[
        int | None, opt("How many requests a key may make in a minute.", min=1)
    ] = None,
) -> None:
    """Serve a database over HTTP.

    On this machine's own address nobody needs a key until one is made: --scope and --actor say who
    that is. Ctrl-C finishes what is under way, and signs a checkpoint.
    """
    try:
        from memoranda.surfaces.http.server import (  # noqa: PLC0415 - an extra
            ServeOptions,
            is_loopback,
        )
        from memoranda.surfaces.http.server import serve as run  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise DependencyMissing(str(missing.name), "server") from missing
    if workers > 1 and parse_url(target.url).kind != "postgresql":
        raise wrong_use("A SQLite file has one server process: several need PostgreSQL.")
    if not is_loopback(host) and not asyncio.run(_has_keys(target.url)):
        raise wrong_use(
            f"Others can reach {host}, and the database has no keys: memoranda keys create."
        )
    if app is not None:
        _app_of(app)  # what is wrong with it is said before anything is served
    options = ServeOptions(
        url=target.url,
        host=host,
        port=port,
        workers=workers,
        scope=target.scope_name,
        actor=target.actor_name,
        hosts=tuple(allow_host or ()),
        at_once=at_once,
        time_limit_s=time_limit,
        per_minute=per_minute,
        app_of=_no_app if app is None else partial(_app_of, app),
        mounts=partial(mounted, stateless=workers > 1),
    )
    try:
        is_well = run(options, lambda address: print_line(f"memoranda serves {address}"))
    except OSError as refused:
        raise wrong_use(f"Can't listen on {host}:{port}: {refused.strerror}.") from None
    if not is_well:
        raise wrong_use("The server could not start; the reason stands above.")


async def _has_keys(url: str) -> bool:
    async with memoranda.connect(url) as database:
        return bool(await database.keys.list())


@asynccontextmanager
async def mounted(door: "Door", *, stateless: bool) -> AsyncIterator[Sequence["BaseRoute"]]:
    """The console, and MCP at /mcp where it is installed; several processes share no sessions."""
    from memoranda.surfaces.console.routes import console_routes  # noqa: PLC0415 - with the server

    async with AsyncExitStack() as stack:
        routes = list(await stack.enter_async_context(console_routes(door)))
        if find_spec("mcp") is not None:  # an extra
            from memoranda.surfaces.mcp.mount import mcp_routes  # noqa: PLC0415 - with the server

            routes += await stack.enter_async_context(mcp_routes(door, stateless=stateless))
        yield routes


def _no_app() -> AppOf:
    return no_app


def _app_of(name: str) -> AppOf:
    """What scopes run: the same for all, by name, or as a function says."""
    found = found_by("--app", name)
    if isinstance(found, App):
        return lambda _scope: found
    if isinstance(found, Mapping):
        return found.get
    if callable(found):
        return found  # type: ignore[no-any-return]
    raise wrong_use(f"--app: {name} is neither an App, nor a mapping or a function to Apps.")


# ------------------------------------------------------------------------------------ mcp


@command("mcp", common=OF_A_SCOPE)
def mcp(
    target: Target,
    key: Annotated[
        str | None, opt("A key; else MEMORANDA_API_KEY. Its scope and actor are the client's.")
    ] = None,
    app: Annotated[
        str | None,
        opt("An App, or a function from a scope to one.", metavar="MODULE:NAME"),
    ] = None,
) -> None:
    """Serve one MCP client by stdio: tools, resources and prompts.

    The client starts it, and asks for nothing but what --scope and --actor, or the key, allow.
    Without --actor and without a key the client is agent:mcp. Over HTTP the same is served by
    memoranda serve, at /mcp.
    """
    try:
        from memoranda.surfaces.mcp.stdio import serve_stdio  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as missing:
        raise DependencyMissing(str(missing.name), "mcp") from missing
    asyncio.run(
        serve_stdio(
            target.url,
            LocalPrincipal(target.actor or os.environ.get(ACTOR) or _CLIENT, target.scope_name),
            key=key or os.environ.get(_KEY),
            said={"scope": target.scope, "actor": target.actor},
            app_of=no_app if app is None else _app_of(app),
        )
    )


# ----------------------------------------------------------------------------------- keys


def _table(keys: Sequence[AccessKey]) -> RenderableType:
    rows = [
        [key.id, key.scope, key.actor, ", ".join(key.rights), key.name, when(key.expires_at),
         when(key.revoked_at)]
        for key in keys
    ]  # fmt: skip
    return table("key, scope, actor, rights+, name, expires, revoked", rows)


@shows(AccessKey, table=_table)
def _key(key: AccessKey) -> RenderableType:
    return details(
        [
            ("key", key.id),
            ("scope", key.scope),
            ("actor", key.actor),
            ("rights", ", ".join(key.rights)),
            ("trust", key.trust),
            ("name", key.name or None),
            ("expires", when(key.expires_at)),
            ("revoked", when(key.revoked_at)),
            ("per minute", key.per_minute),
        ]
    )


@command(common=("database",))
def create(
    target: Target,
    scope: Annotated[str, opt("The scope that it opens.", "--scope", "-s", metavar="NAME")],
    actor: Annotated[str, opt("Who comes with it.", metavar="KIND:ID")],
    right: Annotated[
        list[str], opt(f"What it may: {', '.join(RIGHTS)}; may be repeated.", metavar="RIGHT")
    ],
    expires: Annotated[
        int | None, opt("From when it is refused, as 2026-12-31.", metavar="TIME"), UNTIL
    ] = None,
    untrusted: Annotated[
        bool, opt("What is written with it is untrusted, until somebody approves it.")
    ] = False,
    per_minute: Annotated[int | None, opt("How many requests in a minute.", min=1)] = None,
    name: Annotated[str, opt("What people call it.")] = "",
) -> Output:
    """Make a key that opens a server's doors. It is shown once, and only its digest is kept."""

    async def made() -> Any:
        async with memoranda.connect(target.url) as database:
            return await database.keys.create(
                scope=scope,
                actor=actor,
                rights=right,
                trust="untrusted" if untrusted else "unreviewed",
                expires=expires,
                per_minute=per_minute,
                name=name,
            )

    new = asyncio.run(made())
    words = Group(
        Text(new.key), Text(), _key(new.made), Text("\nIt can't be shown again: keep it now.")
    )
    return Output(new, words)


@command("list", common=("database",), nothing="There are no keys.")
def list_keys(target: Target) -> Sequence[AccessKey]:
    """List every key that was ever made; of none of them the key itself."""

    async def listed() -> Sequence[AccessKey]:
        async with memoranda.connect(target.url, create=False) as database:
            return await database.keys.list()

    return asyncio.run(listed())


@command(common=("database",))
def revoke(target: Target, id: Annotated[str, arg("ID", "The id of the key.")]) -> AccessKey:
    """Let a key be good for nothing from now on; servers know within a second."""

    async def revoked() -> AccessKey:
        async with memoranda.connect(target.url, create=False) as database:
            return await database.keys.revoke(id)

    return asyncio.run(revoked())


keys = group(
    "Keys: those that open a server's doors, and those that sign checkpoints.",
    *(create, list_keys, revoke),
    signer=signer,
)
