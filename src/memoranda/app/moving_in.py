"""Moving in: what another memory exported comes into a scope, each thing once.

1. the file, or the database, is read, and what it is follows from what is in it
2. what can't come in is named with its line; unless `lenient`, nothing else comes in either
3. what is here already is compared: the same is left alone, what changed there becomes the next
   version here, and what was forgotten or erased here stays away
4. the rest lands, `AT_ONCE` in a transaction; who is interrupted begins again, and loses nothing

The second time nothing changes: ids come from there, or follow from what is said, and each record
carries the digest of what came.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from memoranda.app.databases import parse_url
from memoranda.app.memory import Memory
from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.journeys.govern.imports import ImportReport, RefusedLine
from memoranda.journeys.govern.objects import Receipt, Remembered
from memoranda.journeys.govern.read import Include
from memoranda.kernel.errors import (
    ImportRefused,
    InvalidInput,
    InvalidOption,
    RecordNotFound,
    StoreUnavailable,
    VersionConflict,
)
from memoranda.kernel.results import Result
from memoranda.outside.exports import files, tables
from memoranda.outside.exports.arrival import Arrival, Read, Unread, lines_of

ExportFormat = Literal["objects", "mcp", "mem0", "langgraph", "openai-agents", "jsonl", "csv"]
"""What can come in: our own objects, and what others export."""

AT_ONCE: Final = 1_000
ARRIVED: Final = "arrived"
"""The member of meta that says where something came from, with its digest there."""

_OF_FILES: Final[Mapping[str, Callable[[bytes], Iterator[Read]]]] = {
    "mcp": files.mcp,
    "mem0": files.mem0,
    "jsonl": files.json_lines,
    "csv": files.comma_separated,
}
_OF_TABLES: Final[Mapping[str, tuple[str, Callable[[Iterable[tables.Row]], Iterator[Read]]]]] = {
    "langgraph": (tables.LANGGRAPH, tables.langgraph),
    "openai-agents": (tables.SESSIONS, tables.sessions),
}


@dataclass(frozen=True, slots=True, repr=False)
class MovedIn(Result):
    """What came from elsewhere: all that was read is in one of the counts, or named."""

    format: ExportFormat
    read: int
    new: int
    changed: int
    unchanged: int
    is_dry_run: bool
    left_out: Sequence[RefusedLine] = ()
    """What is not remembered here on purpose: forgotten or erased here, or given twice."""
    refused: Sequence[RefusedLine] = ()
    """What can't come in."""
    receipts: Sequence[Receipt] = ()


async def move_in(
    memory: Memory[Any],
    source: str | Path | bytes,
    *,
    format: ExportFormat | None = None,  # noqa: A002 - what it is called everywhere
    lenient: bool = False,
    dry_run: bool = False,
) -> MovedIn | ImportReport:
    """Bring in what another memory exported (docs/moving-in.md).

    `source` is a file, a database's URL, or the contents of a file. Its `format` is seen by what it
    holds, unless it is named. ImportRefused names the first fault, and nothing came in; with
    `lenient` all else does. `dry_run` says what would come, and writes nothing.
    """
    if format is not None and format not in get_args(ExportFormat):
        raise InvalidOption("format", f"name one of {', '.join(get_args(ExportFormat))}")
    # 1.
    kind, read = await _read(source, format)
    if isinstance(read, bytes):
        return await memory.journal.import_objects(read, lenient=lenient, dry_run=dry_run)
    return await _Moving(memory, kind, lenient=lenient, dry_run=dry_run).take(read)


async def _read(
    source: str | Path | bytes, asked: ExportFormat | None
) -> tuple[ExportFormat, Sequence[Read] | bytes]:
    """What a source is, and what it holds; our own objects as they are."""
    if isinstance(source, str) and parse_url(source).kind == "postgresql":
        from memoranda.stores.postgres.foreign import foreign_rows  # noqa: PLC0415 - an extra

        if asked not in (None, "langgraph"):
            raise InvalidOption("format", "of PostgreSQL databases those of langgraph are known")
        rows = await foreign_rows(source, tables.QUERIES[tables.LANGGRAPH])
        return "langgraph", list(tables.langgraph(rows))
    if isinstance(source, bytes):
        return _of_contents(source, asked, is_table=False)
    path = Path(parse_url(source).place if isinstance(source, str) else source)
    return await asyncio.to_thread(_of_file, path, asked)


def _of_file(path: Path, asked: ExportFormat | None) -> tuple[ExportFormat, Sequence[Read] | bytes]:
    from memoranda.stores.sqlite.foreign import (  # noqa: PLC0415 - the driver
        foreign_rows,
        foreign_tables,
        is_sqlite,
    )

    if not path.is_file():
        raise StoreUnavailable(str(path), "there is no such file")
    if not is_sqlite(path):
        return _of_contents(path.read_bytes(), asked, is_table=path.suffix.lower() == ".csv")
    there = foreign_tables(str(path))
    for kind, (table, read) in _OF_TABLES.items():
        if table in there and asked in (None, kind):
            return kind, list(read(foreign_rows(str(path), tables.QUERIES[table])))  # type: ignore[return-value]
    why = "it has neither a store of langgraph nor sessions of openai-agents"
    raise InvalidOption("source", f"{why}; a database of ours is copied: memoranda copy")


def _of_contents(
    contents: bytes, asked: ExportFormat | None, *, is_table: bool
) -> tuple[ExportFormat, Sequence[Read] | bytes]:
    kind = asked or _seen(contents, is_table=is_table)
    if kind == "objects":
        return kind, contents
    if kind not in _OF_FILES:
        raise InvalidOption("format", f"{kind} is a database; name its file or its URL")
    return kind, list(_OF_FILES[kind](contents))


