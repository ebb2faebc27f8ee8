"""JSON Schemas of results: what doors say that an operation answers.

They follow from the fields of each result, as `Result.to_wire` writes them; where a result is
written in another way, its shape stands here. A test holds them against what the verbs return.
"""

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from memoranda.journeys.audit.verify import Report
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.objects import Receipt, Remembered
from memoranda.journeys.intent.decisions import Answer, Waiting
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.turn.sessions import CycleReplay
from memoranda.journeys.turn.turns import Turn
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.results import Rows
from memoranda.ledger.anchor import Finding
from memoranda.ledger.anchor import Verdict as AnchorVerdict
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.damage import Damage, Damages
from memoranda.ledger.gates import GateFailure
from memoranda.ledger.object import Trust
from memoranda.plans.facts import Learned
from memoranda.plans.items import RetrievedItem
from memoranda.plans.steps.context import RecalledMemory
from memoranda.recall.selector import Outcome
from memoranda.recall.sureness import Sureness
from memoranda.recall.trace import MemoryRef
from memoranda.records.filter import Page
from memoranda.worlds.proposal import DecisionRecord, Proposal, Vote
from memoranda.worlds.replay import Differs

Schema = dict[str, Any]
Shape = Mapping[str, Any]

_REPORT: Final[Shape] = {
    "origin": str,
    "sound": bool,
    "size": int,
    "root": str,
    "erased": int,
    "versions": int,
    "indexed": int | None,
    "damage": Damages,
}
_SHAPES: Final[Mapping[type, Shape]] = {
    Receipt: {
        "id": str,
        "version": int,
        "entry_hash": str,
        "size": int,
        "dropped_sources?": int,
        "created": bool,
    },
    Item: {
        "ref": MemoryRef,
        "kind": Literal["record", "world"],
        "id": str,
        "data": Any,
        "reason": str,
        "confidence": float,
        "sureness": Sureness,
        "verified": bool,
        "trust": Trust,
        "created_at": int,
        "version?": int,
        "score?": float,
        "why_not_verified?": str,
        "subject?": str,
        "tags?": list[str],
        "meta?": dict[str, Any],
    },
    Recalled: {
        "trace_id": str,
        "outcome": Outcome,
        "selector": ActorRef,
        "query": str,
        "selected_at": int,
        "at_world_id": str,
        "notes?": list[str],
        "error?": str,
        "items?": list[Item[Any]],
    },
    Waiting: {
        "proposal": Proposal,
        "branch": str,
        "waiting_for": list[str],
        "until": int | None,
        "risk": str | None,
        "votes": list[Vote],
    },
    Answer: {
        "proposal_id": str,
        "verdict": Literal["approved", "rejected", "pending"],
        "decision": DecisionRecord | None,
        "waiting_for?": list[str],
        "until?": int | None,
        "reason?": str | None,
    },
    Turn: {
        "cycle_id": str,
        "response": str | None,
        "retrieved": list[RetrievedItem],
        "recalled": list[RecalledMemory],
        "items": list[str],
        "learned": Learned,
        "not_kept": str | None,
        "retried": bool,
        "seq": int,
        "entry_hash": str,
        "steps": dict[str, str],
    },
    Report: _REPORT,
    Audit: {
        "scope": str | None,
        **_REPORT,
        "checkpoints": dict[str, int],
        "signed_by": list[str],
        "kept_outside": int | None,
        "recorded": bool | None,
    },
    Damages: {"counts": dict[str, int], "found": list[Damage]},
    Damage: {"check": str, "seq": int | None, "why": str},
    Finding: {"verdict": AnchorVerdict, "where": str, "standing": str | None, "why": str},
    Refusal: {"refused": Literal[True], "gates": list[str], "failures": list[GateFailure]},
}
"""What differs from the fields. A member with ? is left out where there is nothing to say."""
_MORE: Final[Mapping[type, Shape]] = {
    ErasureCertificate: {"type": str, "is_scrubbed?": bool, "counts": dict[str, int]},
    CycleReplay: {"verdict": Literal["same", "differs"]},
    Differs: {"where": str},
}
"""What is written beside the fields, or in the place of one."""
_LESS: Final[Mapping[type, Collection[str]]] = {
    Remembered: ("said",),
    Original: ("said", "source"),
}
_PLAIN: Final[Mapping[Any, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string"},
    type(None): {"type": "null"},
}


class Schemas:
    """Schemas of types; those of results stand once, under their names."""

    def __init__(self, place: str = "#/$defs/") -> None:
        self._place = place
        self.named: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type."""
        origin, arguments = get_origin(kind), get_args(kind)
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        if origin is Annotated:
            return self.of(arguments[0])
        if origin in (Union, types.UnionType):
            return {"anyOf": [self.of(argument) for argument in arguments]}
        if origin is Literal:
            return {"enum": list(arguments)}
        if isinstance(kind, TypeVar) or kind is Any:
            return {}
        plain = origin or kind
        if not isinstance(plain, type):
            return {}
        if issubclass(plain, Page):
            return self._object(
                {"items": list[arguments[0]], "next": str | None}  # type: ignore[valid-type]
            )
        if plain is tuple and arguments and arguments[-1] is not ...:
            count = len(arguments)
            items = self.of(Union[arguments])  # noqa: UP007 - of as many as there are
            return {"type": "array", "items": items, "minItems": count, "maxItems": count}
        if issubclass(plain, Mapping):
            return {"type": "object", "additionalProperties": self.of((*arguments, Any)[1])}
        if issubclass(plain, Rows | Sequence):
            return {"type": "array", "items": self.of((*arguments, Any)[0])}
        return self._class(plain)

    def _class(self, kind: type) -> Schema:
        if issubclass(kind, BaseModel) or not is_dataclass(kind):
            return {"type": "object"} if issubclass(kind, BaseModel) else {}
        name = kind.__name__
        if name not in self.named:
            self.named[name] = {}  # it may hold itself
            self.named[name] = self._object(shape_of(kind)) | {"title": name}
        return {"$ref": f"{self._place}{name}"}

    def _object(self, shape: Shape) -> Schema:
        return {
            "type": "object",
            "properties": {wire_name(name): self.of(kind) for name, kind in shape.items()},
            "required": [wire_name(name) for name in shape if not name.endswith("?")],
            "additionalProperties": False,
        }


def shape_of(kind: type) -> Shape:
    """The members of a result on the wire, under their Python names; one with ? may be missing."""
    if kind in _SHAPES:
        return _SHAPES[kind]
    hints = get_type_hints(kind)
    left_out = {name.rstrip("?") for name in _MORE.get(kind, ())} | set(_LESS.get(kind, ()))
    shape = {
        f"{found.name}?" if found.default is None else found.name: hints[found.name]
        for found in fields(kind)
        if found.name not in left_out and not found.name.startswith("_")
    }
    return {**shape, **_MORE.get(kind, {})}


def wire_name(name: str) -> str:
    """What a member of a result is called on the wire."""
    return to_camel(name.rstrip("?").removeprefix("is_"))
