"""What a server answered, as the values that the verbs return.

It is the inverse of `Result.to_wire`, by the shapes that the schemas are made of. What the wire has
not, such as the proofs of a recall, is not made up.
"""

import types
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from memoranda.app.service.schema import shape_of, wire_name
from memoranda.journeys.audit.verify import Report
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
from memoranda.journeys.govern.objects import Remembered
from memoranda.journeys.intent.decisions import Answer, Waiting
from memoranda.journeys.intent.requests import ABSENT
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import UNCHANGED
from memoranda.journeys.turn.turns import Turn
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import CapabilityMissing
from memoranda.kernel.json import JsonValue, check
from memoranda.kernel.results import Rows, plain
from memoranda.ledger.anchor import Finding
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.damage import Damage, Damages
from memoranda.ledger.gates import GateFailure
from memoranda.ledger.unit import EntryPlace, Head
from memoranda.plans.facts import Learned
from memoranda.plans.items import RetrievedItem
from memoranda.plans.steps.context import RecalledMemory
from memoranda.recall.trace import MemoryRef, MemoryTrace, SelectedMemory
from memoranda.records.filter import Page
from memoranda.records.model import StoredMemoryRecord
from memoranda.worlds.authority import Approved, Pending, Rejected
from memoranda.worlds.proposal import DecisionRecord, Proposal, Vote

Wire = Mapping[str, Any]

# ------------------------------------------------------------------------------ going out


def wire_value(value: object) -> JsonValue:
    """An argument as JSON; InvalidJson for what is none."""
    match value:
        case datetime():
            return value.isoformat()
        case MemoryRef():
            return value.world_id
        case Item():
            return value.ref.world_id
        case Mapping():
            made: JsonValue = dict(value)
        case set() | frozenset() | tuple():
            made = [wire_value(one) for one in value]
        case BaseModel():
            made = plain(value)
        case _:
            made = value
    check(made)
    return made


def is_said(value: object) -> bool:
    """Whether an argument says something: neither 'no input' nor 'unchanged'."""
    return value is not ABSENT and value is not UNCHANGED


# ------------------------------------------------------------------------------ coming in


