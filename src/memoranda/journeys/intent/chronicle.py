"""The chronicle of a scope: what its journal says of proposals, executions, worlds and branches.

Only reads, and commits of facts. How a proposal stands is never stored: it follows from the facts.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple, Protocol

from memoranda.identity import decode, freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.snapshots import Kept, restored
from memoranda.kernel.errors import EntryDamaged, WorldErased, WorldNotFound
from memoranda.kernel.json import storable
from memoranda.kernel.randomness import Randomness
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.entry import SALT_BYTES, Entry, read_entry
from memoranda.ledger.fact import ERASURE, Fact
from memoranda.ledger.unit import (
    Committed,
    Current,
    Draft,
    Expected,
    Ledger,
    Past,
    StoredEntry,
    Unit,
)
from memoranda.worlds.decision import Vote
from memoranda.worlds.proposal import Proposal, ProposalStatus

MEMORY: Final = "memory"
"""What WorldErased says of an object that a fact was made from."""

AT_ONCE: Final = 100
"""How many facts are read at once where there may be very many."""

FEW: Final = 4
"""The same, where nearly always the first ones are enough."""


class Found(NamedTuple):
    """A fact as it stands in the journal."""

    seq: int
    entry: Entry
    document: Any

    @property
    def type(self) -> str:
        """What it is."""
        return str(self.document["type"])


def made_from(keeper: Found) -> str:
    """The name of what left a snapshot: an execution, or the beginning of a branch."""
    if keeper.type == documents.BRANCH:
        return names.branches(keeper.document["name"])
    return names.execution(keeper.document["executionKey"])


class Head(NamedTuple):
    """The head of a branch: the world, and the entry that moved the head there."""

    branch: str
    world: str
    schema_hash: str
    fact: Found

    @property
    def made_from(self) -> str:
        """The name of what left the snapshot: with it goes whatever is made from it."""
        return made_from(self.fact)


class Standing(NamedTuple):
    """How a proposal stands: what was proposed, and all that followed."""

    proposal: Proposal
    """With the status that follows from the rest."""
    branch: str
    waits_for: Any
    risk: str | None
    hints: Any
    asked: Found
    votes: Sequence[Vote]
    decision: Found | None
    newest: int
    """The newest entry about it: when another one came, it stands otherwise."""
    execution: Sequence[Found]
    """How its execution began, its effects, and how it ended, as far as they are there."""

    @property
    def begun(self) -> Found | None:
        """How its execution began."""
        return next((one for one in self.execution if one.type == documents.BEGUN), None)

    @property
    def sealed(self) -> Found | None:
        """How its execution ended."""
        return next((one for one in self.execution if one.type == documents.SEALED), None)


class Asked(NamedTuple):
    """What was proposed, as it was submitted, and the scope that it was approved with."""

    proposal: Any
    approved_scope: Any


class Table(Protocol):
    """What units of work go through, so that whoever watches the journal is told."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        ...

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit."""
        ...


class Chronicle:
    """The facts of one scope's worlds."""

    def __init__(self, table: Table, randomness: Randomness) -> None:
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

        return await self.run(Unit(actor, at, decide, sources, key, about, expects=tuple(expects)))

    async def run(self, unit: Unit) -> Committed:
        """Run a unit of one's own, say one that changes objects beside the facts."""
        return await self._table.commit(unit)

    # -------------------------------------------------------------------------- reading

    async def found(self, name: str, *, after: int = -1, limit: int | None = None) -> list[Found]:
        """The facts under a name, the first one first; WorldErased if they were erased."""
        return _facts(await self._stored(name, after=after, limit=limit), name)

    async def _stored(self, name: str, *, after: int, limit: int | None) -> list[StoredEntry]:
        if not storable(name):
            return []
        return await self._table.ledger.marked(name, after=after, limit=limit)

    async def each(self, name: str, at_once: int = AT_ONCE) -> AsyncGenerator[Found, None]:
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

    async def newest(self, name: str) -> Found | None:
        """The newest fact under a name."""
        if not storable(name):
            return None
        stored = await self._table.ledger.marked(name, limit=1, newest_first=True)
        return _facts(stored, name)[0] if stored else None

    async def latest(self, name: str, limit: int) -> list[Found]:
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
        """How many entries the journal has."""
        return (await self._table.ledger.head()).size

    async def named(self, prefix: str) -> list[str]:
        """What follows the prefix, in all names that have it."""
        return [name[len(prefix) :] for name, _ in await self._table.ledger.marks(prefix)]

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        return await self._table.ledger.versions(id)

    async def head(self, branch: str) -> Head | None:
        """The head of a branch; None if there is no such branch."""
        fact = await self.newest(names.branch(branch))
        if fact is None:
            return None
        if fact.type == documents.BRANCH:
            return Head(branch, fact.document["head"], fact.document["schemaHash"], fact)
        return Head(branch, fact.document["world"], fact.document["schemaHash"], fact)

    async def world(self, world_id: str) -> Found:
        """The World record of an id; WorldNotFound if there is none."""
        async with aclosing(self.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if fact.type == documents.WORLD:
                    return fact
        raise WorldNotFound("world", world_id)

    async def keeper(self, world_id: str) -> Found:
        """The first fact that keeps the snapshot of a world and was not erased."""
        is_known = False
        async with aclosing(self.each(names.world(world_id), FEW)) as facts:
            async for fact in facts:
                if "snapshot" in fact.document:
                    return fact
                is_known = True
        raise WorldErased("world", world_id) if is_known else WorldNotFound("world", world_id)

    async def kept(self, fact: Found, *, before: Kept | None = None) -> Kept:
        """The snapshot that a fact keeps, without its input; from the one before, if it is that."""
        snapshot = fact.document["snapshot"]
        return await restored(self._table.ledger, fact.seq, snapshot, before=before)

    async def base(self, fact: Found) -> Kept:
        """The same for the next run, which most likely starts from what this handle sealed last.

        Of that only the bytes are used: whoever got the value may have changed it since.
        """
        recent = self._recent
        if recent is None or recent.seq != fact.seq:
            return await self.kept(fact)
        return recent._replace(parts=decode(recent.canonical))

    def sealed(self, kept: Kept) -> None:
        """This snapshot was just written."""
        self._recent = kept

    async def at(self, seq: int) -> Found:
        """The fact of an entry; WorldErased if it was erased."""
        stored = await self._table.ledger.entries_at([seq])
        if not stored:
            raise WorldNotFound("entry", str(seq))
        return _facts(stored, f"entry/{seq}")[0]

    async def execution(self, execution_key: str) -> list[Found]:
        """An execution: how it began, its effects, how it ended; empty if there is none.

        EntryDamaged where the memory that it was given is not the one that it recorded.
        """
        facts = await self.found(names.execution(execution_key))
        for fact in facts:
            if fact.type == documents.BEGUN:
                check_frozen(fact)
        return facts

    async def asked(self, proposal_id: str) -> Asked:
        """What was proposed, and with which scope it was approved."""
        facts = await self.found(names.proposal(proposal_id))
        decision = next((one for one in facts if one.type == documents.DECISION), None)
        scope = None if decision is None else decision.document["decision"].get("approvedScope")
        asked = the(facts, documents.PROPOSAL, proposal_id, "proposal")
        if decision is not None:
            check_bound(decision, asked)
        return Asked(asked.document["proposal"], scope)

    async def standing(self, proposal_id: str) -> Standing:
        """How a proposal stands; WorldNotFound, or WorldErased."""
        facts = await self.found(names.proposal(proposal_id))
        asked = the(facts, documents.PROPOSAL, proposal_id, "proposal")
        votes = [
            Vote.model_validate(one.document["vote"]) for one in facts if one.type == documents.VOTE
        ]
        decision = next((one for one in facts if one.type == documents.DECISION), None)
        execution = []
        if decision is not None:
            check_bound(decision, asked)
            execution = await self.execution(names.execution_key(proposal_id))
        return Standing(
            _as_it_stands(asked, decision, execution),
            asked.document["branch"],
            asked.document.get("policy"),
            asked.document.get("risk"),
            asked.document.get("hints"),
            asked,
            votes,
            decision,
            facts[-1].seq,
            execution,
        )


def check_bound(decision: Found, asked: Found) -> None:
    """EntryDamaged where a decision was made on another proposal than the one that is there."""
    said = decision.document
    bound = (said["proposalDigest"], said["baseWorld"])
    if bound != (asked.entry.body_digest, asked.document["proposal"]["baseWorld"]):
        raise EntryDamaged(asked.seq, "entry", "what was decided on is another proposal")


def check_frozen(begun: Found) -> None:
    """EntryDamaged where the memory that an execution was given is not what it recorded."""
    app = begun.document["input"]["$app"]
    if freeze(app["memoryContext"]).digest != begun.document["recall"]["digest"]:
        why = "the memory that was frozen in it is not what was recalled"
        raise EntryDamaged(begun.seq, "object", why)


def _as_it_stands(asked: Found, decision: Found | None, execution: Sequence[Found]) -> Proposal:
    """The proposal with its status, and with what became of it."""
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


def the(facts: Sequence[Found], type_: str, key: str, what: str = "execution that ended") -> Found:
    """The one fact of a type among some; WorldNotFound if it is not there."""
    for fact in facts:
        if fact.type == type_:
            return fact
    raise WorldNotFound(what, key)


def _facts(stored: Sequence[StoredEntry], name: str) -> list[Found]:
    """What is there; WorldErased if something was, and nothing is."""
    found = [fact for fact in map(_fact, stored) if fact is not None]
    if stored and not found:
        raise _erased(name)
    return found


def _erased(name: str) -> WorldErased:
    what, _, which = name.partition("/")
    return WorldErased(what, which or name)


def _fact(stored: StoredEntry) -> Found | None:
    """The fact of an entry; None where it was erased, and for what says so."""
    document = {} if stored.body is None else decode(stored.body)
    if document.get("type", ERASURE) == ERASURE:
        return None
    return Found(stored.seq, read_entry(stored.entry), document)
