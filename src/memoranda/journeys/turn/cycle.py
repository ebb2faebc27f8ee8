"""One cycle of a turn: the scope it runs in, the steps it is composed of, and what it noted."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from memoranda.journeys.records.foreign import within
from memoranda.journeys.turn.facts import check_index, check_items
from memoranda.kernel.clock import Clock, IdSource, Randomness
from memoranda.kernel.errors import CycleFailed, InvalidItem, WriteFailed
from memoranda.kernel.wire import WireModel
from memoranda.ledger.attachments import ItemOrigin, NewItem, OriginOf
from memoranda.ledger.port import Ledger, LedgerTable
from memoranda.ledger.unit import Current, Draft, Expected
from memoranda.plans.engine import Output
from memoranda.plans.extractive import ExtractiveSummariser, extract
from memoranda.plans.facts import ExtractedFact, FactExtractor, Learned, check_no_response
from memoranda.plans.items import (
    ItemSearch,
    ItemStore,
    MemoryItem,
    RetrievedItem,
    check_item,
    terms,
)
from memoranda.plans.models import Model, Prompt, Settings, identity_of
from memoranda.plans.plan import ExecutionPlan, StepType
from memoranda.plans.raw import Whole
from memoranda.plans.steps.answer import (
    Listener,
    LLMCall,
    PersistMemory,
    PersistSession,
    PromptAssemble,
    Staging,
    SummarizeMemory,
)
from memoranda.plans.steps.context import (
    ContextSelect,
    MemoryAnswer,
    MemoryRecall,
    RecallMemory,
    RepoScan,
    RetrieveMemory,
    Scanner,
)
from memoranda.plans.steps.facts import ExtractFacts, RememberFacts
from memoranda.plans.summary import Limits, Summariser, Summary, check_not_raw

# ------------------------------------------------------------------------------------------------
# The steps of a cycle, composed for a plan: each is handed what it needs, and nothing more.

Summarising = Callable[[Model], Summariser]
"""Makes a summariser of the model that is asked."""

Extracting = Callable[[Model], FactExtractor]
"""Makes an extractor of the model that is asked."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What steps work with, the same in every cycle; `replaced` are types of one's own.

    Summariser and extractor are made of the model, so that what they ask is noted with all else.
    """

    model: Model
    summariser: Summarising
    extractor: Extracting
    scanner: Scanner
    replaced: Sequence[StepType] = ()

    @property
    def forms(self) -> Mapping[str, type[WireModel]]:
        """The form of the payload of each type that is at hand."""
        shipped = {step_type.name: step_type.payload for step_type in _SHIPPED}
        return {**shipped, **{step_type.name: step_type.payload for step_type in self.replaced}}


def composed(
    plan: ExecutionPlan,
    tools: Tools,
    items: ItemSearch,
    memory: MemoryRecall,
    staging: Staging,
    clock: Clock,
    randomness: Randomness,
    listener: Listener | None = None,
) -> Iterable[StepType]:
    """The types of steps for one cycle of a plan, with what belongs to this cycle alone.

    What the plan's metadata says goes to the step that it is for: the engine knows none of it.
    """
    budgets, top_k = plan.metadata.budgets, plan.metadata.top_k
    types: list[StepType] = [
        RepoScan(tools.scanner),
        ContextSelect(),
        PromptAssemble(None if budgets is None else budgets.prompt_tokens),
        LLMCall(tools.model, listener),
        SummarizeMemory(tools.summariser(tools.model)),
        ExtractFacts(tools.extractor(tools.model)),
        PersistMemory(staging, clock, randomness),
        RememberFacts(staging),
        PersistSession(staging),
    ]
    if top_k is not None:  # there is no other: a plan that retrieves without it was refused
        types += [RetrieveMemory(items, top_k), RecallMemory(memory, top_k)]
    return {step_type.name: step_type for step_type in (*types, *tools.replaced)}.values()


_SHIPPED = (
    RepoScan,
    RetrieveMemory,
    RecallMemory,
    ContextSelect,
    PromptAssemble,
    LLMCall,
    SummarizeMemory,
    ExtractFacts,
    PersistMemory,
    RememberFacts,
    PersistSession,
)


class Staged:
    """What one cycle is to store (`steps.staging.Staging`). Each cycle has one of its own.

    So a step that was given up, and stages something too late, reaches nobody.
    """

    def __init__(self) -> None:
        self._items: list[MemoryItem] = []
        self._facts: list[tuple[str, ExtractedFact]] = []
        self._session: tuple[str, str | None] | None = None

    def stage_item(self, item: MemoryItem) -> None:
        self._items.append(item)

    def stage_fact(self, session_ref: str, fact: ExtractedFact) -> None:
        self._facts.append((session_ref, fact))

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        self._session = (session_ref, repo_scan_version)

    def facts(self, session_ref: str) -> Sequence[ExtractedFact]:
        """The facts; WriteFailed if one is of another session."""
        if any(ref != session_ref for ref, _ in self._facts):
            raise WriteFailed("the facts", "one of them is of another session")
        return [fact for _, fact in self._facts]

    def items(self, session_ref: str) -> Sequence[MemoryItem]:
        """The items, all of this session; InvalidItem if one is of another (ING-SESSION)."""
        return [check_item(item, session_ref) for item in self._items]

    def check_not_raw(self, raw: Sequence[Whole], step: str) -> None:
        """CycleFailed at this step if an item holds one of these texts whole (ING-RAW).

        SummarizeMemory looks at what its summariser made; but it can be replaced, and a plan need
        not show it what the user said.
        """
        for item in self._items:
            try:
                check_not_raw(item.summary, item.keywords, raw)
            except InvalidItem as refused:
                raise CycleFailed(step, f"{refused.why}, at {refused.where}") from refused

    def check_no_response(self, response: str, step: str) -> None:
        """CycleFailed at this step if a fact repeats the response (ING-RAW).

        ExtractFacts looks at what its extractor made; but it can be replaced.
        """
        check_no_response([fact.text for _, fact in self._facts], response, step)

    def version(self, session_ref: str) -> str | None:
        """The version of the folder that was scanned; WriteFailed where nothing staged a session.

        Steps can be replaced: what they stage is looked at again.
        """
        if self._session is None or self._session[0] != session_ref:
            raise WriteFailed("the session", "no step staged it")
        return self._session[1]


def new_items(items: Sequence[MemoryItem], cycle_id: str) -> list[NewItem | ItemOrigin]:
    """The items of a cycle, and that they are its own, as what lands with its fact."""
    landing: list[NewItem | ItemOrigin] = []
    for item in items:
        words = tuple(item.keywords)
        landing.append(NewItem(item.id, item.session_ref, item.timestamp, item.summary, words))
        landing.append(ItemOrigin(item.session_ref, item.id, cycle_id, len(terms(item.keywords))))
    return landing


AT_ONCE: Final = 2_000
"""Characters of a response and of what was asked that are read on the event loop's own thread."""


