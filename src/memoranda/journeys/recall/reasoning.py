"""A reasoning phase: memory is selected in it, and a proposal closes it (M-2, M-3).

What it used is observed, not declared: it knows what was recalled in it, and what was read beside
that, through any verb of any handle. A proposal has all traces of its phase; one that used memory
that no trace tells of is refused, and so is one that goes past the phase (`journeys.intent.phases`
says what does). A task that was started in a phase may live longer than it: then it proposes
nothing any more.
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, Generic, TypeVar, Unpack

from memoranda.journeys.govern.find import Filters, filter_of
from memoranda.journeys.govern.times import At, Moment, milliseconds_of, size_of
from memoranda.journeys.intent import names
from memoranda.journeys.intent.branches import check_free
from memoranda.journeys.intent.intents import Intents
from memoranda.journeys.intent.phases import (
    Around,
    beyond_phases,
    is_around,
    note_recall,
    reasoning_in,
)
from memoranda.journeys.intent.requests import (
    ABSENT,
    IntentRequest,
    Run,
    Submitted,
    Trace,
    Traced,
    request_key,
    request_of,
    resting_on,
)
from memoranda.journeys.recall.originals import Original, Originals
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.recall.recaller import Recaller
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import Observed, observed
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import (
    InvalidInput,
    ReasoningClosed,
    RecordError,
    TraceMissing,
    WorldError,
)
from memoranda.kernel.given import check_seconds
from memoranda.kernel.json import JsonValue
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Expected
from memoranda.recall.index import EVERYTHING
from memoranda.recall.selector import Constraints, Count, Selector, estimate
from memoranda.recall.selectors import USUAL, named
from memoranda.recall.trace import MemoryRef
from memoranda.worlds.world import MAIN

T = TypeVar("T")


def traced_by(found: Recalled[T]) -> Traced:
    return Traced(found.trace, Expected(names.trace(found.trace_id), found.seq))


class Phase(Generic[T]):
    """What was selected and read in one reasoning phase, and whether it is still open."""

    def __init__(self, reasoning_id: str) -> None:
        self.id: Final = reasoning_id
        self._recalled: list[Recalled[T]] = []
        self._seen = Observed()
        self._around: Sequence[Around] = ()
        self._is_open = True
        self._is_submitted = False
        self._is_over = False
        self._under_way = 0

    @contextmanager
    def observing(self) -> Iterator[None]:
        """What is read in this block is noted, and nobody proposes past the phase."""
        with observed(outward=True) as self._seen, reasoning_in(self) as self._around:
            try:
                yield
            finally:
                self._is_over = True

    @property
    def recalled(self) -> Sequence[Recalled[T]]:
        return tuple(self._recalled)

    @property
    def selected(self) -> Collection[str]:
        """What was selected in it: ids of records, and names."""
        return {item.source for recalled in self._recalled for item in recalled.selected_items}

    @property
    def traced(self) -> Sequence[Traced]:
        return [traced_by(recalled) for recalled in self._recalled]

    # ------------------------------------------------------------------------- selecting

    @asynccontextmanager
    async def selecting(self) -> AsyncIterator[None]:
        """A recall is under way: no proposal may be submitted until it is complete (M-3)."""
        self._check_open()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def add(self, found: Recalled[T]) -> None:
        """Take a recall that is complete; what comes too late is not handed out (M-3)."""
        self._check_open()
        self._recalled.append(found)

    def _check_open(self) -> None:
        """Refuse with ReasoningClosed once a proposal was submitted, or the phase is over (M-3)."""
        if self._is_over or not self._is_open:
            raise ReasoningClosed(self.id)

    # ------------------------------------------------------------------------- proposing

    @asynccontextmanager
    async def submitting(self, request: IntentRequest) -> AsyncIterator[IntentRequest]:
        """The request with all that the phase rests on; when it was submitted, the phase is closed.

        1. nothing was submitted yet                                       (M-3)
        2. whoever proposes is in the phase; no recall is under way, and
           what was read was selected: there is a trace of it, and it is
           no other phase's, around this one                               (M-2, M-3)
        3. all traces are attached, and the proposal goes with them
        4. what was refused was not submitted, and the phase is open again. Where nobody knows,
           it may be proposed again, but no more is selected               (M-3)
        """
        # 1.
        if self._is_over or self._is_submitted:
            raise ReasoningClosed(self.id)
        # 2.
        if not is_around(self):
            raise TraceMissing(
                "it is made in a task that was started outside of its reasoning phase, where"
                " nobody notes what is read; start the task in the phase"
            )
        for phase in self._around:
            phase.check_past(self.selected)
        self.check_complete(self.selected)
        # 3.
        was_open, self._is_open, self._is_submitted = self._is_open, False, True
        try:
            with beyond_phases():
                yield resting_on(request, self.traced)
        # 4.
        except (InvalidInput, RecordError, WorldError):
            self._is_open, self._is_submitted = was_open, False
            raise
        except BaseException:
            self._is_submitted = False
            raise

    def check_complete(self, reported: Collection[str]) -> None:
        """Refuse a proposal while it selects, or if it used any memory but this."""
        if self._under_way:
            raise TraceMissing("a recall of its reasoning phase is still under way")
        if unseen := self._unseen(reported):
            raise TraceMissing(f"it read {', '.join(unseen[:3])} past any recall")

    def check_past(self, reported: Collection[str]) -> None:
        """Refuse a proposal past it that tells of this memory only."""
        if self._is_over:
            raise TraceMissing(
                f"it is made in a task that outlived its reasoning phase {self.id};"
                " propose before the phase ends, or start the task outside of it"
            )
        if self._recalled or self._under_way or self._unseen(reported):
            raise TraceMissing(
                "memory was used in a reasoning phase that it goes past; propose through the phase"
            )

    def _unseen(self, reported: Collection[str]) -> list[str]:
        return [name for name in self._seen.ids if name not in reported]


class Reasoning(Generic[T]):
    """One reasoning phase: recall in it, then propose or act through it."""

    def __init__(
        self,
        phase: Phase[T],
        branch: str,
        intents: Intents,
        recall: Callable[..., Awaitable[Recalled[T]]],
        original: Callable[[MemoryRef | Item[T] | str], Awaitable[Original[T]]],
    ) -> None:
        self._phase = phase
        self.branch: Final = branch
        self._intents = intents
        self._recall = recall
        self._original = original

    @property
    def actor(self) -> ActorRef:
        """Who reasons, and proposes."""
        return self._intents.actor

    @property
    def id(self) -> str:
        """What it is called over the wire."""
        return self._phase.id

    @property
    def recalled(self) -> Sequence[Recalled[T]]:
        """What was recalled in it so far."""
        return self._phase.recalled

    async def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """The same as `memory.journal.original`."""
        return await self._original(ref)

    async def recall(self, query: str, *, top_k: int, **asked: Any) -> Recalled[T]:
        """The same as the handle's `recall`; ReasoningClosed once a proposal was submitted."""
        async with self._phase.selecting():
            found = await self._recall(query, top_k=top_k, reasoning_id=self.id, **asked)
            self._phase.add(found)
            return found

    async def propose(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Propose an action with all that was recalled, and close the phase (M-2, M-3).

        TraceMissing if memory was read that no recall tells of, or while one is under way.
        """
        request = request_of(action, input, reason, paths, self.actor, hints)
        key = request_key(idempotency_key, request, self.branch)
        async with self._phase.submitting(request) as complete:
            return await self._intents.submit(complete, self.branch, key, None)

    async def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        wait: float = 0.0,
        idempotency_key: str | None = None,
    ) -> Run:
        """The same, and run it once it is approved."""
        check_seconds("wait", wait)
        submitted = await self.propose(
            action,
            input,
            reason=reason,
            paths=paths,
            hints=hints,
            idempotency_key=idempotency_key,
        )
        return await self._intents.carry_on(submitted.proposal_id, wait=wait)


# ------------------------------------------------------------------------------------------------
# Recalling: memory is selected for a question, and the selection is on record.


class Recalling(Generic[T]):
    """Selects memory for one actor in one scope."""

    def __init__(
        self,
        recaller: Recaller[T],
        originals: Originals[T],
        ledger: Ledger,
        *,
        actor: ActorRef,
        clock: Clock,
        ids: IdSource,
        recalls: object,
    ) -> None:
        """`recalls` is what recalls of this actor here are known by, whichever handle made them."""
        self._recaller = recaller
        self._originals = originals
        self._ledger = ledger
        self._actor = actor
        self._clock = clock
        self._ids = ids
        self._recalls = recalls

    @contextmanager
    def reasoning(
        self,
        branch: str,
        intents: Intents,
        original: Callable[[MemoryRef | Item[T] | str], Awaitable[Original[T]]],
    ) -> Iterator[Reasoning[T]]:
        """A phase in which memory is selected; its proposal closes it and has all its traces."""
        check_free(branch)
        phase: Phase[T] = Phase(f"reasoning-{self._ids.new_id()}")
        with phase.observing():
            recall = partial(self.recall, branch=branch)
            yield Reasoning(phase, branch, intents, recall, original)

    async def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """What a reference, or an item, leads to: loaded and verified in one call (M-1)."""
        if isinstance(ref, Item):
            seq = ref.seq if ref.kind == "record" else None
            return await self._originals.load(ref.ref, by=self._actor, seq=seq)
        given = ref if isinstance(ref, MemoryRef) else MemoryRef(world_id=ref)
        return await self._originals.load(given, by=self._actor)

    async def recall(
        self,
        query: str,
        *,
        top_k: int,
        branch: str = MAIN,
        reasoning_id: str | None = None,
        selector: str | Selector = USUAL,
        offset: int = 0,
        min_confidence: float = 0.0,
        verified_only: bool = False,
        valid_at: Moment | None = None,
        at: At | None = None,
        token_budget: int | None = None,
        count_tokens: Count = estimate,
        about: str | None = None,
        **filters: Unpack[Filters],
    ) -> Recalled[T]:
        """Select memory as `Memory.recall` says.

        Outside of a reasoning phase, a later proposal of the same actor may rest on it. In a phase,
        ReasoningClosed if a proposal has closed it by its name.
        """
        if branch != MAIN:
            check_free(branch)
        now = self._clock.now_ms()
        constraints = Constraints(
            min_confidence=min_confidence,
            verified_only=verified_only,
            valid_at=None if valid_at is None else milliseconds_of(valid_at, now),
            as_of=None if at is None else await size_of(self._ledger, at, now),
            filter=filter_of(filters, now) if filters else EVERYTHING,
            token_budget=token_budget,
        )
        found = await self._recaller.recall(
            query,
            named(selector),
            top_k=top_k,
            offset=offset,
            constraints=constraints,
            by=self._actor,
            branch=branch,
            about=about,
            reasoning_id=reasoning_id,
            count=count_tokens,
        )
        if reasoning_id is None:
            note_recall(self._recalls, found.traced["selectedAt"], partial(traced_by, found))
        return found
