"""Originals: what a reference leads to, loaded and verified in one call (M-1).

Memory is an interpretation; the world or the record version behind its reference is what was.
"""

from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.objects import Remembered, remembered
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import made_from
from memoranda.journeys.recall.verification import (
    UnverifiedItem,
    Verified,
    Verifying,
    damaged,
    verified,
)
from memoranda.journeys.records.codec import DataCodec
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import (
    EntryDamaged,
    InvalidInput,
    InvalidProof,
    MemorandaError,
    RecordNotFound,
    WorldErased,
    WorldNotFound,
)
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.results import Result, members
from memoranda.ledger.derive import row_of
from memoranda.ledger.entry import read_entry
from memoranda.ledger.object import data_of, hash_name
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES
from memoranda.ledger.unit import Current, StoredEntry
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.recall.proof import body_address, record_address
from memoranda.recall.trace import MemoryRef, VerificationEvidence
from memoranda.worlds.snapshot import Snapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class Original(Result, Generic[T]):
    """What was: a record version, or the snapshot of a world; and whether that is verified now."""

    ref: MemoryRef
    kind: Literal["record", "world"]
    verified: bool
    evidence: VerificationEvidence | None
    """The proof that it is on record; None where the journal is so damaged that there is none."""
    why_not: str | None
    """Why it is not verified, such as that it was invalidated since."""
    source: str
    """What is noted where it is read: the record's id, or the name of what left the world."""
    said: JsonValue
    """What the record says, or the state of the world, as JSON."""
    record: Remembered[T] | None = None
    snapshot: Snapshot | None = None

    def wire_members(self) -> Mapping[str, object]:
        """All of it but what the record or the snapshot says already."""
        shown = members(self)
        del shown["source"], shown["said"]
        return shown

    @property
    def data(self) -> Any:
        """What the record says, or the state of the world."""
        if self.record is not None:
            return self.record.data
        return None if self.snapshot is None else self.snapshot.data


class _Found(NamedTuple):
    """An original that was loaded, and is to be verified."""

    candidate: UnverifiedItem
    source: str
    said: JsonValue
    record: Remembered[Any] | None = None
    snapshot: Snapshot | None = None