class SummariserAside:
    """The same summary, made on a thread of its own unless there is little to read.

    How much is read has a limit, so that a thread that nobody waits for any more soon ends.
    """

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary | None:
        if len(response) + len(text or "") <= AT_ONCE:
            return await ExtractiveSummariser().summarise(response, text, limits)
        return await asyncio.to_thread(extract, response, text, limits)


async def within_limit(seconds: float, work: Coroutine[Any, Any, Output]) -> Output:
    """The output of a step; TookTooLong when the limit is over, whether it heeds that or not."""
    return await within(seconds, work, "a step")


# ------------------------------------------------------------------------------------------------
# What turns are taken in: one scope, for one actor.

ItemsOf = Callable[[str], Awaitable[ItemStore]]
"""Gives the items of one session, by its reference."""


class Conforming(Protocol):
    """Keeps watch over what memory rests on (GOV-BREAK)."""

    async def used_models(self, used: Mapping[str, Collection[str]], at: int, /) -> Sequence[Draft]:
        """What is to be logged of models that were used, by role, with what was made with them."""
        ...

    async def note(self, failed: BaseException | None, /) -> None:
        """Log the damage that something failed of, if that is what it failed of."""
        ...


class Recalls(Protocol):
    """Recalls governed memory for turns."""

    async def recall(
        self, query: str, top_k: int, about: str | None, /
    ) -> tuple[MemoryAnswer, Expected]:
        """What a recall came to, and the entry of its trace; `about` is whom the turn is with."""
        ...


class Taught(NamedTuple):
    """What was said in a turn: in which cycle and session, by whom if that is known, and when."""

    facts: Sequence[ExtractedFact]
    text: str
    cycle_id: str
    session_ref: str
    subject: str | None
    at: int


class TaughtChanges(Protocol):
    """What is to be written of the facts of a cycle, and what that rests on."""

    @property
    def drafts(self) -> Sequence[Draft]:
        """What is appended, after the fact of the cycle."""
        ...

    @property
    def records(self) -> Sequence[Draft]:
        """Those of them that are new records."""
        ...

    @property
    def versions(self) -> Mapping[str, int]:
        """The records that facts were compared with."""
        ...

    @property
    def expects(self) -> Mapping[str, Expected]:
        """What else must still be so, by name."""
        ...

    @property
    def touched(self) -> Iterable[str]:
        """The records that the facts became, repeat or deny: the cycle goes with each of them."""
        ...

    @property
    def came_to(self) -> Learned:
        """What is said of it to whoever takes the turn."""
        ...

    def check(self, found: Sequence[Current | None], /) -> None:
        """RecordNotFound for a record that is no longer what a fact was compared with."""
        ...


