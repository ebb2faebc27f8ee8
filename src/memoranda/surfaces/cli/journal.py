"""``memoranda journal``: entries, proofs and originals; ``memoranda export`` and ``import``."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import orjson
import typer

from memoranda.app.audit import export_memory_log, export_memory_objects, export_scope
from memoranda.app.database import open
from memoranda.app.journal import ExportKind, JournalEntry
from memoranda.app.memory import Memory
from memoranda.app.url import file_of
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.audit.proving import EntryProof
from memoranda.journeys.govern.importing import ImportReport
from memoranda.journeys.recall.originals import Original
from memoranda.kernel.errors import RecordNotFound, ScopeNotFound
from memoranda.kernel.json import JsonValue
from memoranda.stores.sqlite.private import MEMORY
from memoranda.surfaces.cli.command import OF_A_SCOPE, command
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.help import arg, opt
from memoranda.surfaces.cli.memories import entry_cells
from memoranda.surfaces.cli.options import File, Id
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import counted, print_json_line, print_line
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.whole_file import whole_file

Entry = Annotated[int, arg("ENTRY", "The number of the entry.")]


@command(reads=True, nothing="There are no such entries.")
async def entries(
    memory: Memory[Any],
    start: Annotated[int, arg("START", "The first entry.")] = 0,
    limit: Annotated[int | None, opt("At most so many; else all.")] = None,
) -> Sequence[JournalEntry]:
    """List the entries of the journal: what was written, by whom and when."""
    return await memory.journal.entries(start, limit=limit)


@command(reads=True)
async def tail(
    memory: Memory[Any],
    json: bool,
    after: Annotated[
        int | None, opt("Begin after this entry; else with the next.", metavar="ENTRY")
    ] = None,
) -> None:
    """Print entries as they are written, a line each, until it is interrupted."""
    async with aclosing(memory.journal.tail(after)) as found:
        async for one in found:
            if json:
                print_json_line(one)
            else:
                print_line("  ".join(entry_cells(one)))


@command(reads=True)
async def proof(memory: Memory[Any], seq: Entry) -> EntryProof:
    """Prove that an entry stands where it says, under the journal's root as it is now."""
    found = await memory.journal.proof(seq)
    if found is None:
        raise RecordNotFound(f"entry {seq}")
    return found


@command(reads=True)
async def original(
    memory: Memory[Any],
    ref: Annotated[str, arg("REF", "The reference of a recall: an address, or a world.")],
) -> Original[Any]:
    """Load what a reference leads to, and verify it: only the original is what was."""
    return await memory.journal.original(ref)


@command("object", reads=True)
async def object_(
    memory: Memory[Any],
    id: Id,
    version: Annotated[int | None, opt("Which version; else the newest.")] = None,
) -> dict[str, JsonValue]:
    """Print a version as a MemoryObject of seed 003, with its integrity hash, as JSON."""
    return await memory.journal.object(id, version=version)


# ------------------------------------------------------------------------------- exports


@command(common=OF_A_SCOPE[:2])
def export(
    place: Place,
    json: bool,
    kind: Annotated[
        ExportKind, opt("The journal, its MemoryLog, or its MemoryObjects.")
    ] = "journal",
    output: Annotated[
        Path | None, opt("Write this file; else standard output.", "--output", "-o")
    ] = None,
    replace: Annotated[bool, opt("Replace FILE, if it is there.", "--replace")] = False,
) -> None:
    """Export a scope as NDJSON, for memoranda-verify and for others.

    The journal comes with its checkpoint, the log as exactly the events of the seed, and objects,
    every version of each, as 'memoranda import' reads them. A file is written whole or not at all.
    What was done is told on standard error.
    """
    if output is not None:
        _refuse_database(output, place.url)
    name = place.scope_name
    with bars() as progress:
        tell = progress(name)
        lines = {
            "journal": lambda: export_scope(
                place.url, name, signers=place.seal().signers, progress=tell
            ),
            "log": lambda: export_memory_log(place.url, name, progress=tell),
            "objects": lambda: export_memory_objects(place.url, name, progress=tell),
        }[kind]()
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


# ---------------------------------------------------------------- what others exported


@command("import")
def import_(
    place: Place,
    file: File,
    log: Annotated[
        typer.FileBinaryRead | None,
        opt("Their MemoryLog, which is compared with them.", metavar="FILE"),
    ] = None,
    lenient: Annotated[bool, opt("Take what can be taken, and name every other line.")] = False,
    dry_run: Annotated[bool, opt("Only say what would come in.")] = False,
) -> ImportReport:
    """Bring MemoryObjects as NDJSON into a scope: all of a file, or nothing. They are untrusted.

    What they say is kept; versions and hashes are made anew, and the journal says who imported
    them, and when.
    """
    lines, events = file.read(), None if log is None else log.read()

    async def act(memory: Memory[Any]) -> ImportReport:
        return await memory.journal.import_objects(
            lines, log=events, lenient=lenient, dry_run=dry_run
        )

    if not dry_run:
        return place.run(act, makes=True)
    database = file_of(place.url)
    if database is None or Path(database).exists():
        with suppress(ScopeNotFound):
            return place.run(act, reads=True)

    async def in_memory() -> ImportReport:
        """Nothing is made: for a scope that is not there, in memory."""
        empty = open(
            f"sqlite://{MEMORY}", scope=place.scope_name, actor=place.actor_name, seal=Seal()
        )
        async with empty as memory:
            return await act(memory)

    return asyncio.run(in_memory())