class Originals(Generic[T]):
    """Loads the originals of one scope."""

    def __init__(
        self,
        ledger: Ledger,
        chronicle: Chronicle,
        conformance: Conformance,
        verifying: Verifying,
        codec: DataCodec[T],
        clock: Clock,
    ) -> None:
        self._ledger = ledger
        self._chronicle = chronicle
        self._conformance = conformance
        self._verifying = verifying
        self._codec = codec
        self._clock = clock

    async def load(self, ref: MemoryRef, *, by: ActorRef, seq: int | None = None) -> Original[T]:
        """The original behind a reference; `seq` is its entry, where that is known.

        RecordNotFound where this journal has none, WorldErased where it was erased, InvalidProof
        where it is not what the reference says. Damage elsewhere is no error: then it is not
        verified.
        """
        (found,) = await self.load_all([ref], by=by, seqs=[seq])
        if isinstance(found, MemorandaError):
            raise found
        return found

    async def load_all(
        self,
        refs: Sequence[MemoryRef],
        *,
        by: ActorRef,
        seqs: Sequence[int | None] | None = None,
    ) -> "list[Original[T] | MemorandaError]":
        """The originals behind several references, verified in one tree.

        In the place of one that can't be had stands why.
        """
        check_reach()
        found: list[_Found | MemorandaError] = []
        for ref, seq in zip(refs, seqs or [None] * len(refs), strict=True):
            try:
                found.append(await self._found(ref, seq))
            except (InvalidInput, RecordNotFound, WorldErased, WorldNotFound) as missing:
                found.append(missing)
        there = [record for record in found if isinstance(record, _Found)]
        reached([record.source for record in there])
        proved = iter(await self._verified(there, by))
        return [error if isinstance(error, MemorandaError) else next(proved) for error in found]

    async def _found(self, ref: MemoryRef, seq: int | None) -> _Found:
        if seq is None and await self._chronicle.is_there(names.world(ref.world_id)):
            return await self._world(ref)
        stored = await self._stored(ref, seq)
        if stored.body is None:
            raise WorldErased("memory", ref.world_id)
        if body_address(stored.body) != ref.world_id:
            raise InvalidProof("the original is another one")
        document = decode(stored.body)
        current = Current(*row_of(document), stored.body)
        return _Found(
            UnverifiedItem(ref.world_id, stored.seq, await self._against(current.id, stored.seq)),
            current.id,
            data_of(document),
            remembered(current, self._codec),
        )

    async def _against(self, id: str, seq: int) -> str | None:
        """What speaks against a record whose version an entry has: what became of it since."""
        try:
            newest = (await self._ledger.versions(id))[-1].version
        except EntryDamaged as damaged:
            if damaged.entry == seq:
                raise
            return f"another version of it is damaged, that of entry {damaged.entry}"
        return None if newest.status == "active" else f"it is {newest.status} by now"

    async def _world(self, ref: MemoryRef) -> _Found:
        record = await self._chronicle.world(ref.world_id)
        keeper = await self._chronicle.keeper(ref.world_id)
        kept = await self._chronicle.kept(keeper)
        snapshot = Snapshot.known(kept.parts)
        candidate = UnverifiedItem(ref.world_id, record.seq, None, kept.parts)
        return _Found(candidate, made_from(keeper), snapshot.data, snapshot=snapshot)

    async def _verified(
        self, found: Sequence[_Found], by: ActorRef
    ) -> "list[Original[T] | MemorandaError]":
        if not found:
            return []
        state = await self._conformance.state()
        broken = next(iter(state.breaks.values()), None)
        candidates = [
            there.candidate._replace(
                against=there.candidate.against or damaged(state, there.candidate.seq)
            )
            for there in found
        ]
        looked = await self._verifying.looked([candidate.seq for candidate in candidates])
        proved, _ = verified(looked, candidates, by=by, at=self._clock.now_ms(), broken=broken)
        return [_original(there, one) for there, one in zip(found, proved, strict=True)]

    # ------------------------------------------------------------------------- looking up

    async def _stored(self, ref: MemoryRef, seq: int | None) -> StoredEntry:
        """The entry that holds a record version.

        A selection that led to it names its entry. Where there is none, or it was erased, the
        journal is gone through: an address says nothing of where it leads.
        """
        if seq is None:
            with suppress(EntryDamaged):  # of another entry, which names this one
                seq = await self._selected(ref)
        for stored in [] if seq is None else await self._ledger.entries_at([seq]):
            return stored
        async with self._ledger.snapshot() as snapshot, aclosing(snapshot.rows(ENTRIES)) as chunks:
            async for chunk in chunks:
                for entry in chunk:
                    if _holds(entry, ref):
                        return entry
        raise RecordNotFound(ref.world_id)

    async def _selected(self, ref: MemoryRef) -> int | None:
        if not storable(ref.world_id):
            raise RecordNotFound(ref.world_id)
        for fact in await self._chronicle.latest(names.ref(ref.world_id), 1):
            pairs = zip(
                fact.document["trace"]["selected"], fact.document["details"]["items"], strict=True
            )
            for selected, item in pairs:
                if selected["ref"]["worldId"] == ref.world_id:
                    return int(item["seq"])
        return None


def _original(found: _Found, proved: Verified) -> Original[Any] | MemorandaError:
    if not proved.is_original:
        return InvalidProof(proved.why_not or "it can't be proved")
    return Original(
        MemoryRef(world_id=found.candidate.address),
        "world" if found.record is None else "record",
        proved.is_verified,
        None if proved.shown is None else proved.shown.evidence(),
        proved.why_not,
        found.source,
        found.said,
        found.record,
        found.snapshot,
    )


def _holds(stored: StoredEntry, ref: MemoryRef) -> bool:
    """Whether an entry holds what a reference leads to; WorldErased if it says that it is gone."""
    if stored.body is None:
        return False
    try:
        kind = read_entry(stored.entry).kind
        if kind not in OBJECT_KINDS:
            return False
        if body_address(stored.body) == ref.world_id:
            return True
        erased = decode(stored.body).get("erased", {}) if kind == "archive" else {}
    except (InvalidInput, AttributeError):
        return False  # for `verify` to say
    for name in erased.values():
        if record_address(name.removeprefix(hash_name(""))) == ref.world_id:
            raise WorldErased("memory", ref.world_id)
    return False
