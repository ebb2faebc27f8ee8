"""What a recall comes to: an outcome, what was selected, and the trace of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar

from memoranda.journeys.recall.verification import Shown
from memoranda.kernel.errors import RecallFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, html_table
from memoranda.ledger.object import Trust
from memoranda.recall.frame import Framed, framed
from memoranda.recall.selector import Outcome
from memoranda.recall.sureness import Sureness, sureness
from memoranda.recall.trace import (
    MemoryRef,
    MemoryTrace,
    SelectedMemory,
    VerificationEvidence,
)

T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Item(Result, Generic[T]):
    """One memory that was selected: what it says is an interpretation until `original` is read."""

    traced: Mapping[str, JsonValue]
    """As it stands in the journal, as JSON: who verified it and when, without the proof."""
    data: T
    """What the record says; of a world, the state that was reached."""
    said: JsonValue
    """The same, as JSON."""
    text: str
    kind: Literal["record", "world"]
    id: str
    """The record's id; of a world, that of the execution that reached it."""
    version: int | None
    seq: int
    """The entry of the journal that holds it."""
    created_at: int
    score: float | None
    trust: Trust
    origin: str
    source: str
    """What is noted where it is read: the record's id, or the name of what left the world."""
    why_not_verified: str | None = None
    shown: Shown | None = None
    """What a proof of it is made of."""
    tags: tuple[str, ...] = ()
    meta: Mapping[str, JsonValue] = field(default_factory=dict)
    subject: str | None = None
    """Whom the record is about."""

    @cached_property
    def evidence(self) -> VerificationEvidence | None:
        """The proof, which anybody can check without any store; None where it can't be proved."""
        return None if self.shown is None else self.shown.evidence()

    @cached_property
    def selected(self) -> SelectedMemory:
        """The selection as a value."""
        return SelectedMemory.from_wire(self.traced)

    @property
    def ref(self) -> MemoryRef:
        """Where the original is."""
        return self.selected.ref

    @property
    def reason(self) -> str:
        """Why it was selected."""
        return str(self.traced["reason"])

    @property
    def confidence(self) -> float:
        """How probable it is that it holds what was asked, from 0 to 1, to whoever selected it."""
        return float(self.traced["confidence"])

    @property
    def sureness(self) -> Sureness:
        """The same in a word: likely, maybe or weak."""
        return sureness(self.confidence)

    @property
    def verified(self) -> bool:
        """Whether its original was verified."""
        return bool(self.traced["verified"])

    def wire_members(self) -> Mapping[str, object]:
        """All of it but the proof; what is not known of it is left out."""
        members = {
            "ref": self.ref,
            "kind": self.kind,
            "id": self.id,
            "data": self.said,
            "reason": self.reason,
            "confidence": self.confidence,
            "sureness": self.sureness,
            "verified": self.verified,
            "trust": self.trust,
            "created_at": self.created_at,
            "version": self.version,
            "score": self.score,
            "why_not_verified": self.why_not_verified,
            "subject": self.subject,
            "tags": self.tags or None,
            "meta": self.meta or None,
        }
        return {name: value for name, value in members.items() if value is not None}

    def row(self) -> Mapping[str, object]:
        """What it says, and how sure that is."""
        return {
            "id": self.id,
            "data": self.said,
            "reason": self.reason,
            "confidence": f"{self.confidence:.2f}",
            "trust": self.trust,
            "verified": self.verified,
        }


@dataclass(frozen=True, repr=False)
class Recalled(Result, Generic[T]):
    """A recall that is on record. Iterating over it gives its items, the best first."""

    trace_id: str
    outcome: Outcome
    traced: Mapping[str, Any]
    """The trace as it stands in the journal, as JSON, without proofs."""
    notes: Sequence[str] = ()
    """Why it is degraded."""
    error: str | None = None
    """Why it failed."""
    details: Mapping[str, JsonValue] = field(default_factory=dict)
    selected_items: tuple[Item[T], ...] = ()
    """What was selected; none where it failed. `items` is for whoever uses them."""
    seq: int = -1
    """The entry of the journal that holds the trace."""

    @cached_property
    def journaled(self) -> MemoryTrace:
        """The trace as it stands in the journal, as a value."""
        return MemoryTrace.from_wire(self.traced)

    @cached_property
    def trace(self) -> MemoryTrace:
        """The trace with all proofs: what a proposal carries."""
        selected = [
            SelectedMemory(
                ref=item.ref,
                reason=item.reason,
                confidence=item.confidence,
                verified=item.verified,
                evidence=item.evidence,
            )
            for item in self.selected_items
        ]
        light = self.journaled
        return MemoryTrace(
            selector=light.selector,
            query=light.query,
            selected_at=light.selected_at,
            at_world_id=light.at_world_id,
            selected=selected,
        )

    @property
    def items(self) -> tuple[Item[T], ...]:
        """What was selected, the best first; RecallFailed where it failed.

        An error is never an empty list.
        """
        if self.outcome == "failed":
            raise RecallFailed(self.trace_id, self.error or "nobody knows why")
        return self.selected_items

    def __iter__(self) -> Iterator[Item[T]]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @property
    def framed(self) -> str:
        """The memory as it is shown to a model: quoted data with its origin and trust."""
        return framed(
            [
                Framed(
                    item.text,
                    item.origin,
                    item.trust,
                    item.verified,
                    (item.kind,) * (item.kind == "world"),
                )
                for item in self.items
            ]
        )

    def wire_members(self) -> Mapping[str, object]:
        """All of it but the proofs; items only where it did not fail."""
        members: dict[str, object] = {
            "trace_id": self.trace_id,
            "outcome": self.outcome,
            "selector": self.journaled.selector,
            "query": self.journaled.query,
            "selected_at": self.journaled.selected_at,
            "at_world_id": self.journaled.at_world_id,
        }
        if self.notes:
            members["notes"] = self.notes
        if self.error is not None:
            return members | {"error": self.error}
        return members | {"items": self.selected_items}

    def _repr_html_(self) -> str:
        return html_table(self.selected_items)
