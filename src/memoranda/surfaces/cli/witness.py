"""``memoranda witness``: the server that keeps others' checkpoints append-only."""

import asyncio
from pathlib import Path
from typing import Annotated

from memoranda.app.surfaces import KEY_FILE, opened_witness
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import opt
from memoranda.surfaces.cli.present import print_json_line, print_line
from memoranda.surfaces.witness import LOOPBACK, serving


@command()
def witness(
    json: bool,
    logs: Annotated[Path, opt("The logs that it knows: an origin and a public key, a line each.")],
    key_file: Annotated[
        Path, opt("The file of its private key.", "--key-file", metavar="FILE", envvar=KEY_FILE)
    ],
    memory: Annotated[Path, opt("What it remembers: a file of its own, made where it is not.")],
    host: Annotated[str, opt("The address to listen at.")] = LOOPBACK,
    port: Annotated[int, opt("The port to listen at; 0 is any.", min=0, max=65_535)] = 8450,
) -> None:
    """Keep the checkpoints of others append-only, over HTTP.

    It cosigns a checkpoint (C2SP tlog-witness) only if that extends the one that it cosigned
    before. It serves until it is interrupted. Run it where the owners of the logs have no access.
    """

    async def served() -> None:
        with opened_witness(logs=logs, key_file=key_file, memory=memory) as opened:
            async with serving(opened, host=host, port=port) as (url, ended):
                keys = [f"{one.name}+{one.key_id.hex()}" for one in opened.cosigners]
                if json:
                    print_json_line({"url": url, "keys": keys})
                else:
                    print_line(f"{', '.join(keys)} is a witness at {url}")
                await ended

    asyncio.run(served())
