"""What a conflict between statements is: a policy of its own, with a default that is stated."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import data_of

Document = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that can't all hold, by their ids, and why."""

    ids: tuple[str, ...]
    why: str

    def to_wire(self) -> dict[str, JsonValue]:
        """As a consolidated object records it."""
        return {"ids": list(self.ids), "why": self.why}


Detector = Callable[[Sequence[Document]], Sequence[Conflict]]
"""Finds the conflicts among the inputs of a consolidation."""


def find_conflicts(inputs: Sequence[Document]) -> list[Conflict]:
    """The default: what can be known without understanding a statement.

    1. the same statement (case and spaces aside) is False in one and Factual or Inference in
       another
    2. two data objects about the same subject, neither of them False, give one member two values
    """
    return [
        Conflict((one["id"], other["id"]), why)
        for one, other in combinations(inputs, 2)
        for why in _clashes(one, other)
    ]


def _clashes(one: Document, other: Document) -> Iterator[str]:
    verdicts = {one["verdict_type"], other["verdict_type"]}
    # 1.
    if "False" in verdicts and verdicts & {"Factual", "Inference"}:
        if _folded(one["statement"]) == _folded(other["statement"]):
            yield "one says that the statement holds, the other that it is false"
    # 2.
    elif "False" not in verdicts and one.get("subject") and _same(one, other, "subject"):
        mine, theirs = _members(one), _members(other)
        differing = sorted(
            name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name]
        )
        if differing:
            yield f"they differ in {', '.join(differing)}"


def _members(document: Document) -> dict[str, JsonValue]:
    data = data_of(document) if document.get("format") == "json" else None
    return data if isinstance(data, dict) else {}


def _same(one: Document, other: Document, name: str) -> bool:
    return bool(one.get(name) == other.get(name))


def _folded(statement: str) -> str:
    return " ".join(statement.casefold().split())
