"""Proposals, runs, replays and what led to them, in words."""

import re
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from memoranda.policies import Approved, Pending
from memoranda.surfaces.cli.present import (
    Output,
    asked_for,
    counted,
    details,
    plain,
    short,
    shows,
    statement,
    table,
    when,
)
from memoranda.surfaces.errors import NOT_IN_STATE, NOT_SOUND
from memoranda.types import (
    Answer,
    BranchHead,
    CycleReplay,
    EntryProof,
    JsonValue,
    Refusal,
    Replay,
    Run,
    Submitted,
    Waiting,
    Why,
)

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 200


# -------------------------------------------------------------------------- proposals


def _rested_on(trace: Any) -> str:
    """The recall that a proposal rests on: its proofs are in the JSON, its memories in `why`."""
    selected = trace["selected"]
    verified = sum(bool(one["verified"]) for one in selected)
    chosen = counted(len(selected), "memory", "memories")
    said = "; ".join(one["reason"] for one in selected)
    return f"{trace['query']} {chosen}, {verified} verified: {said}"


@shows(Waiting)
def _waiting(waiting: Waiting) -> RenderableType:
    proposal = waiting.proposal
    body, trace, scope = proposal.intent.body, proposal.trace, proposal.intent.body.scope_proposal
    paths = None if scope is None else scope.allowed_paths
    asked = "" if body.input is None else f" {asked_for(body.type, body.input)}"
    return details(
        [
            ("proposal", Text(proposal.proposal_id, "bold")),
            ("action", f"{body.type}{asked}"),
            ("who", f"{proposal.actor}, at {when(proposal.submitted_at)}"),
            ("why", None if trace is None else trace.summary),
            ("memory", None if waiting.memory is None else _rested_on(waiting.memory)),
            ("may change", None if paths is None else ", ".join(paths)),
            *[(vote.decision, str(vote.voter)) for vote in waiting.votes],
            ("waiting for", waiting.waiting_for or "-"),
            ("until", None if waiting.until is None else when(waiting.until)),
            ("risk", waiting.risk),
            ("base", f"{short(proposal.base_world)} on {waiting.branch}"),
        ]
    )


def answered(answer: Answer, run: Run) -> Output:
    """What an answer came to, and what can be done next."""
    verdict = answer.verdict
    rows: list[tuple[str, Any]]
    if isinstance(verdict, Pending):
        rows = [("voted", answer.proposal_id), ("waiting for", verdict.waiting_for or "-")]
    else:
        decided = "approved" if isinstance(verdict, Approved) else "rejected"
        rows = [(decided, answer.proposal_id), ("reason", verdict.reason)]
    if run.status == "approved":
        rows.append(("to run it", "memoranda run ID --domain MODULE:NAME"))
    elif run.is_completed:
        rows.append(("done", "with the decision"))
    elif run.error is not None:
        rows.append(("failed", str(run.error["message"])))
    return Output({**answer.to_wire(), "status": run.status}, details(rows))


@shows(Submitted)
def _submitted(given: Submitted) -> RenderableType:
    return _ran(Run(given.proposal_id, given.status))


@shows(Run, exit_status=lambda run: NOT_IN_STATE * (run.status in ("failed", "rejected")))
def _ran(run: Run) -> RenderableType:
    error = run.error or {}
    pending = "Somebody has to decide it: memoranda inbox." if run.is_pending else None
    return details(
        [
            (run.status, run.proposal_id),
            ("error", f"{error['code']}: {error['message']}" if error else None),
            ("world", run.world),
            ("recall", run.recall),
            ("state", None if run.data is None else statement(run.data)),
            ("to do", pending),
        ]
    )


@shows(Refusal, exit_status=lambda _: NOT_IN_STATE)
def _refused(refusal: Refusal) -> RenderableType:
    rows = [
        [Text(failure.gate, "red"), failure.rule, f"{failure.why}{_of(failure.ids)}"]
        for failure in refusal.failures
    ]
    gates = f"{counted(len(refusal.gates), 'gate')}: {', '.join(refusal.gates)}"
    last = Text(f"\nRefused by {gates}. Nothing was changed.", "bold red")
    return Group(table("gate, rule, what keeps it shut+", rows), last)


def _of(ids: Sequence[str]) -> str:
    return f": {', '.join(ids)}" if ids else ""


# ------------------------------------------------------------------- worlds and replay


@shows(BranchHead)
def _branch(head: BranchHead) -> RenderableType:
    return details(
        [
            ("branch", Text(plain(head.name), "bold")),
            ("head", head.world),
            ("moved", when(head.moved_at)),
            ("schema", head.schema_hash),
        ]
    )


@shows(Replay, exit_status=lambda replay: NOT_SOUND * (replay.verdict == "differs"))
def _replayed(replay: Replay) -> RenderableType:
    rows: list[tuple[str, Any]] = [
        (replay.verdict, replay.action or "-"),
        ("execution", replay.execution_key or None),
        ("world", replay.world),
    ]
    if (difference := replay.difference) is not None:
        rows += [
            ("where", difference.where),
            ("expected", difference.expected or "nothing"),
            ("found", Text(plain(difference.found or "nothing"), "red")),
            ("error", difference.error),
        ]
    else:
        rows.append(("why", replay.why))
    return details(rows)


def first_difference(replay: Replay) -> str:
    """Where it differs, what was there and what is there now; hashes cut, for a table."""
    difference = replay.difference
    if difference is None:
        return plain(replay.why or "-")
    before, now = (_cut(value) for value in (difference.expected, difference.found))
    because = "" if difference.error is None else f" ({difference.error})"
    return plain(f"{difference.action}: {difference.where}: {before}, now {now}{because}")


def _cut(value: str | None) -> str:
    if value is None:
        return "nothing"
    return short(value) if _HASH.fullmatch(value) else value[:_LONGEST]


@shows(CycleReplay, exit_status=lambda replay: NOT_SOUND * (not replay.is_same))
def _replayed_turn(replay: CycleReplay) -> RenderableType:
    difference = replay.difference
    rows = [("same" if difference is None else "differs", replay.cycle_id)]
    if difference is not None:
        rows += [("where", difference.where), ("why", difference.why)]
    return details(rows)


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
"""What has other words than in the JSON."""
_LEFT_OUT: Final = {
    "world": {"createdBy"},
    "execution": {"memoryRecallFailed", "at", "world"},
    "decision": {"reason"},
}
"""What is said by another line of the tree anyway; all of it is in the JSON."""
_STYLES: Final = {"erased": "red", "rejected": "red", "failed": "red", "unchanged": "green"}


@shows(Why)
def _why(found: Why) -> Tree:
    tree = Tree(_label(found), guide_style="dim")
    _grow(tree, found)
    return tree


def _grow(tree: Tree, found: Why) -> None:
    for part in found.parts:
        _grow(tree.add(_label(part)), part)


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
    if name == "memoryContext" and isinstance(value, dict) and "items" in value:
        return Text("; ".join(statement(one["data"]) for one in value["items"]) or "nothing")
    if name == "input":
        return Text(asked_for(str(why.known.get("action")), value))
    if name in _DIGESTS:
        hashes = [" ".join(map(short, str(one).split(" "))) for one in value]
        return Text(", ".join(hashes) or "none")
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
