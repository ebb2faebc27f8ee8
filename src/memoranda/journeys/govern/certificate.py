"""The certificate of an erasure: what went, why, by whom, and the entries that say so.

It is made when something is erased, and again from the journal for whoever asks later: the last
entry of an erasure says how many entries it is, and what they took away (`docs/format.md`).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.intent import documents
from memoranda.journeys.intent.documents import TRACE
from memoranda.journeys.turn.facts import TYPE as CYCLE_TYPE
from memoranda.kernel.errors import RecordNotFound
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, members
from memoranda.ledger.attachments import AttachmentCounts
from memoranda.ledger.derive import tags_of
from memoranda.ledger.entry import NOTICES, entry_hash, read_entry
from memoranda.ledger.object import Cause, version_of
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Current, Draft, Found, NamedEntry, NamedFacts, StoredEntry

AT_ONCE: Final = 500
"""How many entries are read at once where an erasure is looked for."""

_FACTS: Final = {
    documents.PROPOSAL: "proposals",
    TRACE: "traces",
    documents.BEGUN: "contexts",
    documents.EFFECT_FINISHED: "effects",
    documents.SEALED: "snapshots",
    documents.BRANCH: "snapshots",
}
DERIVED: Final = "it was made from something that is erased"
"""Why an object goes that nobody named."""


@dataclass(slots=True)
class ErasureCounts:
    """How much goes, of each kind: `Holdings` has those that are counted by the database.

    A dry run and an erasure count in one place, before anything is removed.
    """

    objects: int = 0
    derived: int = 0
    versions: int = 0
    tags: int = 0
    postings: int = 0
    retries: int = 0
    derivations: int = 0
    vectors: int = 0
    """Embeddings."""
    traces: int = 0
    """Selections of memory."""
    proposals: int = 0
    contexts: int = 0
    """What was frozen for executions."""
    effects: int = 0
    snapshots: int = 0
    cycles: int = 0
    """Turns, with what was recorded of them and the items that they stored; attempts that failed
    are of the same one."""
    recordings: int = 0
    items: int = 0
    keywords: int = 0
    """What items are found by, one for each item that has it."""
    sessions: int = 0
    """They go with a whole scope: nothing of what was said stands in them."""

    def add_facts(self, entries: Sequence[NamedEntry]) -> None:
        """Count facts."""
        for entry in entries:
            kind = _FACTS.get(entry.type)
            if kind is not None:
                setattr(self, kind, getattr(self, kind) + 1)

    def add(self, current: Current, *, is_derived: bool) -> None:
        """Count an object, and all that goes with it."""
        self.objects += 1
        self.derived += is_derived
        self.versions += len(current.digests)
        self.tags += len(tags_of(decode(current.body)))
        self.add_holdings(current)

    def add_attachments(self, gone: AttachmentCounts | None) -> None:
        """Count what had landed with the entries of a whole scope, where that goes whole."""
        for kind, count in ({} if gone is None else gone._asdict()).items():
            setattr(self, kind, count)

    def add_name(self, facts: NamedFacts) -> None:
        """Count what the facts of a name are together, and what else is held of them."""
        self.cycles += any(entry.type == CYCLE_TYPE for entry in facts.entries)
        self.add_holdings(facts)

    @property
    def document(self) -> dict[str, JsonValue]:
        """The counts that are not 0: how an erasure's last entry says them."""
        return {kind: count for kind, count in asdict(self).items() if count}

    def add_holdings(self, found: Found) -> None:
        """Count what else is held of an object, or of the facts of a name."""
        for kind, count in found.holdings._asdict().items():
            setattr(self, kind, getattr(self, kind) + count)


@dataclass(frozen=True, slots=True, repr=False)
class ErasureCertificate(Result):
    """What was erased, why, by whom, and the entries that say so; or, dry, what would be."""

    origin: str
    actor: str
    at: int
    reason: str
    cause: Cause
    counts: ErasureCounts
    is_dry_run: bool
    tombstones: Sequence[Receipt] = field(default=())

    is_scrubbed: bool = True
    """Whether no byte of it is left in the database's files, as far as memoranda sees to that."""
    to_do: str | None = None
    """What is in the way, and what to do about it."""

    def wire_members(self) -> Mapping[str, object]:
        """All of it. It names no content: ids, counts and hashes."""
        shown = members(self)
        if self.is_dry_run:
            del shown["is_scrubbed"]
        return {"type": "ErasureCertificate", **shown, "counts": asdict(self.counts)}