def _seen(contents: bytes, *, is_table: bool) -> ExportFormat:
    """What a file is, by its first value."""
    if is_table:
        return "csv"
    start = contents.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    first = files.first_value(lines_of(contents))
    if not isinstance(first, dict):
        return "mem0" if start in (b"[", b"{") else "jsonl"
    if {"integrity_hash", "statement_type"} & first.keys():
        return "objects"
    if first.get("type") == "memoranda-export" or "memory_object_id" in first:
        why = "it is a journal, or its log; bring its objects: memoranda export --kind objects"
        raise InvalidOption("source", f"{why}, or copy the database: memoranda copy")
    if first.get("type") in ("entity", "relation"):
        return "mcp"
    if "results" in first or ("memory" in first and "id" in first):
        return "mem0"
    return "jsonl"


class _Stop(Exception):
    """What was collected is not to be written."""


class _Moving:
    """One move into one scope."""

    def __init__(
        self, memory: Memory[Any], kind: ExportFormat, *, lenient: bool, dry_run: bool
    ) -> None:
        self._memory = memory
        self._kind = kind
        self._lenient = lenient
        self._dry_run = dry_run
        self._refused: list[RefusedLine] = []
        self._left_out: list[RefusedLine] = []
        self._receipts: list[Receipt] = []
        self._counts = {"new": 0, "changed": 0, "unchanged": 0}

    async def take(self, read: Sequence[Read]) -> MovedIn:
        """Carry it out."""
        arrivals = await self._fit(self._once(read))
        # 2.
        self._refused.sort(key=lambda one: one.line)
        if self._refused and not self._lenient and not self._dry_run:
            first = self._refused[0]
            raise ImportRefused(len(self._refused), first.line, str(first))
        for some in _chunks(arrivals):
            await self._land(some)
        return MovedIn(
            self._kind,
            len(read),
            **self._counts,
            is_dry_run=self._dry_run,
            left_out=sorted(self._left_out, key=lambda one: one.line),
            refused=self._refused,
            receipts=self._receipts,
        )

    def _once(self, read: Iterable[Read]) -> list[Arrival]:
        """The arrivals, each id once."""
        found: dict[str, Arrival] = {}
        for one in read:
            if isinstance(one, Unread):
                self._refused.append(RefusedLine(one.line, one.where, one.why))
            elif (before := found.get(one.id)) is None:
                found[one.id] = one
            elif _digest(before) == _digest(one):
                why = f"line {before.line} says the same"
                self._left_out.append(RefusedLine(one.line, "$", why))
            else:
                why = f"line {before.line} has the same id and says something else"
                self._refused.append(RefusedLine(one.line, "$.id", why))
        return list(found.values())

    async def _fit(self, arrivals: Sequence[Arrival]) -> list[Arrival]:
        """Those that can be written at all; the others are refused."""
        fit = []
        try:
            async with self._memory.batch() as tried:
                for one in arrivals:
                    try:
                        tried.put(one.id, one.data, **self._about(one))
                        fit.append(one)
                    except InvalidInput as refused:
                        where = str(getattr(refused, "where", "$"))
                        why = str(getattr(refused, "why", refused))
                        self._refused.append(RefusedLine(one.line, where, why))
                raise _Stop  # noqa: TRY301 - so that the block writes nothing
        except _Stop:
            return fit

    async def _land(self, some: Sequence[Arrival]) -> None:
        """Compare with what is here, and write what is new or has changed."""
        # 3.
        found = await self._memory.list(ids=[one.id for one in some], include=get_args(Include))
        here = {one.id: one for one in found}
        new = [one for one in some if one.id not in here]
        changed = [one for one in some if one.id in here and self._has_changed(one, here[one.id])]
        # 4.
        try:
            await self._write(new, changed)
        except VersionConflict:  # something of it was erased here: it is found one by one
            await self._write([one for one in new if await self._was_never(one)], changed)

    def _has_changed(self, one: Arrival, here: Remembered[Any]) -> bool:
        arrived = here.meta.get(ARRIVED)
        if here.status != "active":
            self._left_out.append(RefusedLine(one.line, "$", f"it was {here.status} here"))
        elif not isinstance(arrived, Mapping):
            why = "something else is remembered under this id here"
            self._left_out.append(RefusedLine(one.line, "$.id", why))
        elif arrived.get("digest") == _digest(one):
            self._counts["unchanged"] += 1
        else:
            return True
        return False

    async def _was_never(self, one: Arrival) -> bool:
        try:
            await self._memory.history(one.id)
        except RecordNotFound:
            return True
        self._left_out.append(RefusedLine(one.line, "$", "it was erased here"))
        return False

    async def _write(self, new: Sequence[Arrival], changed: Sequence[Arrival]) -> None:
        if not self._dry_run and (new or changed):
            reason = f"moved in from {self._kind}"
            async with self._memory.batch(reason=reason) as batch:
                for one in new:
                    batch.put(one.id, one.data, expected_version=0, **self._about(one))
                for one in changed:
                    batch.put(one.id, one.data, **self._about(one))
            self._receipts += [receipt for receipt in batch.receipts if receipt is not None]
        self._counts["new"] += len(new)
        self._counts["changed"] += len(changed)

    def _about(self, one: Arrival) -> dict[str, Any]:
        arrived = {"from": self._kind, "digest": _digest(one)}
        return {**one.about, "meta": {**one.about.get("meta", {}), ARRIVED: arrived}}


def _digest(one: Arrival) -> str:
    return sha256_hex(canonical_bytes([one.data, dict(one.about)]))


def _chunks(arrivals: Sequence[Arrival]) -> Iterator[Sequence[Arrival]]:
    for start in range(0, len(arrivals), AT_ONCE):
        yield arrivals[start : start + AT_ONCE]
