"""Recalling: a selector picks, what it picked is verified, and the trace is written (R-2).

Only then is anything handed out.

1. who asks, for what, and when
2. the selector picks; what it raises makes the outcome failed, never an empty list
3. what it picked is looked up, and verified                                      (M-1)
4. what may not be handed out is left out: unverified, beyond the budget or top_k
5. the trace is journaled, with the world that it was made at: no trace, no memory
6. the result
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, TypeVar

from recollect.identity import sha256_hex
from recollect.journeys.govern.conformance import Conformance
from recollect.journeys.govern.table import FilteredLedger
from recollect.journeys.intent.branching import GENESIS, Branches
from recollect.journeys.intent.chronicle import Chronicle
from recollect.journeys.intent.recalling import described
from recollect.journeys.intent.runtime import Genesis
from recollect.journeys.recall.documents import traced
from recollect.journeys.recall.recalled import Item, Recalled
from recollect.journeys.recall.resolving import Resolved, Resolving, Unresolved
from recollect.journeys.recall.sources import ScopeSources, accepting
from recollect.journeys.recall.verifying import Candidate, Tree, Verified, Verifying
from recollect.journeys.records.codec import DataCodec
from recollect.kernel.actors import ActorRef
from recollect.kernel.clock import Clock
from recollect.kernel.errors import (
    CapabilityMissing,
    InvalidInput,
    MarkMoved,
    StoreClosed,
    WorldErased,
)
from recollect.kernel.ids import IdSource
from recollect.kernel.json import JsonValue
from recollect.kernel.reach import check_reach, reached
from recollect.ledger.trust import trust_of
from recollect.recall.budget import Count, estimate, fits
from recollect.recall.meaning import Meaning
from recollect.recall.proof import Method
from recollect.recall.selector import (
    Constraints,
    Outcome,
    Request,
    Selection,
    Selector,
    check_query,
    check_top_k,
)
from recollect.recall.trace import MemoryTrace, SelectedMemory, VerificationEvidence
from recollect.worlds.world import MAIN

T = TypeVar("T")

EMPTY: Final = Genesis(sha256_hex(b"recollect/empty-domain/1"), {}, {})
"""What a scope begins with that has run nothing yet."""

INCLUSION: Final[Method] = "inclusion"
"""How memory is verified."""

AGAIN: Final = 5
"""How often a selection is made again because something of it was erased meanwhile."""

log = logging.getLogger("recollect.recall")


class _Picked(NamedTuple):
    """What is left of a selection, and what is said of it."""

    items: Sequence[tuple[Resolved, Verified]]
    tree: Tree | None
    notes: Sequence[str]
    error: str | None
    selection: Selection


class Recaller(Generic[T]):
    """Recalls the memory of one scope."""

    def __init__(
        self,
        ledger: FilteredLedger,
        chronicle: Chronicle,
        conformance: Conformance,
        codec: DataCodec[T],
        clock: Clock,
        ids: IdSource,
        meaning: Meaning | None = None,
    ) -> None:
        self._ledger = ledger
        self._chronicle = chronicle
        self._conformance = conformance
        self._codec = codec
        self._clock = clock
        self._ids = ids
        self._meaning = meaning
        self._branches = Branches(chronicle)
        self._resolving = Resolving(ledger, chronicle)
        self.verifying: Final = Verifying(ledger)

    async def recall(
        self,
        query: str,
        selector: Selector,
        *,
        top_k: int,
        constraints: Constraints,
        by: ActorRef,
        reasoning_id: str | None = None,
        count: Count = estimate,
    ) -> Recalled[T]:
        """Select memory for a question; InvalidFilter for what can't be asked."""
        check_query(query)
        check_top_k(top_k)
        check_reach()
        for _ in range(AGAIN):
            # 1.
            at = self._clock.now_ms()
            accepts = accepting(constraints, at)
            request = Request(query, top_k, at, by, constraints, accepts)
            # 2. to 4.
            picked = await self._picked(request, selector, count)
            # 5.
            world = await self._at_world(by, at)
            recalled = self._recalled(request, selector, world, picked)
            try:
                seq = await self._write(recalled, picked.items, by, reasoning_id)
            except (WorldErased, MarkMoved):
                continue  # something of it was erased meanwhile: it must not be told of
            # 6.
            reached(one.id for one, _ in picked.items if one.kind == "record")
            return replace(recalled, seq=seq)
        raise WorldErased("memory", "what was selected, again and again")

    async def _at_world(self, by: ActorRef, at: int) -> str:
        """The head of the main branch; where nothing was run yet, the genesis of nothing."""
        try:
            head = await self._chronicle.head(MAIN)
        except WorldErased:
            head = None
        if head is None:
            head = await self._branches.opened(GENESIS, EMPTY, actor=str(by), at=at)
        return head.world

    async def _picked(self, request: Request, selector: Selector, count: Count) -> _Picked:
        constraints = request.constraints
        sources = ScopeSources(self._ledger, self._chronicle, self._meaning, constraints.as_of)
        # 2.
        try:
            selection = await selector.select(request, sources)
            _check(selection)
        except (InvalidInput, StoreClosed, CapabilityMissing):
            raise  # wrong use: nothing was selected, and nothing is told
        except Exception as error:
            log.warning("a selector failed", exc_info=error)
            return _Picked((), None, (), described(error), Selection(()))
        # 3.
        notes = list(selection.notes)
        resolved, named = [], set[str]()
        for chosen in selection.chosen:
            found = await self._resolving.resolved(chosen, request)
            if isinstance(found, Unresolved):
                notes.append(f"{found.name} was selected, and is left out: {found.why}")
            elif found.ref.world_id not in named:
                named.add(found.ref.world_id)
                resolved.append(found)
        broken = next(iter((await self._conformance.state()).breaks.values()), None)
        if broken is not None:
            notes.append(f"a conformance break stands: {broken}")
        verified, tree = await self.verifying.verified(
            [Candidate(one.ref, one.seq, one.against, one.snapshot) for one in resolved],
            by=selector.actor or request.by,
            at=request.at,
            broken=broken,
        )
        # 4.
        items = [
            (one, proved)
            for one, proved in zip(resolved, verified, strict=True)
            if one.chosen.confidence >= constraints.min_confidence
            and not (constraints.verified_only and not _is_trusted(one, proved))
        ][: request.top_k]
        if constraints.token_budget is not None:
            room = fits([one.text for one, _ in items], constraints.token_budget, count)
            items = items[:room]
        return _Picked(items, tree, notes, None, selection)

    def _recalled(
        self, request: Request, selector: Selector, world: str, picked: _Picked
    ) -> Recalled[T]:
        who = selector.actor or request.by
        by = VerificationEvidence(method=INCLUSION, verified_at=request.at, verified_by=who)
        selected = [
            SelectedMemory(
                ref=one.ref,
                reason=one.chosen.reason,
                confidence=one.chosen.confidence,
                verified=proved.is_verified,
                evidence=None if proved.shown is None else by,
            )
            for one, proved in picked.items
        ]
        trace = MemoryTrace(
            selector=who,
            query=request.query,
            selected_at=request.at,
            at_world_id=world,
            selected=selected,
        )
        outcome: Outcome = "found" if selected else "empty"
        if picked.notes:
            outcome = "degraded"
        if picked.error is not None:
            outcome = "failed"
        items = tuple(
            self._item(memory, one, proved)
            for memory, (one, proved) in zip(selected, picked.items, strict=True)
        )
        return Recalled(
            f"trace-{self._ids.new_id()}",
            outcome,
            trace,
            tuple(picked.notes),
            picked.error,
            _details(request, selector, picked),
            items,
        )

    def _item(self, memory: SelectedMemory, one: Resolved, proved: Verified) -> Item[T]:
        data: Any = one.data if one.kind == "world" else self._codec.decode(one.data)
        return Item(
            memory,
            data,
            one.text,
            one.kind,
            one.id,
            one.version,
            one.seq,
            one.created_at,
            one.chosen.score,
            trust_of(one.trust),
            one.origin,
            proved.why_not,
            proved.shown,
        )

    async def _write(
        self,
        recalled: Recalled[T],
        items: Sequence[tuple[Resolved, Verified]],
        by: ActorRef,
        reasoning_id: str | None,
    ) -> int:
        fact = traced(
            recalled.trace_id,
            recalled.outcome,
            recalled.journaled,
            recalled.details,
            tuple(dict.fromkeys(one.input for one, _ in items)),
            reasoning_id,
        )
        committed = await self._chronicle.commit(
            self._chronicle.drafts([fact]),
            actor=str(by),
            at=recalled.journaled.selected_at,
            expects=[one.rests_on for one, _ in items if one.rests_on is not None],
            sources=tuple(dict.fromkeys(one.id for one, _ in items if one.kind == "record")),
        )
        return committed.places[0].seq


