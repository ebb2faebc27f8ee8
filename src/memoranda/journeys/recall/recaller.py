"""Recalling: a selector picks, what it picked is verified, and the trace is written (R-2).

Only then is anything handed out.

1. who asks, for what, and when
2. the selector picks; what it raises makes the outcome failed, never an empty list
3. what it picked is looked up, and verified                                      (M-1)
4. what may not be handed out is left out: unverified, of a page before, beyond the budget or
   top_k
5. the trace is journaled, with the world that it was made at: no trace, no memory
6. the result
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from memoranda.journeys.govern.about import check_name
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.journeys.intent import names
from memoranda.journeys.intent.branches import empty_world
from memoranda.journeys.intent.chronicle import MEMORY, Chronicle, world_reached
from memoranda.journeys.intent.documents import traced
from memoranda.journeys.intent.phases import observed_aside
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.recall.resolution import (
    Picked,
    Resolved,
    Resolving,
    Unresolved,
    details_of,
    failed_selection,
    is_trusted,
)
from memoranda.journeys.recall.sources import ScopeSources, accepting
from memoranda.journeys.recall.verification import (
    UnverifiedItem,
    Verified,
    Verifying,
    damaged,
    verified,
)
from memoranda.journeys.records.codec import DataCodec
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import (
    CapabilityMissing,
    EntryDamaged,
    InvalidFilter,
    InvalidInput,
    InvalidObject,
    MarkMoved,
    ReasoningClosed,
    WorldErased,
)
from memoranda.ledger.lifecycle import trust_of
from memoranda.ledger.port import Sight
from memoranda.ledger.unit import Current, Draft, Expected, Unit
from memoranda.recall.embedder import ROLE
from memoranda.recall.meaning import Meaning
from memoranda.recall.proof import Method
from memoranda.recall.selector import (
    Constraints,
    Count,
    Outcome,
    Request,
    Selection,
    Selector,
    check_offset,
    check_query,
    check_top_k,
    estimate,
    fits,
    well_formed,
)
from memoranda.worlds.snapshot import wire_of
from memoranda.worlds.world import MAIN

T = TypeVar("T")
Wire = dict[str, Any]

INCLUSION: Final[Method] = "inclusion"
"""How memory is verified."""

MANY: Final = 20
"""How many are named of what is left out."""

log = logging.getLogger("memoranda.recall")


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
        verifying: Verifying,
        meaning: Meaning | None = None,
        without_vector: Callable[[], None] = lambda: None,
    ) -> None:
        """`verifying` is shared by all handles of the scope.

        `without_vector` is called where something has no vector yet.
        """
        self._ledger = ledger
        self._without_vector = without_vector
        self._chronicle = chronicle
        self._conformance = conformance
        self._codec = codec
        self._clock = clock
        self._ids = ids
        self._meaning = meaning
        self._resolving = Resolving(ledger, chronicle)
        self.verifying: Final = verifying

    async def recall(
        self,
        query: str,
        selector: Selector,
        *,
        top_k: int,
        constraints: Constraints,
        by: ActorRef,
        offset: int = 0,
        branch: str = MAIN,
        about: str | None = None,
        reasoning_id: str | None = None,
        count: Count = estimate,
    ) -> Recalled[T]:
        """Select memory for a question; InvalidFilter for what can't be asked.

        The trace belongs to the person whom the question is about, and to the one whose records
        it is confined to.
        """
        check_query(query)
        check_top_k(top_k)
        check_offset(offset, top_k)
        _check_named("about", about)
        _check_named("subject", constraints.filter.subject)
        _check_named("reasoning_id", reasoning_id)
        subjects = [text for text in (about, constraints.filter.subject) if text is not None]
        check_reach()
        # 1.
        at = self._clock.now_ms()
        accepts = accepting(constraints, at)
        request = Request(query, offset + top_k, at, by, constraints, accepts, offset)
        # 2. to 4.
        picked = None
        while picked is None:
            picked = await self._picked(request, selector, count, branch)
        # 5.
        world = picked.world or await self._at_world(branch)
        while True:
            recalled = self._recalled(request, selector, world, picked)
            try:
                seq = await self._write(recalled, picked, at, str(by), reasoning_id, subjects)
            except (WorldErased, MarkMoved) as gone:
                if reasoning_id is not None and gone.name == names.concluded(reasoning_id):
                    raise ReasoningClosed(reasoning_id) from None
                picked = picked.without(gone.name)  # erased or forgotten meanwhile: not handed out
                continue
            # 6.
            if (model := picked.selection.model) is not None and model.without:
                self._without_vector()
            reached(picked.sources)
            return replace(recalled, seq=seq)

    async def _at_world(self, branch: str) -> str:
        """The head of a branch; where nothing was run yet, the genesis of nothing.

        Its id is the same everywhere, and follows from what anybody knows: a recall seals no world
        (MEM-AUTH-4).
        """
        try:
            head = await self._chronicle.head(branch)
        except WorldErased:
            head = None
        return empty_world() if head is None else head.world

    async def _picked(
        self, request: Request, selector: Selector, count: Count, branch: str
    ) -> Picked | None:
        """What is left of a selection; None where the models have changed that it was made by."""
        constraints = request.constraints
        state = await self._conformance.rulebook.known()
        declared = state.policies["models"].rules["roles"].get(ROLE)
        sources = ScopeSources(self._ledger, self._chronicle, self._meaning, request, declared)
        # 2.
        with observed_aside():  # what it looks at on its way is not what it picks
            try:
                selection = well_formed(await selector.select(request, sources))
            except CapabilityMissing:
                raise  # wrong use: nothing was selected, and there is no trace
            except Exception as error:  # noqa: BLE001 - whatever it is, it is on record
                return failed_selection(error)
        # 3.
        notes = list(selection.notes)
        if unreadable := sources.damaged:
            notes += [f"entry {lost.entry} is left out: {lost.why}" for lost in unreadable[:MANY]]
            if len(unreadable) > MANY:
                notes.append(f"{len(unreadable) - MANY:,} others are left out: they are damaged")
            await self._conformance.note_all(unreadable)
        resolved, left_out = await self._looked_up(selection, request, sources)
        if left_out:
            notes += [
                f"{one.name} was selected, and is left out: {one.why}" for one in left_out[:MANY]
            ]
            if len(left_out) > MANY:
                notes.append(f"{len(left_out) - MANY:,} others were selected, and are left out")
        stored = {item.seq for item in resolved if item.stored is not None}
        looked = await self.verifying.looked([item.seq for item in resolved], stored, branch)
        state = self._conformance.rulebook.state_by(looked.sight.notices)
        if state.policies["models"].rules["roles"].get(ROLE) != declared:
            return None
        broken = next(iter(state.breaks.values()), None)
        if broken is not None:
            notes.append(f"there is an open conformance break: {broken}")
        candidates = [
            UnverifiedItem(
                item.address,
                item.seq,
                item.against or damaged(state, item.seq),
                item.snapshot,
                item.stored,
            )
            for item in resolved
        ]
        by = selector.actor or request.by
        proved, tree = verified(looked, candidates, by=by, at=request.at, broken=broken)
        # 4.
        items = [
            (item, shown)
            for item, shown in zip(resolved, proved, strict=True)
            if item.chosen.confidence >= constraints.min_confidence
            and not (constraints.verified_only and not is_trusted(item, shown))
        ][request.offset : request.top_k]
        if constraints.token_budget is not None:
            try:
                room = fits([item.text for item, _ in items], constraints.token_budget, count)
            except InvalidInput:
                raise  # what counts is whoever asks to say, and it is no number
            except Exception as error:  # noqa: BLE001 - whatever it is, it is on record
                return failed_selection(error)
            items = items[:room]
        world = _world_in(looked.sight)
        return Picked(items, tree, notes, None, selection, world, declared is not None)

    async def _looked_up(
        self, selection: Selection, request: Request, sources: ScopeSources
    ) -> tuple[list[Resolved], list[Unresolved]]:
        """What a selector named, each once, and what of it is not handed out."""
        resolved: dict[str, Resolved] = {}
        left_out: list[Unresolved] = []
        for chosen in selection.chosen:
            found = await self._resolving.resolved(chosen, request, sources)
            if isinstance(found, Resolved) and found.kind == "record":
                found = self._readable(found)
            if isinstance(found, Unresolved):
                left_out.append(found)
            else:
                resolved.setdefault(found.address, found)
        return list(resolved.values()), left_out

    def _readable(self, found: Resolved) -> Resolved | Unresolved:
        """A record with its data as the handle has it: what is no `T` is not for this handle."""
        if isinstance(found.data, bytes):
            return found
        try:
            return found._replace(data=self._codec.decode(found.said))
        except InvalidInput:  # which may repeat words of it, and it is not in the trace
            return Unresolved(found.id, "its data are not what this handle reads")

    def _recalled(
        self, request: Request, selector: Selector, world: str, picked: Picked
    ) -> Recalled[T]:
        who = wire_of(selector.actor or request.by)
        evidence = {"method": INCLUSION, "verifiedAt": request.at, "verifiedBy": who}
        selected = [_selected(resolved, proved, evidence) for resolved, proved in picked.items]
        trace: Wire = {
            "selector": who,
            "query": request.query,
            "selectedAt": request.at,
            "atWorldId": world,
            "selected": selected,
        }
        outcome: Outcome = "found" if selected else "empty"
        if picked.notes:
            outcome = "degraded"
        if picked.error is not None:
            outcome = "failed"
        items = tuple(
            self._item(memory, resolved, proved)
            for memory, (resolved, proved) in zip(selected, picked.items, strict=True)
        )
        return Recalled(
            f"trace-{self._ids.new_id()}",
            outcome,
            trace,
            tuple(picked.notes),
            picked.error,
            details_of(request, selector, picked),
            items,
        )

    def _item(self, memory: Wire, resolved: Resolved, proved: Verified) -> Item[T]:
        return Item(
            memory,
            resolved.data,
            resolved.said,
            resolved.text,
            resolved.kind,
            resolved.id,
            resolved.version,
            resolved.seq,
            resolved.created_at,
            resolved.chosen.score,
            trust_of(resolved.trust),
            resolved.origin,
            resolved.input,
            proved.why_not,
            proved.shown,
            resolved.tags,
            resolved.meta,
            resolved.subject,
        )

    async def _write(
        self,
        recalled: Recalled[T],
        picked: Picked,
        at: int,
        by: str,
        reasoning_id: str | None,
        subjects: Sequence[str],
    ) -> int:
        fact = traced(
            recalled.trace_id,
            recalled.outcome,
            recalled.traced,
            recalled.details,
            picked.sources,
            reasoning_id=reasoning_id,
            subjects=subjects,
        )
        drafts = self._chronicle.drafts([fact])
        if (used := picked.selection.model) is not None and not picked.is_declared:
            # Logged with the trace where the scope declared no model before (GOV-BREAK).
            drafts = [*await self._conformance.used_models({ROLE: [used.model]}, at), *drafts]
        records = list(
            dict.fromkeys(resolved.id for resolved, _ in picked.items if resolved.kind == "record")
        )
        worlds = [resolved.newest for resolved, _ in picked.items if resolved.newest is not None]
        # Those of what was selected that had not come to an end when they were verified.
        active = {
            resolved.id
            for resolved, _ in picked.items
            if resolved.kind == "record" and not resolved.against
        }

        def decide(found: Sequence[Current | None]) -> Sequence[Draft]:
            for current in found:
                if current is None or current.status == "active":
                    continue
                if current.status == "erased" or current.id in active:
                    raise WorldErased(MEMORY, current.id)
            return drafts

        expected = list(dict.fromkeys(worlds))
        if reasoning_id is not None:
            expected.append(Expected(names.concluded(reasoning_id), None))
        committed = await self._chronicle.run(
            Unit(by, at, decide, records, expects=expected, is_short=True, reads_rows=True)
        )
        return committed.places[-1].seq


def _selected(resolved: Resolved, proved: Verified, evidence: Wire) -> Wire:
    """What a trace says of one memory (`recall.trace.SelectedMemory`), as JSON."""
    chosen = resolved.chosen
    says = {
        "ref": {"worldId": resolved.address},
        "reason": chosen.reason,
        "confidence": chosen.confidence,
        "verified": proved.why_not is None,
    }
    return says if proved.shown is None else says | {"evidence": evidence}


def _world_in(sight: Sight) -> str | None:
    """The head of the branch that was looked at."""
    if isinstance(sight.named, EntryDamaged):
        raise sight.named
    reached = None if sight.named is None else world_reached(sight.named)
    return empty_world() if reached is None else reached


def _check_named(place: str, name: str | None) -> None:
    try:
        check_name(name, f"$.{place}")
    except InvalidObject as refused:
        raise InvalidFilter(place, refused.why) from None
