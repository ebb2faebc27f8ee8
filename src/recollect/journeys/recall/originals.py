"""Originals: what a reference leads to, loaded and verified in one call (M-1).

Memory is an interpretation; the world or the record version behind its reference is what was.
"""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from recollect.identity import decode
from recollect.journeys.govern.conformance import Conformance
from recollect.journeys.govern.remembered import Remembered, remembered
from recollect.journeys.intent import names
from recollect.journeys.intent.chronicle import Chronicle, made_from
from recollect.journeys.recall.verifying import Candidate, Verifying
from recollect.journeys.records.codec import DataCodec
from recollect.kernel.actors import ActorRef
from recollect.kernel.clock import Clock
from recollect.kernel.errors import InvalidInput, InvalidProof, RecordNotFound, WorldErased
from recollect.kernel.json import storable
from recollect.kernel.reach import check_reach, reached
from recollect.ledger.derive import row_of
from recollect.ledger.entry import read_entry
from recollect.ledger.object import hash_name
from recollect.ledger.unit import Current, Ledger, StoredEntry
from recollect.ledger.walk import OBJECT_KINDS
from recollect.recall.address import body_address, record_address
from recollect.recall.trace import MemoryRef, VerificationEvidence
from recollect.worlds.snapshot import Snapshot

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Original(Generic[T]):
    """What was: a record version, or the snapshot of a world; and whether that is verified now."""

    ref: MemoryRef
    kind: Literal["record", "world"]
    verified: bool
    evidence: VerificationEvidence
    why_not: str | None
    """Why it is not verified, such as that it was invalidated since."""
    record: Remembered[T] | None = None
    snapshot: Snapshot | None = None

    @property
    def data(self) -> Any:
        """What the record says, or the state of the world."""
        if self.record is not None:
            return self.record.data
        return None if self.snapshot is None else self.snapshot.data


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
        where it is not what the reference says.
        """
        check_reach()
        if seq is None and await self._chronicle.is_there(names.world(ref.world_id)):
            return await self._world(ref, by)
        stored = await self._stored(ref, seq)
        if stored.body is None:
            raise WorldErased("memory", ref.world_id)
        if body_address(stored.body) != ref.world_id:
            raise InvalidProof("the original is another one")
        document = decode(stored.body)
        current = Current(*row_of(document), stored.body)
        newest = (await self._ledger.versions(current.id))[-1].version
        against = None if newest.status == "active" else f"it is {newest.status} by now"
        reached((current.id,))
        return await self._verified(
            Candidate(ref, stored.seq, against), by, record=remembered(current, self._codec)
        )

    async def _world(self, ref: MemoryRef, by: ActorRef) -> Original[T]:
        record = await self._chronicle.world(ref.world_id)
        keeper = await self._chronicle.keeper(ref.world_id)
        kept = await self._chronicle.kept(keeper)
        snapshot = Snapshot.known(kept.parts)
        reached((made_from(keeper),))
        return await self._verified(
            Candidate(ref, record.seq, None, kept.parts), by, snapshot=snapshot
        )

    async def _verified(
        self,
        candidate: Candidate,
        by: ActorRef,
        *,
        record: Remembered[T] | None = None,
        snapshot: Snapshot | None = None,
    ) -> Original[T]:
        broken = next(iter((await self._conformance.state()).breaks.values()), None)
        at = self._clock.now_ms()
        (found,), _ = await self._verifying.verified([candidate], by=by, at=at, broken=broken)
        if found.shown is None:
            raise InvalidProof(found.why_not or "it can't be proved")
        return Original(
            candidate.ref,
            "world" if record is None else "record",
            found.is_verified,
            found.shown.evidence(),
            found.why_not,
            record,
            snapshot,
        )

    # ------------------------------------------------------------------------- looking up

    async def _stored(self, ref: MemoryRef, seq: int | None) -> StoredEntry:
        """The entry that holds a record version.

        A selection that led to it names its entry. Where there is none, or it was erased, the
        journal is gone through: an address says nothing of where it leads.
        """
        if seq is None:
            seq = await self._selected(ref)
        stored = None if seq is None else await self._ledger.entry(seq)
        if stored is not None:
            return stored
        async with self._ledger.snapshot() as snapshot, aclosing(snapshot.entries()) as chunks:
            async for chunk in chunks:
                for one in chunk:
                    if _holds(one, ref):
                        return one
        raise RecordNotFound(ref.world_id)

    async def _selected(self, ref: MemoryRef) -> int | None:
        if not storable(ref.world_id):
            raise RecordNotFound(ref.world_id)
        for fact in await self._chronicle.latest(names.ref(ref.world_id), 1):
            told = zip(
                fact.document["trace"]["selected"], fact.document["details"]["items"], strict=True
            )
            for selected, item in told:
                if selected["ref"]["worldId"] == ref.world_id:
                    return int(item["seq"])
        return None


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
    except InvalidInput:
        return False  # for `verify` to say
    for name in erased.values():
        if record_address(name.removeprefix(hash_name(""))) == ref.world_id:
            raise WorldErased("memory", ref.world_id)
    return False