class Values:
    """Reads values for handles of one model."""

    def __init__(self, codec: DataCodec[Any]) -> None:
        self._codec = codec
        self._made: Mapping[type, Callable[[Wire], Any]] = {
            Remembered: self._remembered,
            StoredMemoryRecord: self._record,
            Recalled: self._recalled,
            Item: self._item,
            Original: self._original,
            Waiting: self._waiting,
            Answer: self._answer,
            Audit: self._audit,
            Turn: self._turn,
            Damages: self._damages,
            Damage: lambda wire: Damage(wire["check"], wire["seq"], wire["why"], ""),
            Finding: lambda wire: Finding(wire["verdict"], wire["where"], wire["why"]),
            Refusal: lambda wire: Refusal(
                tuple(self.read(GateFailure, one) for one in wire["failures"])
            ),
            ErasureCertificate: self._certificate,
        }

    def read(self, kind: Any, wire: Any) -> Any:
        """The value of a type; what has no type of ours stays plain JSON."""
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.read(arguments[0], wire)
        if origin in (Union, types.UnionType):
            return None if wire is None else self.read(_chosen(arguments, wire), wire)
        plain_kind = origin or kind
        if wire is None or isinstance(kind, TypeVar) or not isinstance(plain_kind, type):
            return wire
        if issubclass(plain_kind, Page):
            found = [self.read(arguments[0], one) for one in wire["items"]]
            return Page(found, wire["next"])
        if issubclass(plain_kind, Rows):
            return Rows([self.read(arguments[0], one) for one in wire])
        if plain_kind is tuple and arguments[-1] is not ...:
            return tuple(map(self.read, arguments, wire))
        if plain_kind is bytes:
            return bytes.fromhex(wire)
        if issubclass(plain_kind, Sequence) and plain_kind is not str:
            made = [self.read((*arguments, Any)[0], one) for one in wire]
            return tuple(made) if plain_kind is tuple else made
        if issubclass(plain_kind, Mapping):
            return {name: self.read((*arguments, Any, Any)[1], one) for name, one in wire.items()}
        if issubclass(plain_kind, BaseModel):
            return plain_kind.model_validate(wire)
        if is_dataclass(plain_kind):
            return self._result(plain_kind, wire)
        return wire

    def _result(self, kind: type, wire: Wire) -> Any:
        if kind in self._made:
            return self._made[kind](wire)
        hints = get_type_hints(kind)
        said = {
            found.name: self.read(hints[found.name], wire[wire_name(found.name)])
            for found in fields(kind)
            if wire_name(found.name) in wire
        }
        return kind(**said)

    def data(self, wire: Wire) -> Any:
        """What is remembered, as the handle has it; bytes are bytes."""
        said = wire["data"]
        return self._codec.decode(said) if wire.get("mediaType") is None else b64decode(said)

    def _remembered(self, wire: Wire) -> Remembered[Any]:
        hints = get_type_hints(Remembered)
        said = {
            found.name: self.read(hints[found.name], wire[wire_name(found.name)])
            for found in fields(Remembered)
            if found.name not in ("data", "said") and wire_name(found.name) in wire
        }
        return Remembered(data=self.data(wire), said=wire["data"], **said)

    def _record(self, wire: Wire) -> StoredMemoryRecord[Any]:
        tags = wire.get("tags")
        return StoredMemoryRecord(
            wire["id"],
            self._codec.decode(wire["data"]),
            wire["createdAt"],
            wire["updatedAt"],
            None if tags is None else tuple(tags),
            wire.get("meta"),
        )

    def _item(self, wire: Wire) -> Item[Any]:
        selected = SelectedMemory(
            ref=MemoryRef.from_wire(wire["ref"]),
            reason=wire["reason"],
            confidence=float(wire["confidence"]),
            verified=wire["verified"],
        )
        data = self._codec.decode(wire["data"]) if wire["kind"] == "record" else wire["data"]
        return Item(
            selected.to_wire(),
            data=data,
            said=wire["data"],
            text=wire["data"] if isinstance(wire["data"], str) else str(wire["data"]),
            kind=wire["kind"],
            id=wire["id"],
            version=wire.get("version"),
            seq=-1,
            created_at=wire["createdAt"],
            score=wire.get("score"),
            trust=wire["trust"],
            origin=f"{wire['kind']} {wire['id']}",
            source=wire["id"],
            why_not_verified=wire.get("whyNotVerified"),
            tags=tuple(wire.get("tags", ())),
            meta=wire.get("meta", {}),
            subject=wire.get("subject"),
        )

    def _recalled(self, wire: Wire) -> Recalled[Any]:
        items = tuple(self._item(one) for one in wire.get("items", ()))
        trace = MemoryTrace(
            selector=wire["selector"],
            query=wire["query"],
            selected_at=wire["selectedAt"],
            at_world_id=wire["atWorldId"],
            selected=[item.selected for item in items],
        )
        return Recalled(
            trace_id=wire["traceId"],
            outcome=wire["outcome"],
            traced=trace.to_wire(),
            notes=wire.get("notes", ()),
            error=wire.get("error"),
            selected_items=items,
        )

    def _original(self, wire: Wire) -> Original[Any]:
        shape = {name.rstrip("?"): kind for name, kind in shape_of(Original).items()}
        said = {
            name: self.read(kind, wire[to_camel(name)])
            for name, kind in shape.items()
            if to_camel(name) in wire
        }
        record, snapshot = said.get("record"), said.get("snapshot")
        if record is not None:
            return Original(source=record.id, said=record.said, **said)
        return Original(source="", said=None if snapshot is None else snapshot.data, **said)

    def _waiting(self, wire: Wire) -> Waiting:
        return Waiting(
            Proposal.from_wire(wire["proposal"]),
            wire["branch"],
            tuple(map(parse_actor, wire["waitingFor"])),
            wire["until"],
            wire["risk"],
            tuple(Vote.from_wire(vote) for vote in wire["votes"]),
        )

    def _answer(self, wire: Wire) -> Answer:
        said = wire["decision"]
        decision = None if said is None else DecisionRecord.from_wire(said)
        verdict: Approved | Rejected | Pending
        if decision is None:
            verdict = Pending(
                tuple(map(parse_actor, wire.get("waitingFor", ()))), wire.get("until")
            )
        elif wire["verdict"] == "approved":
            verdict = Approved(wire["reason"], decision.approved_scope, decision.authority)
        else:
            verdict = Rejected(wire["reason"], decision.authority)
        return Answer(wire["proposalId"], verdict, decision)

    def _turn(self, wire: Wire) -> Turn:
        place = EntryPlace(wire["seq"], bytes.fromhex(wire["entryHash"]))
        said = {
            name: wire[to_camel(name)] for name in ("cycle_id", "response", "not_kept", "retried")
        }
        return Turn(
            outputs={},  # of them the wire has digests
            place=place,
            retrieved=[RetrievedItem.model_validate(one) for one in wire["retrieved"]],
            recalled=[RecalledMemory.model_validate(one) for one in wire["recalled"]],
            items=wire["items"],
            learned=self.read(Learned, wire["learned"]),
            **said,
        )

    def _audit(self, wire: Wire) -> Audit:
        report = Report(
            head=Head(wire["origin"], wire["size"], b""),
            size=wire["size"],
            root=bytes.fromhex(wire["root"]),
            last_hash="",
            erased=wire["erased"],
            rows=wire["versions"],
            damages=self._damages(wire["damage"]),
            indexed=wire["indexed"],
        )
        return Audit(wire["scope"] or "", report, recorded=wire["recorded"])

    def _damages(self, wire: Wire) -> Damages:
        return Damages([self.read(Damage, one) for one in wire["found"]], Counter(wire["counts"]))

    def _certificate(self, wire: Wire) -> ErasureCertificate:
        hints = get_type_hints(ErasureCertificate)
        said = {
            found.name: self.read(hints[found.name], wire[wire_name(found.name)])
            for found in fields(ErasureCertificate)
            if found.name != "counts" and wire_name(found.name) in wire
        }
        return ErasureCertificate(counts=ErasureCounts(**wire["counts"]), **said)


def _chosen(kinds: Sequence[Any], wire: Any) -> Any:
    """Which of several types a document is of: the first whose members it has."""
    several = [kind for kind in kinds if kind is not type(None)]
    for kind in several:
        plain_kind = get_origin(kind) or kind
        if not (isinstance(plain_kind, type) and is_dataclass(plain_kind)):
            continue
        needed = {wire_name(name) for name in shape_of(plain_kind) if not name.endswith("?")}
        if isinstance(wire, Mapping) and needed <= wire.keys():
            return kind
    return several[0]


def not_over_the_wire(what: str) -> CapabilityMissing:
    """The refusal of what a server can't be asked."""
    return CapabilityMissing(f"{what} over HTTP")
