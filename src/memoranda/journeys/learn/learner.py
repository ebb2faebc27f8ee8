"""`memory.learn`: facts out of a conversation, in one commit, and each message once.

1. the messages are read; what is wrong with them is refused, and nothing is changed
2. those that were learned from before are passed over
3. the extractor reads the rest; what it answers is checked
4. each statement is compared with what is known (`lessons`)
5. all of it lands in one unit, or nothing does; where what it rests on has moved, from 2. on
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from memoranda.journeys.govern.about import check_name, said_of_new
from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.writer import Writer
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.learn.lessons import Lessons, Teaching, Told
from memoranda.journeys.learn.messages import ReadMessage, read_messages
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import (
    InvalidObject,
    InvalidRecord,
    MarkMoved,
    MemorandaError,
    ModelFailed,
    RecordNotFound,
)
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Current, Draft, Expected, OfSubject, Unit
from memoranda.plans.facts import (
    EXTRACTOR,
    PERSON,
    ExtractedFact,
    FactExtractor,
    Learned,
    SkippedMessage,
    checked_facts,
)
from memoranda.plans.models import Identified
from memoranda.plans.spoken import AnyExtractor, extractor_of
from memoranda.records.table import Note

T = TypeVar("T")

NOTHING: Final = "NothingLearned"
"""The type of the fact of messages that said nothing to be kept."""

_BEFORE: Final = "it was learned from before"
_TWICE: Final = "it is given twice"
_SAYS_NOTHING: Final = "it says nothing to be kept"


class UsesModels(Protocol):
    """Keeps watch over the models that memory rests on (GOV-BREAK)."""

    async def used_models(self, used: Mapping[str, Sequence[str]], at: int, /) -> Sequence[Draft]:
        """What is to be logged of models that were used, by role."""
        ...


class Learner(Generic[T]):
    """Learns for one actor, in one scope."""

    def __init__(
        self,
        lessons: Lessons,
        table: GovernedTable,
        writer: Writer[T],
        telling: Telling[T],
        chronicle: Chronicle,
        conformance: UsesModels,
        ids: IdSource,
    ) -> None:
        self._lessons = lessons
        self._table = table
        self._writer = writer
        self._telling = telling
        self._chronicle = chronicle
        self._conformance = conformance
        self._ids = ids

    async def learn(
        self,
        messages: object,
        *,
        extractor: AnyExtractor | None,
        thread: str | None,
        subject: str | None,
        tags: Sequence[str] | None,
        meta: Mapping[str, Any] | None,
    ) -> Learned:
        """Learn from a conversation, as `Memory.learn` says."""
        # 1.
        check_reach()
        extracts = extractor_of(extractor)
        thread, subject = (
            _name(given, where) for given, where in ((thread, "thread"), (subject, "subject"))
        )
        more = {name: each for name, each in (("tags", tags), ("meta", meta)) if each is not None}
        said_of_new(more)
        given = read_messages(messages, thread)
        note = self._writer.note(None)
        facts: dict[str, list[ExtractedFact]] = {}
        while True:
            # 2.
            new, skipped = await self._new(given)
            # 3.
            unread = [one for one in new if one.digest not in facts]
            if unread:
                facts |= await _extracted(extracts, unread)
            # 4.
            told = [
                Told.of(
                    fact, one.message, one.source, thread, subject,
                    names.message(one.digest), more,
                )
                for one in new
                for fact in facts[one.digest]
            ]  # fmt: skip
            teaching = await self._lessons.taught(told, note)
            silent = [one for one in new if not facts[one.digest]]
            teaching.skipped[:0] = skipped
            teaching.skipped += [SkippedMessage(_uri(one), _why_silent(one)) for one in silent]
            # 5.
            if not new or await self._landed(teaching, new, silent, subject, extracts, note):
                return teaching.came_to

    async def _new(
        self, given: Sequence[ReadMessage]
    ) -> tuple[list[ReadMessage], list[SkippedMessage]]:
        """The messages that nothing was learned from yet, each once, and why others are not."""
        new: dict[str, ReadMessage] = {}
        skipped = []
        for one in given:
            if one.digest in new:
                skipped.append(SkippedMessage(_uri(one), _TWICE))
            elif await self._table.ledger.marked(names.message(one.digest), limit=1):
                skipped.append(SkippedMessage(_uri(one), _BEFORE))
            else:
                new[one.digest] = one
        return list(new.values()), skipped

    async def _landed(
        self,
        teaching: Teaching,
        new: Sequence[ReadMessage],
        silent: Sequence[ReadMessage],
        subject: str | None,
        extractor: FactExtractor,
        note: Note,
    ) -> bool:
        """Whether all of it landed; not so where something that it rests on has moved."""
        drafts = teaching.drafts
        if silent:
            drafts += self._chronicle.drafts([self._nothing(silent, subject)])
        if isinstance(extractor, Identified):
            used = {EXTRACTOR: [extractor.identity]}
            drafts += await self._conformance.used_models(used, note.at)
        marks = [names.message(one.digest) for one in new]
        expects = [*(Expected(name, None) for name in marks), *teaching.expects.values()]

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            teaching.check(found)
            return drafts

        ids = list(teaching.versions)
        try:
            await self._table.commit(Unit(note.actor, note.at, decide, ids, expects=expects))
        except (MarkMoved, RecordNotFound):
            return False
        await self._telling.tell(teaching.records)
        return True

    def _nothing(self, silent: Sequence[ReadMessage], subject: str | None) -> Fact:
        """That messages said nothing to be kept: so a model is not asked for them again."""
        name = names.learned(self._ids.new_id())
        people = dict.fromkeys(OfSubject(subject or one.message.by).name for one in silent)
        return Fact(
            "learning",
            {"type": NOTHING, "messages": len(silent)},
            marks=[name, *(names.message(one.digest) for one in silent)],
            inputs=list(people),
            output=name,
        )


async def _extracted(
    extractor: FactExtractor, new: Sequence[ReadMessage]
) -> dict[str, list[ExtractedFact]]:
    """The facts of each message, by its digest; ModelFailed if the extractor fails."""
    messages = [one.message for one in new]
    by = extractor.identity if isinstance(extractor, Identified) else type(extractor).__name__
    try:
        made = await extractor.extract(messages)
    except MemorandaError:
        raise
    except Exception as failed:
        raise ModelFailed(by, f"it raised {type(failed).__name__}: {failed}") from failed
    facts: dict[str, list[ExtractedFact]] = {one.digest: [] for one in new}
    for fact in checked_facts(made, messages, by):
        facts[new[fact.message].digest].append(fact)
    return facts


def _why_silent(one: ReadMessage) -> str:
    role = one.message.role
    return _SAYS_NOTHING if role == PERSON else f"{_SAYS_NOTHING}; it is of the role {role!r}"


def _uri(one: ReadMessage) -> str:
    return str(one.source["uri"])


def _name(given: object, where: str) -> str | None:
    try:
        return check_name(given, where)
    except InvalidObject as refused:
        raise InvalidRecord(where, refused.why) from None
