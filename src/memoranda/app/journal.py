"""`memory.journal`: the entries themselves, their proofs, the originals, exports and imports."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, get_args

from memoranda.app.audit import ExportKind, exported
from memoranda.app.handle import Verbs, verb
from memoranda.identity import decode
from memoranda.journeys.audit import survey
from memoranda.journeys.audit.checkpoints import StoredCheckpoint
from memoranda.journeys.audit.survey import Activity, Latest, LatestOf, Subject
from memoranda.journeys.audit.verify import EntryProof, Progress, nobody, proof_of
from memoranda.journeys.govern.imports import ImportReport
from memoranda.journeys.govern.read import Include
from memoranda.journeys.govern.times import Moment, milliseconds_of
from memoranda.journeys.intent import names
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Item
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidFilter
from memoranda.kernel.given import check_callable, check_number, check_texts
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.results import Result, Rows
from memoranda.ledger.entry import entry_hash, read_entry
from memoranda.ledger.signed_note import Signer
from memoranda.ledger.unit import StoredEntry
from memoranda.ledger.validate_events import Log
from memoranda.recall.trace import MemoryRef
from memoranda.records.filter import Page

T = TypeVar("T")

PAGE: Final = 500
"""So many entries are read at once."""
_MOST_PARTS: Final = 400
POLL_S: Final = 0.25
"""How often `tail` looks for new entries: other processes may write them."""

IdOf = Literal["record", "recall", "proposal", "execution", "world", "cycle"]
"""What has an id."""

_NAMES: Final[Mapping[IdOf, Callable[[str], str]]] = {
    "recall": names.trace,
    "proposal": names.proposal,
    "execution": names.execution,
    "world": names.world,
    "cycle": names.cycle,
}
"""How the journal names what has an id and is not a record."""


@dataclass(frozen=True, slots=True, repr=False)
class JournalEntry(Result):
    """One entry: what happened, who did it and when; its body is None once it was erased."""

    seq: int
    kind: str
    at: int
    actor: str
    hash: str
    previous_hash: str
    body_digest: str
    body: dict[str, JsonValue] | None

    def row(self) -> Mapping[str, object]:
        """What happened, who did it and when."""
        return {"seq": self.seq, "kind": self.kind, "actor": self.actor, "at": format_time(self.at)}


@dataclass(frozen=True, slots=True, repr=False)
class JournalHead(Result):
    """Where a journal ends: its origin, its size, and the hash of its newest entry."""

    origin: str
    size: int
    entry_hash: str


class Journal(Verbs[T], Generic[T]):
    """The journal of one scope: append-only, hash-chained, under one Merkle root."""

    @verb
    async def head(self) -> JournalHead:
        """Where the journal ends: its origin, its size, and the hash of its newest entry."""
        head = await self._handle.parts.ledger.head()
        return JournalHead(head.origin, head.size, head.entry_hash.hex())

    @verb
    async def entries(self, start: int = 0, *, limit: int | None = None) -> Rows[JournalEntry]:
        """The entries from a number on, at most so many; all of them without a limit.

        EntryDamaged where a body is not the one that its entry was written with.
        """
        check_number("start", start)
        if limit is not None:
            check_number("limit", limit)
        ledger = self._handle.parts.ledger
        size = (await ledger.head()).size
        end = size if limit is None else min(size, start + limit)
        found: list[JournalEntry] = []
        for first in range(start, end, PAGE):
            found += map(_entry, await ledger.entries_at(range(first, min(end, first + PAGE))))
        return Rows(found)

    @verb
    async def backwards(
        self, *, kinds: Collection[str] = (), before: int | None = None, limit: int = 50
    ) -> Page[JournalEntry]:
        """The newest entries, the newest first: of these kinds of entries, or of all.

        `before` is the `next` of the page before. At most 4,096 entries are looked at for one page:
        it may have fewer than its limit, or none, and still a `next`.
        """
        check_texts("kinds", kinds)
        check_number("limit", limit)
        if before is not None:
            check_number("before", before)
        ledger = self._handle.parts.ledger
        found, end = await survey.backwards(ledger, kinds, before=before, limit=limit)
        return Page(map(_entry, found), None if end is None else str(end))

    @verb
    async def latest(
        self, what: LatestOf, *, previous: str | None = None, limit: int = 20
    ) -> Page[Latest]:
        """The newest recalls, proposals or turns, the newest first; `previous` is a `next`.

        What was erased is there as well, without documents.
        """
        if what not in get_args(LatestOf):
            raise InvalidFilter("what", f"name one of {', '.join(get_args(LatestOf))}")
        check_number("limit", limit)
        ledger = self._handle.parts.ledger
        return await survey.latest(ledger, what, before=previous, limit=limit)

    @verb
    async def activity(
        self, *, since: Moment, until: Moment | None = None, parts: int = 14
    ) -> Rows[Activity]:
        """How many entries were written in each of so many equal parts of a time."""
        check_number("parts", parts)
        now = self._handle.parts.clock.now_ms()
        begin, end = milliseconds_of(since, now), milliseconds_of(until, now)
        end = now if end is None else end
        if begin is None or begin >= end or not 0 < parts <= _MOST_PARTS:
            why = f"the time has a length, and is in 1 to {_MOST_PARTS} parts"
            raise InvalidFilter("since", why)
        ledger = self._handle.parts.ledger
        return Rows(await survey.activity(ledger, since=begin, until=end, parts=parts))

    @verb
    async def subjects(
        self, prefix: str = "", *, previous: str | None = None, limit: int = 50
    ) -> Page[Subject]:
        """The people that memory is about, by name; `previous` is the `next` of a page."""
        check_number("limit", limit)
        ledger = self._handle.parts.ledger
        return await survey.subjects(ledger, prefix, after=previous, limit=limit)

    async def tail(self, after: int | None = None) -> AsyncGenerator[JournalEntry, None]:
        """The entries that come after a number, as they are written, by this process or another.

        Without a number, those that are written from now on. It never ends by itself.
        """
        ledger = (await self._handle.ready()).ledger
        if after is not None:
            check_number("after", after)
        following = (await ledger.head()).size if after is None else after + 1
        while True:
            entries = await self.entries(following, limit=PAGE)
            for entry in entries:
                yield entry
            following += len(entries)
            if not entries:
                await asyncio.sleep(POLL_S)

    @verb
    async def ids(
        self, prefix: str, *, kinds: Collection[IdOf] = (), limit: int = 20
    ) -> Sequence[str]:
        """The ids that begin so, of these kinds of things, or of all; at most `limit` of a kind.

        Where one of them is the prefix itself, it is the only one. Of records, those that were
        erased have only their whole id.
        """
        check_texts("kinds", kinds)
        if unknown := set(kinds) - set(get_args(IdOf)):
            known = ", ".join(get_args(IdOf))
            raise InvalidFilter("kinds", f"there is no {min(unknown)!r}; name some of {known}")
        check_number("limit", limit)
        if not isinstance(prefix, str) or not storable(prefix):
            return []
        parts = self._handle.parts
        ledger = parts.ledger
        asked = kinds or get_args(IdOf)
        found: list[str] = []
        for kind, name in _NAMES.items():
            if kind in asked:
                marks = await ledger.marks(name(prefix), limit=limit)
                found += [mark.name.removeprefix(name("")) for mark in marks]
        if "record" in asked and await ledger.versions(prefix):
            found.append(prefix)
        elif "record" in asked:
            records = await parts.reading.list(
                id_prefix=prefix, include=get_args(Include), limit=limit
            )
            found += [record.id for record in records]
        return [prefix] if prefix in found else list(dict.fromkeys(found))

    @verb
    async def proof(self, seq: int) -> EntryProof | None:
        """That an entry stands where it says, under the journal's root as it is now.

        None where there is no such entry, or others are gone, so that there is no root over them.
        """
        check_number("seq", seq)
        return await proof_of(self._handle.parts.ledger, seq)

    @verb
    async def checkpoints(self, *, limit: int = 20) -> Rows[StoredCheckpoint]:
        """The checkpoints that are kept with the journal, the newest first, at most so many."""
        check_number("limit", limit)
        return Rows(await self._handle.parts.scoped.conformance.checkpoints(limit))

    @verb
    async def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """What a reference, or an item of a recall, leads to: loaded and verified (M-1).

        RecordNotFound, WorldErased, or InvalidProof where it is not what the reference says.
        """
        return await self._handle.parts.recalling.original(ref)

    @verb
    async def object(self, id: str, *, version: int | None = None) -> dict[str, JsonValue]:
        """A version as a MemoryObject with its integrity hash; the newest, if none is named."""
        return await self._handle.parts.reading.memory_object(id, version=version)

    async def export(
        self,
        kind: ExportKind = "journal",
        *,
        subject: str | None = None,
        signers: Sequence[Signer] = (),
        progress: Progress = nobody,
    ) -> AsyncGenerator[bytes, None]:
        """The lines of an export: the journal (docs/format.md), its MemoryLog, or its objects.

        With a `subject`, of the objects only those about that person.
        """
        if kind not in get_args(ExportKind):
            raise InvalidFilter("kind", f"name one of {', '.join(get_args(ExportKind))}")
        if subject is not None and kind != "objects":
            raise InvalidFilter("subject", "only objects are about a person: kind is objects")
        check_callable("progress", progress)
        parts = await self._handle.ready()
        lines = exported(parts.ledger, parts.scoped.scope, kind, signers, progress, subject)
        async with aclosing(lines):
            async for line in lines:
                yield line

    @verb
    async def import_objects(
        self, objects: Log, *, log: Log | None = None, lenient: bool = False, dry_run: bool = False
    ) -> ImportReport:
        """Bring MemoryObjects in, as NDJSON or documents; nothing at all if any line is refused.

        With `lenient`, what can come in does, and the report names every other line. `log` is the
        MemoryLog of the same objects, which is compared with them. ImportRefused says which line
        was refused first, and why; ConformanceBroken where one is Factual while a break stands.
        """
        return await self._handle.parts.importing.import_objects(
            objects, log=log, lenient=lenient, dry_run=dry_run
        )


def _entry(stored: StoredEntry) -> JournalEntry:
    read = read_entry(stored.entry)
    body: Any = None if stored.body is None else decode(stored.body)
    return JournalEntry(
        read.seq,
        read.kind,
        read.at,
        read.actor,
        entry_hash(stored.entry).hex(),
        read.previous_entry_hash,
        read.body_digest,
        body,
    )
