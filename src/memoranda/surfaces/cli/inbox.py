"""``memoranda inbox``, ``approve``, ``reject`` and ``abstain``: what waits for somebody."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.deciding import Answer, Waiting
from memoranda.kernel.actors import ActorRef
from memoranda.ledger.object import VerdictType
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import show_receipt
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Reason, Scope
from memoranda.surfaces.cli.present import (
    asked_for,
    console,
    details,
    plain,
    print_json,
    print_line,
    short,
    statement,
    when,
)
from memoranda.worlds.authority import Approved, Pending


class Answered(NamedTuple):
    """An answer, and how the proposal stands after it."""

    answer: Answer
    run: Run


ProposalId = Annotated[str, typer.Argument(metavar="ID", help="The id of a proposal.")]


def inbox(
    database: Database = None, scope: Scope = None, actor: Actor = None, json: AsJson = False
) -> None:
    """List what waits for a decision, the oldest first: what it would do, and on what it rests."""

    async def act(memory: Memory[Any]) -> Sequence[Waiting]:
        return await memory.inbox()

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([one.to_wire() for one in found])
    elif found:
        for number, one in enumerate(found):
            _show(one, first=number == 0)
    else:
        print_line("Nothing waits for a decision.")


def approve(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a proposal, or of what is remembered.")
    ],
    reason: Reason,
    verdict: Annotated[
        VerdictType | None,
        typer.Option(help="What you judge a memory to be; Factual needs a source."),
    ] = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Approve a proposal that waits, or raise the trust of something to approved, and judge it.

    Refused to whoever may not decide it, and to whoever contributed to what is remembered.
    """

    async def act(memory: Memory[Any]) -> Receipt | Answered:
        done = await memory.approve(id, reason=reason, verdict=verdict)
        return done if isinstance(done, Receipt) else await _standing(memory, done)

    done = Place(database, scope, actor).run(act)
    if isinstance(done, Receipt):
        show_receipt("approved", done, json=json)
    else:
        _show_answer(done, json=json)


def reject(
    id: ProposalId,
    reason: Reason,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Reject a proposal that waits: it will never run."""

    async def act(memory: Memory[Any]) -> Answered:
        return await _standing(memory, await memory.reject(id, reason=reason))

    _show_answer(Place(database, scope, actor).run(act), json=json)


def abstain(
    id: ProposalId,
    reason: Reason,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Neither approve nor reject a proposal that several decide."""

    async def act(memory: Memory[Any]) -> Answered:
        return await _standing(memory, await memory.abstain(id, reason=reason))

    _show_answer(Place(database, scope, actor).run(act), json=json)


# ------------------------------------------------------------------------- presenting


def _show(waiting: Waiting, *, first: bool) -> None:
    proposal = waiting.proposal
    body, trace = proposal.intent.body, proposal.trace
    asked = "" if body.input is None else f" {asked_for(body.type, body.input)}"
    rows = [
        ("proposal", Text(proposal.proposal_id, "bold")),
        ("action", Text(f"{plain(body.type)}{asked}")),
        ("who", Text(f"{plain(str(proposal.actor))}, at {when(proposal.submitted_at)}")),
    ]
    if trace is not None:
        rows.append(("why", Text(plain(trace.summary))))
    if waiting.memory is not None:
        rows.append(("memory", Text(statement(waiting.memory))))
    if body.scope_proposal is not None and body.scope_proposal.allowed_paths is not None:
        rows.append(("may change", Text(plain(", ".join(body.scope_proposal.allowed_paths)))))
    rows += [(vote.decision, Text(plain(str(vote.voter)))) for vote in waiting.votes]
    rows.append(("waiting for", Text(_actors(waiting.waiting_for))))
    if waiting.until is not None:
        rows.append(("until", Text(when(waiting.until))))
    if waiting.risk is not None:
        rows.append(("risk", Text(waiting.risk)))
    rows.append(("base", Text(f"{short(proposal.base_world)} on {plain(waiting.branch)}")))
    out = console()
    if not first:
        out.print()
    out.print(details(rows))


def _actors(actors: Sequence[ActorRef]) -> str:
    return plain(", ".join(str(actor) for actor in actors)) or "-"


async def _standing(memory: Memory[Any], answer: Answer) -> Answered:
    return Answered(answer, await memory.standing(answer.proposal_id))


def _show_answer(answered: Answered, *, json: bool) -> None:
    answer, run = answered
    verdict = answer.verdict
    waiting = verdict if isinstance(verdict, Pending) else Pending(())
    if json:
        print_json(
            {
                "proposal_id": answer.proposal_id,
                "status": run.status,
                "waiting_for": [str(one) for one in waiting.waiting_for],
                "until": waiting.until,
                "decision": None if answer.decision is None else answer.decision.to_wire(),
            }
        )
        return
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
    console().print(details(rows))