def _is_trusted(one: Resolved, proved: Verified) -> bool:
    """Whether it may be handed out where only verified memory may: nor is it untrusted."""
    return proved.is_verified and trust_of(one.trust) != "untrusted"


def _check(selection: Selection) -> None:
    """What a selector says must be sayable: a reason, and a confidence from 0 to 1 (CONF-RANGE)."""
    for one in selection.chosen:
        if not (isinstance(one.reason, str) and one.reason):
            raise ValueError(f"it gave no reason for {one.id or one.world}")
        if not 0 <= one.confidence <= 1:
            raise ValueError(f"its confidence in {one.id or one.world} is {one.confidence!r}")


def _details(request: Request, selector: Selector, picked: _Picked) -> dict[str, JsonValue]:
    """What `why` tells of a selection beside its trace."""
    asked = request.constraints
    given: dict[str, JsonValue] = {
        "minConfidence": asked.min_confidence or None,
        "verifiedOnly": asked.verified_only or None,
        "validAt": asked.valid_at,
        "asOf": asked.as_of,
        "tags": list(asked.tags) or None,
        "createdFrom": asked.created_from,
        "createdTo": asked.created_to,
        "tokenBudget": asked.token_budget,
    }
    details: dict[str, JsonValue] = {
        "selector": selector.name,
        "topK": request.top_k,
        "constraints": {name: value for name, value in given.items() if value is not None},
        "items": [_told(one, proved) for one, proved in picked.items],
        "below": [{"id": one.id, "score": one.score} for one in picked.selection.below],
    }
    if picked.tree is not None:
        details["size"], details["root"] = picked.tree.size, picked.tree.root
        if picked.tree.signed is not None:
            details["signed"] = picked.tree.signed
    if picked.notes:
        details["notes"] = list(picked.notes)
    if picked.error is not None:
        details["error"] = picked.error
    return details


def _told(one: Resolved, proved: Verified) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"kind": one.kind, "id": one.id, "seq": one.seq}
    if one.version is not None:
        told["version"] = one.version
    if one.chosen.score is not None:
        told["score"] = one.chosen.score
    if proved.why_not is not None:
        told["whyNot"] = proved.why_not
    return told
