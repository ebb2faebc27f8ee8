"""What a proposal rests on, and what its run is given of it.

Recalls are named by themselves or by the ids of their traces; a trace that was made by hand is
confirmed first. A run without a provider of its own gets the versions that were selected.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from memoranda.journeys.intent import names
from memoranda.journeys.intent.branches import empty_world
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import TRACE, FoundFact, fact_of_type
from memoranda.journeys.intent.requests import Confirmed, Traced
from memoranda.journeys.recall.originals import Original, Originals
from memoranda.journeys.recall.reasoning import traced_by
from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import observed
from memoranda.kernel.errors import (
    InvalidProof,
    InvalidWorld,
    MemorandaError,
    RecordNotFound,
    TraceMissing,
    WorldErased,
    WorldNotFound,
)
from memoranda.kernel.json import JsonValue, path
from memoranda.ledger.unit import Expected
from memoranda.recall.provider import MemoryExperience, MemoryProvider, MemoryQuery
from memoranda.recall.trace import MemoryTrace, SelectedMemory

T = TypeVar("T")


class ScopeSelections(Generic[T]):
    """The selections of one scope, for one actor."""

    def __init__(
        self,
        chronicle: Chronicle,
        originals: Originals[T],
        actor: ActorRef,
    ) -> None:
        self._chronicle = chronicle
        self._originals = originals
        self._actor = actor

    # ------------------------------------------------------------------ what is rested on

    async def traced(self, given: object, /) -> Traced:
        """The selection that a recall, or the id of a trace, stands for.

        InvalidWorld for what is neither; WorldNotFound, or WorldErased, for a trace that is not
        there.
        """
        if isinstance(given, Recalled):
            return traced_by(given)
        if not isinstance(given, str):
            why = f"it is a recall or the id of a trace, not a {type(given).__name__}"
            raise InvalidWorld("$.memory", f"{why}; give () for none")
        found = await self._chronicle.found(names.trace(given))
        return await self._traced_in(fact_of_type(found, TRACE, given, "trace"))

    async def of_phase(self, reasoning_id: str, /) -> Sequence[Traced]:
        """All selections of a reasoning phase, the first one first.

        TraceMissing where nothing was selected in it, and where it is another actor's.
        """
        facts = await self._chronicle.found(names.reasoning(reasoning_id))
        if not facts:
            raise TraceMissing(f"nothing was recalled in the reasoning phase {reasoning_id}")
        if {fact.entry.actor for fact in facts} != {str(self._actor)}:
            raise TraceMissing(f"the reasoning phase {reasoning_id} is another actor's")
        return [await self._traced_in(fact) for fact in facts]

    async def _traced_in(self, fact: FoundFact) -> Traced:
        """The selection that a fact tells of, with proofs of now."""
        trace = MemoryTrace.from_wire(fact.document["trace"])
        seqs = [int(item["seq"]) for item in fact.document["details"]["items"]]
        loaded = await self._loaded(trace, seqs)
        selected = [
            _proved(memory, now) for memory, now in zip(trace.selected, loaded, strict=True)
        ]
        name = names.trace(fact.document["traceId"])
        return Traced(_with(trace, selected), Expected(name, fact.seq))

    async def confirmed(self, trace: MemoryTrace, where: str, at: int, /) -> Confirmed:
        """A trace that was made by hand, as far as this scope can confirm it; else InvalidWorld.

        1. it was selected before it is submitted                             (C-4)
        2. the world that it was selected at is one of this scope's
        3. what was selected is known here                                    (C-3)
        4. what is called verified is verified by us: the proof is ours
        """
        # 1.
        if trace.selected_at > at:
            why = "it is later than the proposal; a selection is complete before that (C-4)"
            raise InvalidWorld(f"{where}.selectedAt", why)
        # 2.
        world = trace.at_world_id
        if world != empty_world() and not await self._chronicle.is_there(names.world(world)):
            raise InvalidWorld(f"{where}.atWorldId", "this scope has no such world")
        # 3.
        selected, sources = [], []
        loaded = await self._loaded(trace)
        for number, (memory, now) in enumerate(zip(trace.selected, loaded, strict=True)):
            here = f"{where}.{path('selected', number)}"
            if isinstance(now, RecordNotFound):
                why = "this scope knows no world and no record of this address (C-3)"
                raise InvalidWorld(f"{here}.ref.worldId", why)
            if isinstance(now, MemorandaError):
                raise now
            # 4.
            if memory.verified and not now.verified:
                raise InvalidWorld(f"{here}.verified", f"it is not verified: {now.why_not}")
            selected.append(_proved(memory, now))
            sources.append(now.source)
        return Confirmed(_with(trace, selected), sources)

    async def _loaded(
        self, trace: MemoryTrace, seqs: Sequence[int] | None = None
    ) -> list[Original[T] | MemorandaError]:
        """What a trace selected, as it is now; nobody is shown it by that."""
        refs = [selected.ref for selected in trace.selected]
        with observed():
            return await self._originals.load_all(refs, by=self._actor, seqs=seqs)

    # ----------------------------------------------------------------- what a run is given

    def provider(self, traces: Sequence[MemoryTrace], /) -> MemoryProvider[JsonValue]:
        return _Selected(self, traces)

    async def selected(self, traces: Sequence[MemoryTrace]) -> dict[str, JsonValue]:
        """The versions that were selected, each once, verified again; and what can't be had."""
        chosen: dict[str, SelectedMemory] = {}
        for trace in traces:
            for selected in trace.selected:
                chosen.setdefault(selected.ref.world_id, selected)
        refs = [selected.ref for selected in chosen.values()]
        loaded = await self._originals.load_all(refs, by=self._actor)
        items: list[JsonValue] = []
        left_out: list[JsonValue] = []
        for selected, now in zip(chosen.values(), loaded, strict=True):
            if isinstance(now, MemorandaError):
                left_out.append({"ref": selected.ref.to_wire(), "why": _why(now)})
            else:
                items.append(_item(selected, now))
        return {"items": items, "leftOut": left_out}