# ------------------------------------------------------------------------ made again


def certified(draft: Draft, entries: int, counts: ErasureCounts, *, is_whole: bool) -> Draft:
    """The last entry so far of an erasure: it says how many there are, and what they took away.

    It also says if it was of a whole scope.
    """
    document = decode(draft.body)
    document["certificate"] = {"entries": entries, "counts": counts.document}
    if is_whole:
        document["certificate"]["whole_scope"] = True
    return draft._replace(body=canonical_bytes(document))


async def erased_before(ledger: Ledger, missing: RecordNotFound) -> ErasureCertificate:
    """The certificate of the erasure that took something along; raises `missing` if none did."""
    seq = await _erased_at(ledger, missing.id)
    if seq is None:
        raise missing
    last, found = seq, dict[str, Any]()
    async for stored, document in _erasures_from(ledger, seq):
        stated = document.get("certificate")
        if found and stated is not None and stored.seq - stated["entries"] + 1 > seq:
            break  # the next erasure
        if stated is not None:
            last, found = stored.seq, stated
    return await _made_again(ledger, last, found)


async def whole_scope_before(ledger: Ledger) -> ErasureCertificate | None:
    """The certificate of the erasure of the whole scope that the journal ends with, if it does.

    What was noted of the memory as a whole since is never erased, and does not count.
    """
    end = (await ledger.head()).size
    while end > 0:
        entries = await ledger.bytes_at(range(max(end - AT_ONCE, 0), end))
        others = [seq for seq, raw in entries.items() if read_entry(raw).kind not in NOTICES]
        for stored in await ledger.entries_at(others[-1:]):
            stated = decode(stored.body or b"{}").get("certificate", {})
            is_whole = stated.get("whole_scope") is True
            return await _made_again(ledger, stored.seq, stated) if is_whole else None
        end -= AT_ONCE
    return None


async def _made_again(ledger: Ledger, last: int, stated: Mapping[str, Any]) -> ErasureCertificate:
    run = await ledger.entries_at(range(last - stated["entries"] + 1, last + 1))
    said = [(stored, read_entry(stored.entry), decode(stored.body or b"{}")) for stored in run]
    entry, asked = next(
        (entry, document) for _, entry, document in said if document["reason"] != DERIVED
    )
    return ErasureCertificate(
        origin=(await ledger.head()).origin,
        actor=entry.actor,
        at=entry.at,
        reason=asked["reason"],
        cause=asked["cause"],
        counts=ErasureCounts(**stated["counts"]),
        is_dry_run=False,
        tombstones=[
            Receipt(
                document["id"],
                version_of(document),
                entry_hash(stored.entry).hex(),
                stored.seq + 1,
            )
            for stored, entry, document in said
            if entry.kind == "archive"
        ],
    )


async def _erased_at(ledger: Ledger, id: str) -> int | None:
    """The entry that says that an object, or what stood under a name, was erased."""
    versions = await ledger.versions(id)
    if versions:
        return versions[-1].seq if versions[-1].version.status == "erased" else None
    for stored in await ledger.marked(id, limit=1, newest_first=True):
        if read_entry(stored.entry).kind == "erasure":
            return stored.seq
    return None


async def _erasures_from(
    ledger: Ledger, seq: int
) -> AsyncIterator[tuple[StoredEntry, Mapping[str, Any]]]:
    while True:
        entries = await ledger.entries_at(range(seq, seq + AT_ONCE))
        for stored in entries:
            kind = read_entry(stored.entry).kind
            document = decode(stored.body or b"{}")
            if kind != "erasure" and not (kind == "archive" and document.get("status") == "erased"):
                return
            yield stored, document
        if len(entries) < AT_ONCE:
            return
        seq += AT_ONCE
