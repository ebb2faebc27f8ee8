"""What led to something, as a tree with proofs."""

from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from memoranda.journeys.audit.proving import EntryProof
from memoranda.journeys.audit.why import Why
from memoranda.kernel.json import JsonValue
from memoranda.surfaces.cli.present import asked_for, details, plain, short, statement, when

_TIMES: Final = {
    "createdAt",
    "submittedAt",
    "decidedAt",
    "completedAt",
    "erasedAt",
    "selectedAt",
    "at",
}
_HASHES: Final = {"atWorld", "base", "head", "plan", "ref", "schemaHash", "snapshotHash", "world"}
_DIGESTS: Final = {"items", "steps"}
_WORDS: Final = {
    "createdAt": "created",
    "createdBy": "made by",
    "submittedAt": "proposed",
    "decidedAt": "decided",
    "completedAt": "ended",
    "erasedAt": "erased",
    "event": "did",
    "selectedAt": "asked",
    "atWorld": "at world",
    "topK": "at most",
    "whyNot": "not verified",
    "below": "just left out",
    "schemaHash": "schema",
    "snapshotHash": "snapshot",
    "memoryContext": "recalled",
    "recall": "memory",
    "trace": "why",
    "reasoning": "reason",
}
"""What is told in other words than in the JSON."""
_LEFT_OUT: Final = {
    "world": {"createdBy"},
    "execution": {"memoryRecallFailed", "at", "world"},
    "decision": {"reason"},
}
"""What is said by another line of the tree anyway; all of it is in the JSON."""
_STYLES: Final = {"erased": "red", "rejected": "red", "failed": "red", "unchanged": "green"}


def tree(why: Why) -> Tree:
    """One thing, and below it what it rests on."""
    grown = Tree(_label(why), guide_style="dim")
    _grow(grown, why)
    return grown


def _grow(grown: Tree, why: Why) -> None:
    for part in why.parts:
        _grow(grown.add(_label(part)), part)


def _label(why: Why) -> RenderableType:
    heading = Text(overflow="fold")
    heading.append(why.what, "bold")
    heading.append(f" {plain(why.id)}")
    rows = [
        (_WORDS.get(name, name), _value(why, name, value))
        for name, value in why.known.items()
        if value is not None and name not in _LEFT_OUT.get(why.what, ())
    ]
    parts: list[RenderableType] = [heading]
    if rows:
        parts.append(details(rows))
    if why.proof is not None:
        parts.append(_proof(why.proof))
    return Group(*parts)


def _value(why: Why, name: str, value: JsonValue) -> Text:
    if name in _TIMES and isinstance(value, int):
        return Text(when(value))
    if name in _HASHES and isinstance(value, str):
        return Text(short(value))
    if name == "trace":
        return Text(plain(str(value["summary"])))
    if name == "input":
        return Text(asked_for(str(why.known.get("action")), value))
    if name in _DIGESTS:
        told = [" ".join(map(short, str(one).split(" "))) for one in value]
        return Text(", ".join(told) or "none")
    if isinstance(value, float):
        return Text(f"{value:.3g}")
    if name == "below":
        return Text(", ".join(f"{plain(one['id'])} ({one['score']:.3g})" for one in value))
    text = statement(value)
    return Text(text, _STYLES.get(text, ""))


def _proof(proof: EntryProof) -> Text:
    if not proof.holds:
        return Text(f"entry {proof.seq:,}: the proof does not hold", "bold red")
    text = f"entry {proof.seq:,} of {proof.size:,}, proved under the root {short(proof.root)}"
    return Text(text, "dim")