class _Selected(MemoryProvider[JsonValue]):
    """The provider of a run that has no other: what was selected for its proposal (D-MEM-3)."""

    def __init__(self, selections: ScopeSelections[Any], traces: Sequence[MemoryTrace]) -> None:
        self._selections = selections
        self._traces = traces

    async def recall(self, query: MemoryQuery) -> JsonValue:
        """What the traces selected, whatever the run is about to do."""
        del query
        return await self._selections.selected(self._traces)

    async def remember(self, experience: MemoryExperience) -> None:
        """Nothing: the run is on record."""


def _item(selected: SelectedMemory, now: Original[Any]) -> dict[str, JsonValue]:
    """A memory as an action reads it: as a recall shows it, but for its rank."""
    item: dict[str, JsonValue] = {
        "ref": selected.ref.to_wire(),
        "kind": now.kind,
        "id": now.source.partition("/")[2] if now.record is None else now.source,
        "data": now.said,
        "reason": selected.reason,
        "confidence": selected.confidence,
        "verified": now.verified,
    }
    if now.record is not None:
        item |= {"version": now.record.version, "trust": now.record.trust}
        item["createdAt"] = now.record.created_at
    if now.why_not is not None:
        item["whyNotVerified"] = now.why_not
    return item


def _why(missing: MemorandaError) -> str:
    match missing:
        case WorldErased():
            return "it was erased"
        case RecordNotFound() | WorldNotFound():
            return "it is not there"
        case InvalidProof():
            return "it is not what was selected"
        case _:
            return "its data are not what this handle reads"


def _proved(selected: SelectedMemory, now: Original[Any] | MemorandaError) -> SelectedMemory:
    """A selection with our own proof; verified is what was so then, and is so now."""
    is_verified = selected.verified and isinstance(now, Original) and now.verified
    evidence = now.evidence if isinstance(now, Original) else None
    return selected.model_copy(update={"verified": is_verified, "evidence": evidence})


def _with(trace: MemoryTrace, selected: Sequence[SelectedMemory]) -> MemoryTrace:
    return trace.model_copy(update={"selected": tuple(selected)})
