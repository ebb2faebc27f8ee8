"""The chronicle of a scope: what its journal says of proposals, executions, worlds and branches.

It reads and commits facts. How a proposal stands is never stored: it follows from the facts.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, Final, NamedTuple

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.documents import (
    FoundFact,
    LoggedHead,
    ProposalState,
    SubmittedProposal,
    check_bound,
    check_frozen,
    fact_of_type,
)
from memoranda.journeys.intent.hold import leased
from memoranda.kernel.clock import Clock, Randomness
from memoranda.kernel.errors import InvalidProof, WorldErased, WorldNotFound
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue, storable
from memoranda.ledger.entry import SALT_BYTES, read_entry
from memoranda.ledger.fact import ERASURE, Fact
from memoranda.ledger.port import Ledger, LedgerTable
from memoranda.ledger.unit import Committed, Current, Draft, Expected, Past, StoredEntry, Unit
from memoranda.worlds.delta import applied, changes
from memoranda.worlds.proposal import Proposal, ProposalStatus, Vote

LONGEST: Final = 64
"""How many changes in a row there are at most until the next whole snapshot."""

_WORTHWHILE: Final = 0.5
"""Changes that are larger than this part of the whole are not worth restoring from."""

Parts = dict[str, JsonValue]
"""The members of a snapshot but for its input."""


class Kept(NamedTuple):
    """A snapshot that is in the journal: its members, their bytes, and what it was kept as."""

    parts: Parts
    canonical: bytes
    seq: int
    on: tuple[int, ...] = ()
    """The entries that it is restored from: the whole one, then the changes before its own."""


def parts_of(snapshot: Mapping[str, JsonValue]) -> Parts:
    return {name: value for name, value in snapshot.items() if name != "input"}


def whole(canonical: bytes, parts: Parts) -> dict[str, JsonValue]:
    return {"sha256": sha256_hex(canonical), "full": parts}


def kept_as(parts: Parts, canonical: bytes, before: Kept | None) -> dict[str, JsonValue]:
    """How a snapshot is kept: by what changed since the one before, where that is short."""
    if before is None:
        return whole(canonical, parts)
    on = (*before.on, before.seq)
    if len(on) >= LONGEST:
        return whole(canonical, parts)
    changed = changes(before.parts, parts)
    if len(canonical_bytes(changed)) > len(canonical) * _WORTHWHILE:
        return whole(canonical, parts)
    return {"sha256": sha256_hex(canonical), "on": list(on), "changes": changed}


async def restored(
    ledger: Ledger, seq: int, kept: Mapping[str, Any], *, before: Kept | None = None
) -> Kept:
    """The snapshot that an entry keeps; WorldErased if something that it needs is gone.

    1. read the whole one and all changes since, in one go
    2. apply them
    3. the bytes have the digest that was written with them
    """
    on: Sequence[int] = kept.get("on", ())
    if "full" in kept:
        parts = kept["full"]
    elif before is not None and [*before.on, before.seq] == on:
        parts = applied(before.parts, kept["changes"])
    else:
        # 1.
        found = await ledger.entries_at(on)
        documents = [decode(entry.body) for entry in found if entry.body is not None]
        if len(documents) != len(on):
            raise WorldErased("snapshot of entry", str(seq))
        # 2. All at once: what is changed again and again is copied once.
        since = [change for document in documents[1:] for change in document["snapshot"]["changes"]]
        parts = applied(documents[0]["snapshot"]["full"], [*since, *kept["changes"]])
    # 3.
    canonical = canonical_bytes(parts)
    if sha256_hex(canonical) != kept["sha256"]:
        raise InvalidProof(f"the snapshot of entry {seq} is not the one that was sealed")
    return Kept(parts, canonical, seq, tuple(on))


MEMORY: Final = "memory"
"""What WorldErased says of an object that a fact was made from."""

SHORT_BYTES: Final = 16_384
"""How long the bodies of facts are together that are written in a short unit."""

AT_ONCE: Final = 100
"""How many facts are read at once where there may be very many."""

FEW: Final = 4
"""The same, where nearly always the first ones are enough."""


class Chronicle:
    """The facts of one scope's worlds."""

    def __init__(self, table: LedgerTable, randomness: Randomness) -> None:
        self._table = table
        self._randomness = randomness
        self._recent: Kept | None = None

    # -------------------------------------------------------------------------- writing

    def drafts(self, facts: Sequence[Fact]) -> list[Draft]:
        """The entries that facts become, each with a salt of its own."""
        return [fact.draft(self._randomness.take(SALT_BYTES)) for fact in facts]

    async def commit(
        self,
        drafts: Sequence[Draft],
        *,
        actor: str,
        at: int,
        expects: Sequence[Expected] = (),
        sources: Sequence[str] = (),
        key: RetryKey | None = None,
        about: str = "",
    ) -> Committed:
        """Write facts in one transaction; MarkMoved if what they rest on has changed.

        WorldErased if one of the objects that they were made from was erased meanwhile.
        """

        def decide(found: Sequence[Current | None]) -> Sequence[Draft]:
            for id, current in zip(sources, found, strict=True):
                if current is not None and current.status == "erased":
                    raise WorldErased(MEMORY, id)  # one of another scope is None here
            return drafts

        is_short = sum(len(draft.body) for draft in drafts) <= SHORT_BYTES
        unit = Unit(actor, at, decide, sources, key, about, expects=expects, is_short=is_short)
        return await self.run(unit)

    async def run(self, unit: Unit) -> Committed:
        """Run a unit of one's own, say one that changes objects besides the facts."""
        return await self._table.commit(unit)

    def leased(self, name: str, clock: Clock) -> AbstractAsyncContextManager[bool]:
        """Hold a lease of the scope for the length of a block; False if somebody else does."""
        return leased(self._table.ledger.leases, name, clock, self._randomness)

    # -------------------------------------------------------------------------- reading

    async def found(
        self, name: str, *, after: int = -1, limit: int | None = None
    ) -> list[FoundFact]:
        """The facts under a name, the first one first; WorldErased if they were erased."""
        return _facts(await self._stored(name, after=after, limit=limit), name)

    async def _stored(self, name: str, *, after: int, limit: int | None) -> list[StoredEntry]:
        if not storable(name):
            return []
        return await self._table.ledger.marked(name, after=after, limit=limit)

    async def each(self, name: str, at_once: int = AT_ONCE) -> AsyncGenerator[FoundFact, None]:
        """The same, a few at a time: some names have very many, erasures among them."""
        last, is_found = -1, False
        while stored := await self._stored(name, after=last, limit=at_once):
            last = stored[-1].seq
            for fact in map(_fact, stored):
                if fact is not None:
                    is_found = True
                    yield fact
        if last >= 0 and not is_found:
            raise _erased(name)

    async def newest(self, name: str) -> FoundFact | None:
        if not storable(name):
            return None
        stored = await self._table.ledger.marked(name, limit=1, newest_first=True)
        return _facts(stored, name)[0] if stored else None

    async def latest(self, name: str, limit: int) -> list[FoundFact]:
        """The newest facts under a name, the newest first; what was erased is passed over."""
        stored = await self._table.ledger.marked(name, limit=limit, newest_first=True)
        return [fact for fact in map(_fact, stored) if fact is not None]

    async def expected(self, world: str) -> tuple[Expected, bool]:
        """What the newest entry of a world is now, and whether its record is there."""
        name = names.world(world)
        stored = await self._table.ledger.marked(name, limit=1, newest_first=True)
        if not stored:
            return Expected(name, None), False
        return Expected(name, stored[0].seq), _fact(stored[0]) is not None

    async def is_there(self, name: str) -> bool:
        """Whether there is, or was, something of this name."""
        if not storable(name):
            return False
        first = await self._table.ledger.marks(name, limit=1)  # of those that begin so
        return any(mark.name == name for mark in first)

    async def size(self) -> int:
        return (await self._table.ledger.head()).size

    async def named(self, prefix: str) -> list[str]:
        """What follows the prefix, in all names that have it."""
        return [name[len(prefix) :] for name, _ in await self._table.ledger.marks(prefix)]

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        return await self._table.ledger.versions(id)

    async def head(self, branch: str) -> LoggedHead | None:
        """The head of a branch; None if there is no such branch."""
        fact = await self.newest(names.branch(branch))
        if fact is None:
            return None
        return LoggedHead(branch, _reached(fact), fact.document["schemaHash"], fact)

    async def known_head(self, branch: str) -> LoggedHead:
        """The head of a branch; WorldNotFound if there is none."""
        head = await self.head(branch)
        if head is None:
            raise WorldNotFound("branch", branch)
        return head

    async def world(self, world_id: str) -> FoundFact:
        """The World record of an id; WorldNotFound if there is none."""
        async with aclosing(self.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if fact.type == documents.WORLD:
                    return fact
        raise WorldNotFound("world", world_id)

    async def keeper(self, world_id: str) -> FoundFact:
        """The first fact that keeps the snapshot of a world and was not erased."""
        is_known = False
        async with aclosing(self.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if "snapshot" in fact.document:
                    return fact
                is_known = True
        raise WorldErased("world", world_id) if is_known else WorldNotFound("world", world_id)

    async def kept(self, fact: FoundFact, *, before: Kept | None = None) -> Kept:
        """The snapshot that a fact keeps, without its input; from the one before, if it is that."""
        snapshot = fact.document["snapshot"]
        return await restored(self._table.ledger, fact.seq, snapshot, before=before)

    async def base(self, fact: FoundFact) -> Kept:
        """The same for the next run, which most likely starts from what this handle sealed last.

        Of that only the bytes are used: whoever got the value may have changed it since.
        """
        recent = self._recent
        if recent is None or recent.seq != fact.seq:
            return await self.kept(fact)
        return recent._replace(parts=decode(recent.canonical))

    def sealed(self, kept: Kept) -> None:
        self._recent = kept

    async def at(self, seq: int) -> FoundFact:
        """The fact of an entry; WorldErased if it was erased."""
        stored = await self._table.ledger.entries_at([seq])
        if not stored:
            raise WorldNotFound("entry", str(seq))
        return _facts(stored, f"entry/{seq}")[0]

    async def execution(self, execution_key: str) -> list[FoundFact]:
        """An execution: how it began, its effects, how it ended; empty if there is none.

        EntryDamaged where the memory that it was given is not the one that it recorded.
        """
        facts = await self.found(names.execution(execution_key))
        for fact in facts:
            if fact.type == documents.BEGUN:
                check_frozen(fact)
        return facts

    async def asked(self, proposal_id: str) -> SubmittedProposal:
        """What was proposed, and with which scope it was approved."""
        facts = await self.found(names.proposal(proposal_id))
        decision = next((fact for fact in facts if fact.type == documents.DECISION), None)
        scope = None if decision is None else decision.document["decision"].get("approvedScope")
        asked = fact_of_type(facts, documents.PROPOSAL, proposal_id, "proposal")
        if decision is not None:
            check_bound(decision, asked)
        return SubmittedProposal(asked.document["proposal"], scope)

    async def standing(self, proposal_id: str) -> ProposalState:
        """How a proposal stands; WorldNotFound, or WorldErased."""
        facts = await self.found(names.proposal(proposal_id))
        asked = fact_of_type(facts, documents.PROPOSAL, proposal_id, "proposal")
        votes = [
            Vote.model_validate(fact.document["vote"])
            for fact in facts
            if fact.type == documents.VOTE
        ]
        decision = next((fact for fact in facts if fact.type == documents.DECISION), None)
        execution = []
        if decision is not None:
            check_bound(decision, asked)
            execution = await self.execution(names.execution_key(proposal_id))
        return ProposalState(
            _as_it_stands(asked, decision, execution),
            asked.document["branch"],
            asked.document.get("policy"),
            asked.document.get("risk"),
            asked.document.get("hints"),
            asked.entry.body_digest,
            asked.seq,
            votes,
            decision,
            facts[-1].seq,
            execution,
        )


def _as_it_stands(
    asked: FoundFact, decision: FoundFact | None, execution: Sequence[FoundFact]
) -> Proposal:
    said = dict(asked.document["proposal"])
    status: ProposalStatus = "evaluating"
    if decision is not None:
        record = decision.document["decision"]
        said["decisionId"], said["decidedAt"] = record["decisionId"], record["decidedAt"]
        final = record["decision"]
        is_approved = "approved" in (final["kind"], final.get("action"))
        status = "approved" if is_approved else "rejected"
        if "approvedScope" in record and is_approved:
            said["approvedScope"] = record["approvedScope"]
    for fact in execution:
        if fact.type == documents.BEGUN:
            status = "executing"
        elif fact.type == documents.SEALED:
            status = fact.document["outcome"]
            said["resultWorld"] = fact.document["world"]
            said["completedAt"] = fact.document["completedAt"]
    said["status"] = status
    return Proposal.model_validate(said)


def world_reached(stored: StoredEntry) -> str | None:
    """The world that the newest entry of a branch leads to; None if that was erased."""
    fact = _fact(stored)
    return None if fact is None else _reached(fact)


def _reached(fact: FoundFact) -> str:
    return str(fact.document["head" if fact.type == documents.BRANCH else "world"])


def _facts(stored: Sequence[StoredEntry], name: str) -> list[FoundFact]:
    """What is there; WorldErased if something was, and nothing is."""
    found = [fact for fact in map(_fact, stored) if fact is not None]
    if stored and not found:
        raise _erased(name)
    return found


def _erased(name: str) -> WorldErased:
    what, _, which = name.partition("/")
    return WorldErased(what, which or name)


def _fact(stored: StoredEntry) -> FoundFact | None:
    """The fact of an entry; None where it was erased, and for what says so."""
    document = {} if stored.body is None else decode(stored.body)
    if document.get("type", ERASURE) == ERASURE:
        return None
    return FoundFact(stored.seq, read_entry(stored.entry), document)
