"""What a statement comes to, beside all that is known: new, seen again, or a change to propose.

Nothing is written here. `Lessons.taught` says what is to be written, all of it for one unit, and
what that rests on: whoever commits it begins anew where that has moved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from memoranda.identity import decode
from memoranda.journeys.govern.about import said_of_new, said_of_next
from memoranda.journeys.govern.authority import ACTION
from memoranda.journeys.govern.operations import Operations, to_wire
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.transitions import Transitions
from memoranda.journeys.govern.writer import Writer
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.records.contents import UNCHANGED
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import RecordNotFound
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current, Draft, Expected
from memoranda.plans.facts import (
    ChatMessage,
    ExtractedFact,
    Learned,
    LearnedFact,
    ProposedFact,
    SeenAgain,
    SkippedMessage,
)
from memoranda.recall.bm25 import Scored
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.records.table import Note
from memoranda.text.likeness import answer_to, deny_each_other, is_same

LOOKED_AT: Final = 64
"""How many records are compared with a statement: those that have most of its words."""

NEWEST: Final = 256
"""And where it answers a question of which there is one answer, so many of its subject's newest.

*I moved to Busan* has no word of *I live in Seoul*.
"""

TYPE: Final = "Learned"


class Told(NamedTuple):
    """A statement that somebody made: what it says, of whom, and where it was said."""

    text: str
    subject: str
    source: Mapping[str, JsonValue]
    about: Mapping[str, Any]
    """What else is said of it, under the names of `remember`."""
    mark: str = ""
    """The name that its message is known by, if that is kept."""

    @classmethod
    def of(
        cls,
        fact: ExtractedFact,
        message: ChatMessage,
        source: Mapping[str, JsonValue],
        thread: str | None,
        subject: str | None = None,
        mark: str = "",
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> "Told":
        """A fact of a message; without a subject it is about whoever said it."""
        about: dict[str, Any] = {"thread": thread, "speaker": message.by, "said_at": message.at}
        about |= more
        if fact.text not in message.content:  # other words than were said
            about["statement_type"] = "DerivedStatement"
        about = {name: value for name, value in about.items() if value is not None}
        named = fact.subject or subject or message.by
        return cls(fact.text, named, source, about, mark)


class _Candidate(NamedTuple):
    """A record that a statement is compared with."""

    id: str
    text: str
    current: Current
    is_stored: bool = True


class _Waiting(NamedTuple):
    """A statement that was proposed, and waits for somebody to decide."""

    subject: str
    text: str
    record: str
    """What it denies; where it denies nothing, the record that it would become."""
    proposal_id: str


@dataclass(slots=True)
class Teaching:
    """What is to be written of statements, and what that rests on."""

    records: list[Draft] = field(default_factory=list)
    facts: list[Draft] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    """The records that it was compared with, and must still be of this version."""
    expects: dict[str, Expected] = field(default_factory=dict)
    learned: list[LearnedFact] = field(default_factory=list)
    seen_again: list[SeenAgain] = field(default_factory=list)
    proposed: list[ProposedFact] = field(default_factory=list)
    skipped: list[SkippedMessage] = field(default_factory=list)
    touched: dict[str, None] = field(default_factory=dict)
    """The records that its statements became, repeat, deny, or would become."""

    @property
    def drafts(self) -> list[Draft]:
        """All of it, the records first."""
        return [*self.records, *self.facts]

    @property
    def came_to(self) -> Learned:
        """What whoever had it learned is told, once it has landed."""
        return Learned(
            tuple(self.learned), tuple(self.seen_again), tuple(self.proposed), tuple(self.skipped)
        )

    def check(self, found: Sequence[Current | None]) -> None:
        """RecordNotFound for a record that is no longer what a statement was compared with."""
        for (id, number), current in zip(self.versions.items(), found, strict=True):
            if current is None or current.status != "active" or current.number != number:
                raise RecordNotFound(id)


class Lessons:
    """Compares statements with what one scope knows."""

    def __init__(
        self,
        table: GovernedTable,
        chronicle: Chronicle,
        writer: Writer[Any],
        transitions: Transitions[Any],
        operations: Operations,
        ids: IdSource,
    ) -> None:
        self._table = table
        self._chronicle = chronicle
        self._writer = writer
        self._transitions = transitions
        self._operations = operations
        self._ids = ids

    async def taught(self, statements: Sequence[Told], note: Note) -> Teaching:
        """What statements come to, each beside what is known and those before it.

        1. what says the same as something known is noted as seen again
        2. what denies it is proposed in its place, for a human to decide
        3. what is left is new; where the scope's policy asks for approval, it is proposed
        """
        teaching = Teaching()
        fresh: list[tuple[str, _Candidate]] = []
        waiting: list[_Waiting] = []
        for told in statements:
            known = [one for subject, one in fresh if subject == told.subject]
            known += await self._known(told, note.at)
            # 1.
            same = next((one for one in known if is_same(told.text, one.text)), None)
            if same is not None:
                await self._seen(teaching, told, same)
                continue
            # 2.
            denied = next((one for one in known if deny_each_other(told.text, one.text)), None)
            waits = await self._waiting(told, denied, waiting)
            if waits is not None:
                why = f"the same is proposed already: {waits.proposal_id}"
                teaching.skipped.append(SkippedMessage(_uri(told), why))
                self._fact(teaching, told, "waits", waits.record, proposalId=waits.proposal_id)
                continue
            if denied is not None:
                waiting.append(await self._denied(teaching, told, denied, note))
                continue
            # 3.
            (draft,) = self._writer.remember(told.text, None, said_of_new(_about(told))).drafts(
                (), note
            )
            assert draft.version is not None  # noqa: S101 - it is of an object
            if self._table.needs_approval([draft]):
                made = await self._propose(teaching, told, "create", [draft], None, note)
                waiting.append(made)
                continue
            id = draft.version.id
            teaching.records.append(draft)
            teaching.learned.append(LearnedFact(id, told.text, told.subject, _uri(told)))
            self._fact(teaching, told, "learned", id)
            current = Current(*draft.version, draft.body)
            fresh.append((told.subject, _Candidate(id, told.text, current, is_stored=False)))
        return teaching

    async def _known(self, told: Told, at: int) -> list[_Candidate]:
        """The records of the same subject, or of none, that a statement may repeat or deny.

        Where it is to have tags, only those that have them too.
        """
        wanted_tags = set(told.about.get("tags") or ())

        def candidate(current: Current) -> _Candidate | None:
            document = decode(current.body)
            if current.subject not in {None, told.subject} or not _holds(current, document, at):
                return None
            if not wanted_tags <= set(document.get("tags") or ()):
                return None
            data = data_of(document)
            return _Candidate(current.id, data, current) if isinstance(data, str) else None

        def made(current: Current, _: Scored) -> _Candidate | None:
            return candidate(current)

        await self._table.opened()
        ledger = self._table.ledger
        found = await ledger.rank(RankingMode.FULL_TEXT, asked(told.text), made, limit=LOOKED_AT)
        known = {one.id: one for one in found.made}
        if answer_to(told.text) is not None:
            wanted = MemoryFilter(subject=told.subject, limit=NEWEST)
            newest = await ledger.select(wanted, candidate)
            known |= {one.id: one for one in newest if one is not None}
        return list(known.values())

    async def _seen(self, teaching: Teaching, told: Told, known: _Candidate) -> None:
        name = names.seen(known.id)
        again = [one.count for one in teaching.seen_again if one.id == known.id]
        count = (again[-1] if again else await self._count(teaching, name)) + 1
        self._rests_on(teaching, known)
        teaching.seen_again.append(SeenAgain(known.id, known.text, count, _uri(told)))
        self._fact(teaching, told, "seen", known.id, marks=[name], count=count)

    async def _count(self, teaching: Teaching, name: str) -> int:
        stored = await self._table.ledger.marked(name, limit=1, newest_first=True)
        teaching.expects[name] = Expected(name, stored[0].seq if stored else None)
        body = stored[0].body if stored else None
        return 0 if body is None else int(decode(body)["count"])

    async def _waiting(
        self, told: Told, denied: _Candidate | None, here: Sequence[_Waiting]
    ) -> _Waiting | None:
        """What says the same and was proposed before, here or earlier, and is not decided yet."""
        for one in here:
            if one.subject == told.subject and is_same(told.text, one.text):
                return one
        if denied is None:
            return None
        for fact in await self._chronicle.latest(names.denied(denied.id), LOOKED_AT):
            text, proposal_id = fact.document["statement"], fact.document["proposalId"]
            if not is_same(told.text, text):
                continue
            if (await self._chronicle.standing(proposal_id)).decision is None:
                return _Waiting(told.subject, text, denied.id, proposal_id)
        return None

    async def _denied(
        self, teaching: Teaching, told: Told, known: _Candidate, note: Note
    ) -> _Waiting:
        """Propose it in the place of what it denies."""
        self._rests_on(teaching, known)
        reason = f"{told.subject} says otherwise, in {_uri(told)}"
        about = {"tags": None, "meta": None} | _about(told)
        said_now = said_of_next(about, "supersede", reason)
        row = self._writer.row(told.text, None, replace(said_now, tags=UNCHANGED, meta=UNCHANGED))
        superseded = self._transitions.superseding(
            row, said_now, note._replace(reason=reason), reason, "obsolescence"
        )
        drafts = superseded(known.current)
        return await self._propose(teaching, told, "supersede", drafts, known.id, note)

    async def _propose(
        self,
        teaching: Teaching,
        told: Told,
        operation: str,
        drafts: Sequence[Draft],
        denies: str | None,
        note: Note,
    ) -> _Waiting:
        changes = [to_wire(draft) for draft in drafts]
        ids = [str(change["object"]["id"]) for change in changes]
        made = await self._operations.proposed(
            ACTION + operation, {"changes": changes}, note, None, about=ids, is_to_run=False
        )
        teaching.facts += made.facts
        teaching.touched |= dict.fromkeys(ids)
        teaching.expects |= {expected.name: expected for expected in made.rests_on}
        proposal_id = made.proposal.proposal_id
        teaching.proposed.append(ProposedFact(proposal_id, told.text, denies, _uri(told)))
        marks = [] if denies is None else [names.denied(denies)]
        record = ids[-1] if denies is None else denies
        self._fact(
            teaching,
            told,
            "proposed",
            record,
            marks=marks,
            proposalId=proposal_id,
            statement=told.text,
        )
        return _Waiting(told.subject, told.text, record, proposal_id)

    def _rests_on(self, teaching: Teaching, known: _Candidate) -> None:
        if known.is_stored:
            teaching.versions[known.id] = known.current.number

    def _fact(
        self,
        teaching: Teaching,
        told: Told,
        outcome: str,
        record: str,
        *,
        marks: Sequence[str] = (),
        **more: JsonValue,
    ) -> None:
        """The fact of what a statement came to: it goes when the record does."""
        teaching.touched[record] = None
        says = {"type": TYPE, "source": dict(told.source), "outcome": outcome, "record": record}
        name = names.learned(self._ids.new_id())
        found_by = [name, *([told.mark] if told.mark else []), *marks]
        fact = Fact("learning", says | more, marks=found_by, inputs=[record], output=name)
        teaching.facts += self._chronicle.drafts([fact])


def _holds(current: Current, document: Mapping[str, Any], at: int) -> bool:
    """Whether a record is current: not judged False, and not expired."""
    return (
        document["verdict_type"] != "False"
        and (current.valid_to is None or at <= current.valid_to)
        and (current.expires_at is None or at < current.expires_at)
    )


def _about(told: Told) -> dict[str, Any]:
    return {**told.about, "source": [told.source], "subject": told.subject}


def _uri(told: Told) -> str:
    return str(told.source["uri"])
