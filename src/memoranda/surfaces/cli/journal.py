"""``memoranda journal``, and what travels: exports, imports, copies, backups."""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.console import RenderableType

import memoranda
from memoranda import Memory
from memoranda.app.surfaces import (
    MEMORY,
    ExportFormat,
    ExportKind,
    back_up_database,
    copy_scopes,
    export_scope,
    file_of,
    hidden,
    move_in,
    restore_backup,
    sync_folder,
    upgrade_schema,
)
from memoranda.errors import RecordNotFound, ScopeNotFound
from memoranda.surfaces.cli.command import OF_A_SCOPE, command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import Id
from memoranda.surfaces.cli.present import (
    Output,
    bars,
    counted,
    json_bytes,
    print_json_line,
    print_line,
    shows,
    table,
)
from memoranda.surfaces.cli.show_audits import copied, restored
from memoranda.surfaces.cli.show_records import entry_cells
from memoranda.surfaces.cli.target import Act, Target
from memoranda.types import (
    EntryProof,
    ImportReport,
    JournalEntry,
    JsonValue,
    MovedIn,
    Original,
    Seal,
    StoredCheckpoint,
)

Entry = Annotated[int, arg("ENTRY", "The number of the entry.")]


@command(read_only=True, nothing="There are no such entries.")
async def entries(
    memory: Memory[Any],
    start: Annotated[int, arg("START", "The first entry.")] = 0,
    limit: Annotated[int | None, opt("At most so many; else all.")] = None,
) -> Sequence[JournalEntry]:
    """List the entries of the journal: what was written, by whom and when."""
    return await memory.journal.entries(start, limit=limit)


def _checkpoints(found: Sequence[StoredCheckpoint]) -> RenderableType:
    rows = [
        [f"{one.size:,}", one.standing, ", ".join(one.signed_by) or None, one.root[:12]]
        for one in found
    ]
    return table("entries+, standing, signed by, root", rows)


@shows(StoredCheckpoint, table=_checkpoints)
def _checkpoint(one: StoredCheckpoint) -> RenderableType:
    return _checkpoints([one])


@command(read_only=True, nothing="There is no checkpoint yet.")
async def checkpoints(
    memory: Memory[Any], limit: Annotated[int, opt("At most so many.", min=1)] = 20
) -> Sequence[StoredCheckpoint]:
    """List the checkpoints that are kept with the journal, the newest first."""
    return await memory.journal.checkpoints(limit=limit)


@command(read_only=True)
async def tail(
    memory: Memory[Any],
    json: bool,
    after: Annotated[
        int | None, opt("Begin after this entry; else with the next.", metavar="ENTRY")
    ] = None,
) -> None:
    """Print entries as they are written, a line each, until it is interrupted."""
    async with aclosing(memory.journal.tail(after)) as found:
        async for entry in found:
            if json:
                print_json_line(entry)
            else:
                print_line("  ".join(entry_cells(entry)))


@command(read_only=True)
async def proof(memory: Memory[Any], seq: Entry) -> EntryProof:
    """Prove that an entry stands where it says, under the journal's root as it is now."""
    found = await memory.journal.proof(seq)
    if found is None:
        raise RecordNotFound(f"entry {seq}")
    return found


@command(read_only=True)
async def original(
    memory: Memory[Any],
    ref: Annotated[str, arg("REF", "The reference of a recall: an address, or a world.")],
) -> Original[Any]:
    """Load what a reference leads to, and verify it: only the original is what was."""
    return await memory.journal.original(ref)


