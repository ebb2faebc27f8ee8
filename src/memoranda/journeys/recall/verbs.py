"""The verbs of a handle that recall: recall, reasoning, original."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Generic, TypeVar, Unpack

from memoranda.journeys.govern.filters import Filters, filter_of
from memoranda.journeys.govern.handle import noted
from memoranda.journeys.govern.moments import Moment, milliseconds_of
from memoranda.journeys.govern.sizes import At, size_of
from memoranda.journeys.intent.acting import (
    ABSENT,
    Acting,
    Submitted,
    Trace,
    request_key,
    wish_of,
)
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import check_free
from memoranda.journeys.intent.phases import note_recall
from memoranda.journeys.intent.proposing import Wish
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.reasoning import Phase, traced_by
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.given import check_seconds
from memoranda.kernel.json import JsonValue
from memoranda.kernel.retry import RetryKey
from memoranda.recall.budget import Count, estimate
from memoranda.recall.selector import Constraints, Selector
from memoranda.recall.selectors import USUAL, named
from memoranda.recall.trace import MemoryRef
from memoranda.worlds.world import MAIN

T = TypeVar("T")


class Recalling(Acting[T]):
    """The verbs of interpreted recall."""

    @noted
    async def recall(
        self,
        query: str,
        *,
        top_k: int,
        selector: str | Selector = USUAL,
        offset: int = 0,
        min_confidence: float = 0.0,
        verified_only: bool = False,
        valid_at: Moment | None = None,
        at: At | None = None,
        token_budget: int | None = None,
        count_tokens: Count = estimate,
        about: str | None = None,
        branch: str = MAIN,
        **filters: Unpack[Filters],
    ) -> Recalled[T]:
        """Select memory for a question; the selection is on record before it is handed out.

        `top_k` is always said; `offset` leaves out so many of the best, which were on a page
        before. `selector` is ``context``, ``full-text``, ``keyword``, ``recent``, ``worlds``, or
        any of your own. `at` asks what was known then, by a time or an entry, `valid_at` for what
        held then. `token_budget` is counted by an estimate, or by `count_tokens`.
        The filters are those of `list`: only what fits them is looked at.
        `about` is the person whom the question is about: it is erased with them, also if it found
        nothing; what is found does not depend on it. With `subject` only that person's records are
        looked at, and the question is erased with them as well.
        `branch` is the one that the work is for: the trace names its head.
        The outcome says found, empty, degraded or failed; a failed one has no items to ask for.
        Give the result to `act` or `propose` as `memory=`.
        """
        found = await self._recall(
            None,
            branch,
            query,
            top_k=top_k,
            selector=selector,
            offset=offset,
            min_confidence=min_confidence,
            verified_only=verified_only,
            valid_at=valid_at,
            at=at,
            token_budget=token_budget,
            count_tokens=count_tokens,
            about=about,
            **filters,
        )
        note_recall(self.app.recalls, found.journaled.selected_at, partial(traced_by, found))
        return found

    @asynccontextmanager
    async def reasoning(self, *, branch: str = MAIN) -> AsyncIterator["Reasoning[T]"]:
        """A phase in which memory is selected; its proposal closes it and has all its traces.

        `branch` is the one that it is for: traces name its head, and the proposal is made on it.
        """
        check_free(branch)
        phase: Phase[T] = Phase(f"reasoning-{self._ids.new_id()}")
        with phase.observing():
            yield Reasoning(
                phase,
                self.actor,
                branch,
                partial(self._recall, phase.id, branch),
                self._submit,
                self.app.carry_on,
                self.original,
            )

    @noted
    async def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """What a reference, or an item, leads to: loaded and verified in one call (M-1).

        RecordNotFound, WorldErased, or InvalidProof where it is not what the reference says.
        Where something else of the journal is damaged, it is not verified.
        """
        if isinstance(ref, Item):
            seq = ref.seq if ref.kind == "record" else None
            return await self._originals.load(ref.ref, by=self.actor, seq=seq)
        given = ref if isinstance(ref, MemoryRef) else MemoryRef(world_id=ref)
        return await self._originals.load(given, by=self.actor)

    async def _recall(
        self,
        reasoning_id: str | None,
        branch: str,
        query: str,
        *,
        top_k: int,
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
        return await self._recaller.recall(
            query,
            named(selector),
            top_k=top_k,
            offset=offset,
            constraints=constraints,
            by=self.actor,
            branch=branch,
            about=about,
            reasoning_id=reasoning_id,
            count=count_tokens,
        )


class Reasoning(Generic[T]):
    """One reasoning phase: recall in it, then propose or act through it."""

    def __init__(
        self,
        phase: Phase[T],
        actor: ActorRef,
        branch: str,
        recall: Callable[..., Awaitable[Recalled[T]]],
        submit: Callable[[Wish, str, RetryKey | None, object], Awaitable[Submitted]],
        carry_on: Callable[..., Awaitable[Run]],
        original: Callable[[MemoryRef | Item[T] | str], Awaitable[Original[T]]],
    ) -> None:
        self._phase = phase
        self.actor = actor
        self.branch = branch
        self._recall = recall
        self._submit = submit
        self._carry_on = carry_on
        self._original = original

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
            found = await self._recall(query, top_k=top_k, **asked)
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
        wish = wish_of(action, input, reason, paths, self.actor, hints)
        key = request_key(idempotency_key, wish, self.branch)
        async with self._phase.submitting(wish) as complete:
            return await self._submit(complete, self.branch, key, None)

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
        return await self._carry_on(submitted.proposal_id, wait=wait)