class Teaches(Protocol):
    """Compares what turns teach with all that is known, by the rules of `learn`."""

    async def taught(self, said: Taught, /) -> TaughtChanges:
        """What its facts come to; nothing is written."""
        ...

    async def tell(self, records: Sequence[Draft], /) -> None:
        """Tell whoever listens of records that have landed."""
        ...


@dataclass(frozen=True, slots=True)
class Scope:
    """One scope, for one actor, with where its items are and where time and ids come from."""

    actor: str
    table: LedgerTable
    items: ItemsOf
    memory: Recalls
    lessons: Teaches
    clock: Clock
    ids: IdSource
    randomness: Randomness
    conformance: Conforming


# ------------------------------------------------------------------------------------------------
# What a cycle is run with so that it can be recorded and run again: one time, all of it noted.

_Given = tuple[Sequence[str], list[OriginOf]]
"""The ids of items that were found at once, and the cycles that stored them."""


class OneTime:
    """The time of a cycle: read once, when it is first asked for, and the same from then on.

    So the items, the session and the entry of a cycle are of one time, and a replay has it too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._now: int | None = None

    def now_ms(self) -> int:
        if self._now is None:
            self._now = self._clock.now_ms()
        return self._now


CHAT: Final = "chat"
SUMMARISER: Final = "summariser"
"""How models are called among those that memory rests on: who answers, and who sums up."""


class NotedModel:
    """A model whose answers are noted, in the order of the calls, and which one gave them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._role = CHAT
        self.answers: list[str] = []
        self.used: dict[str, set[str]] = {}
        """By role, the identities of the models that answered."""

    @property
    def identity(self) -> str:
        """Which model it is."""
        return identity_of(self._model, Settings())

    def asked_as(self, role: str) -> "NotedModel":
        """The same model, asked for something else: what it answers is noted with all else."""
        asked = NotedModel(self._model)
        asked._role, asked.answers, asked.used = role, self.answers, self.used
        return asked

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        answer = await self._model.complete(prompt, settings)
        self._note(answer, settings)
        return answer

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same answer in pieces; it is noted when it has ended."""
        pieces = []
        async with aclosing(self._model.stream(prompt, settings)) as stream:
            async for piece in stream:
                pieces.append(piece)
                yield piece
        self._note("".join(pieces), settings)

    def _note(self, answer: str, settings: Settings) -> None:
        self.answers.append(answer)
        self.used.setdefault(self._role, set()).add(identity_of(self._model, settings))


class NotedItems:
    """The items of a session, where it is noted which cycles had stored what is found.

    A cycle is made from these: when one of them is erased, it goes as well.
    """

    def __init__(self, items: ItemSearch, ledger: Ledger, session_ref: str) -> None:
        self._items = items
        self._ledger = ledger
        self._origins = ledger.origins
        self._session_ref = session_ref
        self._given: list[_Given] = []

    @property
    def sources(self) -> dict[str, int | None]:
        """The cycles that stored what was found, each with the newest entry of its name."""
        return {origin.cycle: origin.seq for _, origins in self._given for origin in origins}

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items that are found, each compared with the fact of its cycle.

        What is of no cycle was stored past all of them, or erased since it was found: then it is
        not found again.
        """
        await check_index(self._ledger, self._session_ref)
        found = await self._items.search(query, top_k)
        while found:
            ids = [item.id for item in found]
            origins = await self._origins.of(self._session_ref, ids)
            if sum(origin.items for origin in origins) < len(ids):
                again = await self._items.search(query, top_k)
                if again != found:
                    found = again
                    continue
            await check_items(self._ledger, self._session_ref, found)
            self._given.append((ids, origins))
            break
        return found

    async def have_moved(self) -> bool:
        """Whether the names of the sources have other entries now, and their items are still there.

        So it is where another attempt at such a cycle failed after it had landed. From then on
        `sources` says how it is now. A cycle that was erased has no items any more, and one that
        landed anew has others.
        """
        before = self.sources
        now = [(ids, await self._origins.of(self._session_ref, ids)) for ids, _ in self._given]
        if list(map(_items_of, now)) != list(map(_items_of, self._given)):
            return False
        self._given = now
        return self.sources != before


class NotedRecall:
    """Governed memory, where it is noted which traces a cycle rests on: it goes with each."""

    def __init__(self, memory: Recalls, about: str | None) -> None:
        self._memory = memory
        self._about = about
        self.traces: list[Expected] = []

    async def recall(self, query: str, top_k: int) -> MemoryAnswer:
        answer, trace = await self._memory.recall(query, top_k, self._about)
        self.traces.append(trace)
        return answer


def _items_of(given: _Given) -> list[tuple[str, int]]:
    """How many of these items each cycle stored, whatever the entries of its name are."""
    return [(origin.cycle, origin.items) for origin in given[1]]
