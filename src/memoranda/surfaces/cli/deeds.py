"""What was proposed, decided, run and replayed, in words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.journeys.intent.acting import Submitted
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import BranchHead
from memoranda.journeys.intent.deciding import Answer, Waiting
from memoranda.journeys.intent.replaying import Replay
from memoranda.journeys.turn.replaying import CycleReplay
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.results import Result
from memoranda.ledger.consolidate import Refusal
from memoranda.surfaces.cli.present import (
    Column,
    asked_for,
    counted,
    details,
    plain,
    short,
    statement,
    table,
    when,
)
from memoranda.worlds.authority import Approved, Pending

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True, repr=False)
class Answered(Result):
    """An answer, and how the proposal stands after it."""

    answer: Answer
    run: Run

    def wire_members(self) -> Mapping[str, object]:
        """The answer, and the status of the proposal."""
        return {**self.answer.wire_members(), "status": self.run.status}


# -------------------------------------------------------------------------- proposals


def waiting(one: Waiting) -> RenderableType:
    """A proposal in the inbox: what it would do, and on what it rests."""
    proposal = one.proposal
    body, trace = proposal.intent.body, proposal.trace
    asked = "" if body.input is None else f" {asked_for(body.type, body.input)}"
    rows = [
        ("proposal", Text(proposal.proposal_id, "bold")),
        ("action", Text(f"{plain(body.type)}{asked}")),
        ("who", Text(f"{plain(str(proposal.actor))}, at {when(proposal.submitted_at)}")),
    ]
    if trace is not None:
        rows.append(("why", Text(plain(trace.summary))))
    if one.memory is not None:
        rows.append(("memory", Text(statement(one.memory))))
    if body.scope_proposal is not None and body.scope_proposal.allowed_paths is not None:
        rows.append(("may change", Text(plain(", ".join(body.scope_proposal.allowed_paths)))))
    rows += [(vote.decision, Text(plain(str(vote.voter)))) for vote in one.votes]
    rows.append(("waiting for", Text(_actors(one.waiting_for))))
    if one.until is not None:
        rows.append(("until", Text(when(one.until))))
    if one.risk is not None:
        rows.append(("risk", Text(one.risk)))
    rows.append(("base", Text(f"{short(proposal.base_world)} on {plain(one.branch)}")))
    return details(rows)


def answered(given: Answered) -> RenderableType:
    """What an answer came to, and what can be done next."""
    answer, run, verdict = given.answer, given.run, given.answer.verdict
    if isinstance(verdict, Pending):
        rows = [("voted", answer.proposal_id), ("waiting for", _actors(verdict.waiting_for))]
    else:
        decided = "approved" if isinstance(verdict, Approved) else "rejected"
        rows = [(decided, answer.proposal_id), ("reason", plain(verdict.reason))]
    if run.status == "approved":
        rows.append(("to run it", "memoranda run ID --domain MODULE:NAME"))
    elif run.is_completed:
        rows.append(("done", "with the decision"))
    elif run.error is not None:
        rows.append(("failed", plain(str(run.error["message"]))))
    return details(rows)


def submitted(given: Submitted) -> RenderableType:
    """A proposal that is on record."""
    return ran(Run(given.proposal_id, given.status))


def ran(run: Run) -> RenderableType:
    """How a proposal stands, and what was reached if it was run."""
    rows = [(run.status, run.proposal_id)]
    if run.error is not None:
        rows.append(("error", plain(f"{run.error['code']}: {run.error['message']}")))
    if run.world is not None:
        rows.append(("world", run.world))
    if run.recall is not None:
        rows.append(("recall", run.recall))
    if run.data is not None:
        rows.append(("state", statement(run.data)))
    if run.is_pending:
        rows.append(("to do", "Somebody has to decide it: memoranda inbox."))
    return details(rows)


def refused(refusal: Refusal) -> RenderableType:
    """Why several things were not summed up: every gate that stayed shut."""
    rows = [
        [Text(one.gate, "red"), one.rule, plain(f"{one.why}{_of(one.ids)}")]
        for one in refusal.failures
    ]
    columns = [Column("gate"), Column("rule"), Column("what keeps it shut", is_text=True)]
    gates = f"{counted(len(refusal.gates), 'gate')}: {', '.join(refusal.gates)}"
    last = Text(f"\nRefused by {gates}. Nothing was changed.", "bold red")
    return Group(table(columns, rows), last)


def _of(ids: Sequence[str]) -> str:
    return f": {', '.join(ids)}" if ids else ""


def _actors(actors: Sequence[ActorRef]) -> str:
    return plain(", ".join(str(actor) for actor in actors)) or "-"


# ------------------------------------------------------------------- worlds and replay


def branch(one: BranchHead) -> RenderableType:
    """A branch, and the world at its head."""
    return details(
        [
            ("branch", Text(plain(one.name), "bold")),
            ("head", one.world),
            ("moved", when(one.moved_at)),
            ("schema", one.schema_hash),
        ]
    )


def replayed(replay: Replay) -> RenderableType:
    """Whether one execution comes out the same, and where it does not."""
    rows: list[tuple[str, RenderableType]] = [(replay.verdict, plain(replay.action or "-"))]
    if replay.execution_key:
        rows.append(("execution", replay.execution_key))
    if replay.world is not None:
        rows.append(("world", replay.world))
    if (difference := replay.difference) is not None:
        rows += [
            ("where", plain(difference.where)),
            ("expected", plain(difference.expected or "nothing")),
            ("found", Text(plain(difference.found or "nothing"), "red")),
        ]
        if difference.error is not None:
            rows.append(("error", plain(difference.error)))
    elif replay.why is not None:
        rows.append(("why", plain(replay.why)))
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


def replayed_turn(replay: CycleReplay) -> RenderableType:
    """Whether a turn comes out the same, and which step does not."""
    difference = replay.difference
    rows = [("same" if difference is None else "differs", plain(replay.cycle_id))]
    if difference is not None:
        rows += [("where", plain(difference.where)), ("why", plain(difference.why))]
    return details(rows)
