"""Recalling: memory is selected for a question, and the selection is on record."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Generic, TypeVar, Unpack

from memoranda.journeys.govern.find import Filters, filter_of
from memoranda.journeys.govern.times import At, Moment, milliseconds_of, size_of
from memoranda.journeys.intent.branches import check_free
from memoranda.journeys.intent.intents import Intents
from memoranda.journeys.intent.phases import note_recall
from memoranda.journeys.recall.originals import Original, Originals
from memoranda.journeys.recall.reasoning import Phase, Reasoning, traced_by
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.recall.recaller import Recaller
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock, IdSource
from memoranda.ledger.port import Ledger
from memoranda.recall.selector import Constraints, Count, Selector, estimate
from memoranda.recall.selectors import USUAL, named
from memoranda.recall.trace import MemoryRef
from memoranda.worlds.world import MAIN

T = TypeVar("T")


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
            recall = partial(self.recall, reasoning_id=phase.id, branch=branch)
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

        Outside of a reasoning phase, a later proposal of the same actor may rest on it.
        """
        check_free(branch)
        now = self._clock.now_ms()
        constraints = Constraints(
            min_confidence=min_confidence,
            verified_only=verified_only,
            valid_at=milliseconds_of(valid_at, now),
            as_of=None if at is None else await size_of(self._ledger, at, now),
            filter=filter_of(filters, now),
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
            note_recall(self._recalls, found.journaled.selected_at, partial(traced_by, found))
        return found