@command("object", read_only=True)
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
    target: Target,
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
    What was done is said on standard error.
    """
    if output is not None:
        _refuse_database(output, target.url)
    name = target.scope_name
    with bars() as progress:
        report = progress(name)
        signers = target.seal().signers if kind == "journal" else ()
        lines = export_scope(target.url, name, kind, signers=signers, progress=report)
        if output is None:
            written, size = asyncio.run(_write(lines, _standard_output()))
        else:
            with whole_file(output, replace=replace) as file:
                written, size = asyncio.run(_write(lines, file))
    summary = {"scope": name, "lines": written, "bytes": size, "output": output and str(output)}
    if json:
        typer.echo(json_bytes(summary), err=True)
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
    target: Target,
    source: Annotated[
        str, arg("FILE", "A file, or a database: a file or a URL; - is standard input.")
    ],
    format: Annotated[  # noqa: A002 - what it is called everywhere
        ExportFormat | None, opt("What it is; else that is seen by what it holds.", "--from")
    ] = None,
    log: Annotated[
        typer.FileBinaryRead | None,
        opt("The MemoryLog of our objects, which is compared with them.", metavar="FILE"),
    ] = None,
    lenient: Annotated[bool, opt("Take what can be taken, and name every other line.")] = False,
    dry_run: Annotated[bool, opt("Only say what would come in.")] = False,
) -> ImportReport | MovedIn:
    """Bring in what another memory exported: ours, mem0, LangGraph and more.

    Objects of ours as NDJSON come in untrusted: what they say is kept, versions and hashes are made
    anew. What others exported becomes records with their sources, times and authors: JSON lines of
    MCP's reference memory, mem0's JSON, stores of LangGraph and sessions of the OpenAI Agents SDK
    as databases, plain JSON lines and CSV. The second time only what changed there comes in.
    """
    if source != "-" and "://" not in source and not Path(source).is_file():
        raise wrong_use(f"There is no file {source}.")
    given = sys.stdin.buffer.read() if source == "-" else source
    events = None if log is None else log.read()

    act = partial(_import, given, events, format=format, lenient=lenient, dry_run=dry_run)
    if not dry_run:
        return target.run(act, create=True)
    database = file_of(target.url)
    if database is None or Path(database).exists():
        with suppress(ScopeNotFound):
            return target.run(act, read_only=True)
    return asyncio.run(_in_memory(target, act))


async def _import(
    given: str | bytes,
    log: bytes | None,
    memory: Memory[Any],
    *,
    format: ExportFormat | None,  # noqa: A002
    lenient: bool,
    dry_run: bool,
) -> ImportReport | MovedIn:
    if log is None:
        return await move_in(memory, given, format=format, lenient=lenient, dry_run=dry_run)
    lines = given if isinstance(given, bytes) else await asyncio.to_thread(Path(given).read_bytes)
    return await memory.journal.import_objects(lines, log=log, lenient=lenient, dry_run=dry_run)


async def _in_memory(target: Target, act: Act[ImportReport | MovedIn]) -> ImportReport | MovedIn:
    """What would come into a scope that is not there: nothing is made but in memory."""
    async with memoranda.open(
        f"sqlite://{MEMORY}", scope=target.scope_name, actor=target.actor_name, seal=Seal()
    ) as memory:
        return await act(memory)


# ------------------------------------------------------------------------------- files


@contextmanager
def whole_file(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """A file to be written; it has its name when all of it is on the disk, and never before.

    Only its owner can read it: whatever is exported is somebody's memory.
    """
    target = path.resolve()  # where a link leads, so that the link stays
    if target.exists() and not target.is_file():
        raise wrong_use(f"{path} is not a plain file.")
    if target.exists() and not replace:
        raise wrong_use(f"{path} is already there. Name another, or add --replace.")
    if not target.parent.is_dir():
        raise wrong_use(f"There is no folder {path.parent}.")
    descriptor, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".part"
    )
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            part.replace(target)
        else:
            os.link(part, target)  # fails if another was faster
    except FileExistsError:
        raise wrong_use(f"{path} is already there. Name another, or add --replace.") from None
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    sync_folder(target.parent)


# ------------------------------------------------------------------------------ copies


@command(common=("scopes",))
def copy(
    target: Target,
    source: Annotated[str, arg("FROM", "A database: a URL or a file.")],
    destination: Annotated[str, arg("TO", "Another one, which must not have the scopes yet.")],
) -> Output:
    """Copy scopes into another database, whole and verified.

    With chain, tree and checkpoints as they are. Each scope lands whole or not at all, and is
    verified where it arrived. The source stays.
    """
    from_url, to_url = Target(source).url, Target(destination).url
    with bars() as progress:
        found = asyncio.run(copy_scopes(from_url, to_url, scopes=target.scopes, progress=progress))
    return copied("copied", found, hidden(from_url), hidden(to_url))


@command(common=("database",))
def take(
    target: Target,
    file: Annotated[Path, arg("FILE", "A file that is not there yet.")],
) -> Output:
    """Copy all scopes into a new SQLite file, while writing goes on, and verify it.

    The file has its name when all of it is on the disk and sound, never before.
    """
    with bars() as progress:
        found = asyncio.run(back_up_database(target.url, file, progress=progress))
    return copied("backed up", found, hidden(target.url), str(file))


@command(common=("database",))
def restore(
    target: Target,
    file: Annotated[Path, arg("FILE", "A backup.", exists=True, dir_okay=False, readable=True)],
) -> Output:
    """Copy the scopes of a backup into a database, and compare them with the anchors.

    Exits with 5 when an anchor has seen entries that came after the backup: what it restores is
    complete, and those entries are gone.
    """
    seal = target.seal()
    with bars() as progress:
        found = asyncio.run(restore_backup(file, target.url, seal=seal, progress=progress))
    return restored(found, seal, str(file), hidden(target.url))


@command(common=("database",))
def upgrade(target: Target) -> Output:
    """Bring the schema of a database up to date.

    So does the first write of a newer version; reading never does. Make a backup before: an older
    version can't read what a newer one wrote.
    """
    applied = asyncio.run(upgrade_schema(target.url))
    lines = [f"applied {name}" for name in applied] or [
        "It is up to date: there was nothing to do."
    ]
    return Output({"applied": list(applied)}, "\n".join(lines))


journal = group(
    "The journal itself: entries, proofs, originals.",
    *(entries, tail, checkpoints, proof, original, object_),
)
backup = group("Take backups, and put them back.", take, restore)
