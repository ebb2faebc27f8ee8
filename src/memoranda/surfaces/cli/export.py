"""``memoranda export``: a journal, its MemoryLog or its MemoryObjects, as NDJSON."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, BinaryIO

import orjson
import typer

from memoranda.app.audit import export_memory_log, export_memory_objects, export_scope
from memoranda.app.url import file_of
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import AsJson, Database, Scope
from memoranda.surfaces.cli.present import counted
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.whole_file import whole_file


def export(
    scope: Scope = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write this file; by default, standard output."
        ),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Write the MemoryLog instead of the journal.")
    ] = False,
    objects: Annotated[
        bool, typer.Option("--objects", help="Write the MemoryObjects instead of the journal.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace FILE, if it is there.")
    ] = False,
    database: Database = None,
    json: AsJson = False,
) -> None:
    """Export a scope as NDJSON, for memoranda-verify and for others.

    The journal comes with its checkpoint, the MemoryLog as exactly the events of the seed, and the
    MemoryObjects, every version of each, as `import` reads them. A file is written whole or not at
    all. What was done is told on standard error.
    """
    if log and objects:
        raise wrong_use("Name one of --log and --objects.")
    place = Place(database, scope)
    if output is not None:
        _refuse_database(output, place.url)
    with bars() as progress:
        name = place.scope_name
        if log:
            lines = export_memory_log(place.url, name, progress=progress(name))
        elif objects:
            lines = export_memory_objects(place.url, name, progress=progress(name))
        else:
            signers = place.seal().signers
            lines = export_scope(place.url, name, signers=signers, progress=progress(name))
        if output is None:
            written, size = asyncio.run(_write(lines, _standard_output()))
        else:
            with whole_file(output, replace=replace) as file:
                written, size = asyncio.run(_write(lines, file))
    told = {"scope": name, "lines": written, "bytes": size, "output": output and str(output)}
    if json:
        typer.echo(orjson.dumps(told), err=True)  # noqa: TID251 - shown, never hashed
    else:
        where = "" if output is None else f" to {output}"
        what = counted(written, "line"), counted(size, "byte")
        typer.echo(f"exported {name!r}: {what[0]}, {what[1]}{where}", err=True)


async def _write(lines: AsyncGenerator[bytes, None], out: BinaryIO) -> tuple[int, int]:
    written = size = 0
    async with aclosing(lines):
        async for line in lines:
            out.write(line)
            written += 1
            size += len(line)
    out.flush()
    return written, size


def _standard_output() -> BinaryIO:
    if sys.stdout is None:
        raise wrong_use("Standard output is closed: name a file with --output.")
    return sys.stdout.buffer


def _refuse_database(output: Path, url: str) -> None:
    """The one file that --replace must never mean."""
    file = file_of(url)
    if file is not None and output.resolve() in {
        Path(f"{Path(file).resolve()}{suffix}") for suffix in ("", "-wal", "-shm")
    }:
        raise wrong_use(f"{output} is the database itself.")
