"""Policies that judge by the trace of a proposal, and by nothing else (M-4).

Each is a policy for `AllOf`, `AnyOf` and the others of `worlds`, and a condition for their rules::

    AllOf([RequiresVerified(when=RiskAtLeast("high", "risk", assess)), AllowedSelectors("agent:a")])
    AnyOf([MinimumConfidence(0.9), HumanInTheLoop("human:ann")])
    PolicyRules([PolicyRule(MaximumAge(DAY), "approve")], default="escalate", escalate_to=…)

Where `when` holds, or where there is none, the memory must be as the policy says; a rejection names
the memory that is not. What is no trace is rejected by every one of them, whatever `when` says. A
proposal without a trace used no memory, and there is nothing to object to: that it used some after
all is found where it is submitted (M-2). Where a proposal rests on several traces, each is judged.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, Final, Literal, get_args

from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidProof, InvalidWorld
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.ledger.signed_note import SignedNote, Verifier, check_signatures
from memoranda.recall.proof import proof_in
from memoranda.recall.proof_check import check_proof, check_signed
from memoranda.recall.trace import MemoryTrace, SelectedMemory, VerificationEvidence, traces_in
from memoranda.worlds.authority import (
    Approved,
    Asked,
    Condition,
    InOwnName,
    Rejected,
    Verdict,
    asked_scope,
    is_among,
)
from memoranda.worlds.composites import Evaluators, condition_from_wire, read_back
from memoranda.worlds.snapshot import same_actor, wire_of

MODE: Final = "memory"
"""The ``mode`` of all of them; ``kind`` says which one it is."""

Aged = Literal["memory", "selection"]
"""What an age is of."""

_PLACE: Final[dict[Aged, str]] = {"memory": "", "selection": "of "}
_ENDED: Final = frozenset({"invalidate", "archive"})


@dataclass(frozen=True)
class MemoryPolicy(InOwnName, ABC):
    """What all of them have: when it is asked, in whose name, and how it judges."""

    kind: ClassVar[str]

    _: KW_ONLY
    when: Condition | None = None
    authority_id: str = MODE

    def judge(self, asked: Asked, /) -> Verdict:
        for objection in self.objections(asked):
            return Rejected(objection, self.authority)
        return Approved("nothing against its memory", asked_scope(asked), self.authority)

    def may_vote(self, _asked: Asked, _actor: ActorRef, /) -> str | None:
        return "it is decided by the trace of its memory"

    def holds(self, asked: Asked, /) -> bool:
        return next(self.objections(asked), None) is None

    def objections(self, asked: Asked) -> Iterator[str]:
        """Everything against the memory of a proposal, each naming the memory it is about."""
        trace = asked.proposal.trace
        try:
            traces = traces_in(None if trace is None else trace.context)
        except InvalidWorld as refused:
            yield f"the trace of its memory is not valid: {refused.why}, at {refused.where}"
            return
        if not traces or (self.when is not None and not self.when.holds(asked)):
            return
        with out_of_reach("an authority"):
            found = [objection for trace in traces for objection in self._against(trace, asked)]
        yield from found

    def to_wire(self) -> dict[str, JsonValue]:
        """Its kind and how it is set; `memory_policy_from_wire` reads it."""
        wire: dict[str, JsonValue] = {
            "mode": MODE,
            "kind": self.kind,
            "authorityId": self.authority_id,
            **self._settings(),
        }
        return wire if self.when is None else {**wire, "when": self.when.to_wire()}

    @abstractmethod
    def _against(self, trace: MemoryTrace, asked: Asked) -> Iterator[str]:
        """What is against a trace."""

    def _settings(self) -> dict[str, JsonValue]:
        return {}


@dataclass(frozen=True)
class RequiresVerified(MemoryPolicy):
    """Each memory was verified, and its proof holds here too, by itself (M-1, M-4)."""

    kind: ClassVar[str] = "requires_verified"

    def _against(self, trace: MemoryTrace, _asked: Asked) -> Iterator[str]:
        for selected in trace.selected:
            if (why := _unproved(selected)) is not None:
                yield f"the memory {selected.ref.world_id} is not verified: {why}"


def signed_by_one_of(known: Iterable[Verifier]) -> Callable[[SignedNote], bool]:
    """Whether one of these keys signed a note, and no signature of them fails."""
    keys = tuple(known)
    return lambda note: check_signatures(note, keys).standing == "signed"


@dataclass(frozen=True)
class RequireSigned(MemoryPolicy):
    """A checkpoint that somebody known has signed covers each memory.

    The function says whether a known key signed a note, such as `signed_by_one_of` makes it; its
    name is written down, as that of `Custom` is. That the proof holds is checked as well.
    """

    kind: ClassVar[str] = "require_signed"

    name: str
    signed_by: Callable[[SignedNote], bool] = field(repr=False, compare=False)

    def _against(self, trace: MemoryTrace, _asked: Asked) -> Iterator[str]:
        for selected in trace.selected:
            why = _unproved(selected) or self._unsigned(selected.evidence)
            if why is not None:
                yield f"the memory {selected.ref.world_id} is not signed for: {why}"

    def _unsigned(self, evidence: VerificationEvidence | None) -> str | None:
        if evidence is None:
            return "there is no evidence"
        try:
            check_signed(evidence, self.signed_by)
        except InvalidProof as refused:
            return refused.why
        return None

    def _settings(self) -> dict[str, JsonValue]:
        return {"evaluator": self.name}


@dataclass(frozen=True)
class MinimumConfidence(MemoryPolicy):
    """Whoever selected was at least this sure of each memory."""

    kind: ClassVar[str] = "minimum_confidence"

    minimum: float

    def __post_init__(self) -> None:
        if type(self.minimum) not in (int, float) or not 0 <= self.minimum <= 1:
            raise InvalidWorld("$.minimum", "a confidence is a number from 0 to 1")

    def _against(self, trace: MemoryTrace, _asked: Asked) -> Iterator[str]:
        for selected in trace.selected:
            if selected.confidence < self.minimum:
                yield (
                    f"the memory {selected.ref.world_id} was selected with a confidence of "
                    f"{selected.confidence:g}, below {self.minimum:g}"
                )

    def _settings(self) -> dict[str, JsonValue]:
        return {"minimum": self.minimum}


@dataclass(frozen=True)
class MaximumAge(MemoryPolicy):
    """Each memory is at most this old when the proposal is submitted.

    Of the memory: since its entry was written, as its proof shows; of the selection: since it was
    made. It is judged by the time of submission, so that it does not change while somebody votes.
    What is of a later time is as little believed as what is too old (M-3).
    """

    kind: ClassVar[str] = "maximum_age"

    milliseconds: int
    of: Aged = "memory"

    def __post_init__(self) -> None:
        if type(self.milliseconds) is not int or not 0 <= self.milliseconds <= MAX_INTEGER:
            raise InvalidWorld("$.milliseconds", "an age is a whole number of milliseconds")
        if self.of not in get_args(Aged):
            raise InvalidWorld("$.of", f"it is one of {', '.join(get_args(Aged))}")

    def _against(self, trace: MemoryTrace, asked: Asked) -> Iterator[str]:
        for selected in trace.selected:
            at: int | str = trace.selected_at
            if self.of == "memory":
                at = _written_at(selected)
            if isinstance(at, str):
                yield f"how old the memory {selected.ref.world_id} is was not shown: {at}"
            elif not 0 <= (age := asked.submitted_at - at) <= self.milliseconds:
                how = f"is {age} ms old" if age > 0 else "is of a time that had not come"
                yield f"the {self.of} {_PLACE[self.of]}{selected.ref.world_id} {how}"

    def _settings(self) -> dict[str, JsonValue]:
        return {"milliseconds": self.milliseconds, "of": self.of}


@dataclass(frozen=True)
class AllowedSelectors(MemoryPolicy):
    """Only these select memory: by id and kind, whatever they are called."""

    kind: ClassVar[str] = "allowed_selectors"

    selectors: Sequence[ActorRef | str] | ActorRef | str

    def __post_init__(self) -> None:
        given = self.selectors
        named = (given,) if isinstance(given, str | ActorRef) else given
        object.__setattr__(self, "selectors", tuple(parse_actor(actor) for actor in named))

    @property
    def _allowed(self) -> tuple[ActorRef, ...]:
        return self.selectors  # type: ignore[return-value]

    def _against(self, trace: MemoryTrace, _asked: Asked) -> Iterator[str]:
        if not is_among(trace.selector, self._allowed):
            yield f"{_selected(trace)} selected by {trace.selector}, who may not"

    def _settings(self) -> dict[str, JsonValue]:
        return {"selectors": [wire_of(actor) for actor in self._allowed]}


@dataclass(frozen=True)
class SelectorDiffersFromActor(MemoryPolicy):
    """Whoever proposes did not select the memory that it rests on (R-3)."""

    kind: ClassVar[str] = "selector_differs"

    def _against(self, trace: MemoryTrace, asked: Asked) -> Iterator[str]:
        if same_actor(trace.selector, asked.proposal.actor):
            yield f"{_selected(trace)} selected by {trace.selector}, who proposes it"


def _selected(trace: MemoryTrace) -> str:
    named = ", ".join(selected.ref.world_id for selected in trace.selected)
    return f"the memory {named} was" if named else "nothing was"


def _written_at(selected: SelectedMemory) -> int | str:
    """When a memory's entry was written, by its proof; or why that is not shown."""
    if selected.evidence is None:
        return "there is no evidence"
    try:
        proved = check_proof(proof_in(selected.evidence), ref=selected.ref)
    except InvalidProof as refused:
        return refused.why
    return "its proof names no entry" if proved.entry is None else proved.entry.at


