"""``memoranda start``: a server with the console, and a line each to try it with."""

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

import memoranda
from memoranda.app.surfaces import RIGHTS, AppOf, file_of, no_app, parse_url
from memoranda.errors import DependencyMissing
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import opt, wrong_use
from memoranda.surfaces.cli.present import print_line
from memoranda.surfaces.cli.serve import mounted
from memoranda.surfaces.cli.target import Target

_QUESTION: Final = (
    "The database is empty. Tell it the demo story (two weeks of an agent that handles refunds), "
    "so that every page shows something?"
)
_ASKED: Final = "how does Kim prefer to be paid back?"
_PERSON: Final = "human:lee"
"""Whoever uses the console: in the sample, the one who may approve."""


@command("start", common=("database",))
def start(
    target: Target,
    host: Annotated[str, opt("The address; one that others reach needs a key.")] = "127.0.0.1",
    port: Annotated[int, opt("The port; 0 is any that is free.", min=0, max=65535)] = 8300,
    demo: Annotated[
        bool | None, opt("Tell an empty database the demo story; else it asks.", "--demo/--no-demo")
    ] = None,
) -> None:
    """Serve a database with the web console, and say how to try it.

    An address that others can reach gets a key for human:lee, with every right, unless there are
    keys; it is shown once. Ctrl-C ends it.
    """
    try:
        from memoranda.surfaces.http.server import (  # noqa: PLC0415 - an extra
            ServeOptions,
            is_loopback,
            serve,
        )
    except ModuleNotFoundError as missing:
        raise DependencyMissing(str(missing.name), "server") from missing
    is_told = asyncio.run(_prepared(target.url, demo))
    scope = _sample_scope() if is_told else target.scope_name
    key = None if is_loopback(host) else asyncio.run(_made_key(target.url, scope))
    options = ServeOptions(
        url=target.url,
        host=host,
        port=port,
        scope=scope,
        actor=_PERSON,
        mounts=partial(mounted, stateless=False),
        app_of=_sample_app if is_told else _no_app,
    )
    try:
        is_well = serve(options, lambda address: _say(address, scope, key))
    except KeyboardInterrupt:  # it has ended well: the signal is only raised once more
        is_well = True
    except OSError as refused:
        why = f"Can't listen on {host}:{port}: {refused.strerror}. Name another port: --port 0."
        raise wrong_use(why) from None
    if not is_well:
        raise wrong_use("The server could not start; the reason stands above.")


def _sample_scope() -> str:
    from memoranda.surfaces.sample import SCOPE  # noqa: PLC0415 - it loads a domain

    return SCOPE


def _sample_app() -> AppOf:
    from memoranda.surfaces.sample import app_of  # noqa: PLC0415 - likewise

    return app_of


def _no_app() -> AppOf:
    return no_app


async def _prepared(url: str, demo: bool | None) -> bool:
    """Make the database, and tell it the story if somebody wants it; whether it has been told."""
    from memoranda.surfaces import sample  # noqa: PLC0415 - likewise

    async with memoranda.connect(url) as database:
        scopes = await database.scopes()
    if scopes:
        return {sample.SCOPE, sample.FORGED_SCOPE} <= set(scopes)
    if demo is None:
        is_asked = sys.stdin.isatty() and sys.stdout.isatty()
        demo = is_asked and typer.confirm(_QUESTION, default=True)
    if not demo:
        return False
    await sample.tell(url)
    if parse_url(url).kind == "sqlite" and (file := file_of(url)) is not None:
        sample.forge(Path(file))
    return True


async def _made_key(url: str, scope: str) -> str | None:
    """A key for whoever starts the server, where nobody has one yet."""
    async with memoranda.connect(url) as database:
        if await database.keys.list():
            return None
        made = await database.keys.create(
            scope=scope, actor=_PERSON, rights=RIGHTS, name="memoranda start"
        )
    return made.key


def _say(address: str, scope: str, key: str | None) -> None:
    """The address, the key if one was made, and a line each to try."""
    address = address.replace("//0.0.0.0", "//127.0.0.1").replace("//[::]", "//[::1]")
    header = given = with_key = ""
    shown = []
    if key is not None:
        header, given = f"-H 'authorization: Bearer {key}' ", f', key="{key}"'
        with_key = f', "headers": {{"Authorization": "Bearer {key}"}}'
        shown = [f"  with the key   {key}  (it can't be shown again)"]
    opened = f'memoranda.open_sync("{address}", scope="{scope}"{given})'
    asked = f'{{"query": "{_ASKED}", "topK": 3}}'
    as_json = "-H 'content-type: application/json'"
    recalls = f'print(memory.recall("{_ASKED}", top_k=3).framed)'
    served = f'"url": "{address}/mcp"{with_key}'
    lines = [
        f"memoranda serves {address}",
        "",
        f"  in a browser   {address}/",
        *shown,
        f"  from a shell   curl -s {address}/v1/recall {header}{as_json} -d '{asked}'",
        f"  from Python    with {opened} as memory: {recalls}",
        f'  from MCP       {{"mcpServers": {{"memoranda": {{{served}}}}}}}',
        "",
        "Ctrl-C ends it.",
    ]
    print_line("\n".join(lines))