def _unproved(selected: SelectedMemory) -> str | None:
    """Why a memory is not verified by what stands in the trace; None where it is.

    1. whoever selected it says that it is
    2. by an inclusion proof: the others don't show that it was ever on record
    3. which holds, and is of this memory
    4. whose entry does not end it
    """
    evidence = selected.evidence
    # 1.
    if not selected.verified:
        return "nobody says that it was verified"
    if evidence is None:
        return "there is no evidence"
    # 2.
    if evidence.method != "inclusion":
        return f"{evidence.method!r} does not prove that it is on record"
    # 3.
    try:
        proved = check_proof(proof_in(evidence), ref=selected.ref)
    except InvalidProof as refused:
        return refused.why
    # 4.
    if proved.entry is not None and proved.entry.kind in _ENDED:
        return f"its entry is of the kind {proved.entry.kind!r}"
    return None


# -------------------------------------------------------------------------- reading


def memory_policy_from_wire(wire: JsonValue, evaluators: Evaluators | None = None) -> MemoryPolicy:
    """The policy that `to_wire` wrote, or InvalidWorld where none of these writes that."""
    return read_back(_policy, wire, evaluators or {})


def _policy(wire: JsonValue, known: Evaluators) -> MemoryPolicy:
    if wire["mode"] != MODE:
        raise InvalidWorld("$.mode", f"it is not {MODE!r}")
    when = wire.get("when")
    condition = None if when is None else condition_from_wire(when, known)
    by = wire["authorityId"]
    match wire["kind"]:
        case RequiresVerified.kind:
            return RequiresVerified(when=condition, authority_id=by)
        case RequireSigned.kind:
            name = wire["evaluator"]
            if name not in known:
                raise InvalidWorld("$.evaluator", f"no function is handed in for {name!r}")
            return RequireSigned(name, known[name], when=condition, authority_id=by)
        case MinimumConfidence.kind:
            return MinimumConfidence(wire["minimum"], when=condition, authority_id=by)
        case MaximumAge.kind:
            return MaximumAge(wire["milliseconds"], wire["of"], when=condition, authority_id=by)
        case AllowedSelectors.kind:
            selectors = [ActorRef.model_validate(actor) for actor in wire["selectors"]]
            return AllowedSelectors(selectors, when=condition, authority_id=by)
        case SelectorDiffersFromActor.kind:
            return SelectorDiffersFromActor(when=condition, authority_id=by)
        case kind:
            raise InvalidWorld("$.kind", f"no policy of ours is of the kind {kind!r}")
