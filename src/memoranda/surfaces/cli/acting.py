"""``memoranda act``, ``run``, ``inbox`` and the three answers to what is in it."""

from collections.abc import Sequence
from typing import Annotated, Any

from typing_extensions import Unpack

from memoranda.app.memory import Memory
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.deciding import Answer, Waiting
from memoranda.kernel.errors import WorldNotFound
from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import VerdictType
from memoranda.surfaces.cli.code import ActingOptions, RunOptions
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.deeds import Answered
from memoranda.surfaces.cli.help import arg, opt
from memoranda.surfaces.cli.ids import IdKind
from memoranda.surfaces.cli.options import ProposalId, Reason, RetryOptions
from memoranda.surfaces.cli.values import JSON

Action = Annotated[str, arg("ACTION", "What the domain calls it.")]
Rests = Annotated[
    list[str] | None,
    opt("A recall that it rests on, by its id; may be repeated.", "--memory", metavar="TRACE"),
    IdKind.RECALL,
]


class ProposeOptions(RetryOptions, total=False):
    """How an action is proposed."""

    input: Annotated[JsonValue, opt("What the action takes.", metavar="JSON"), JSON]
    reason: Annotated[str, opt("Why; who decides reads it.")]
    branch: Annotated[str, opt("On which branch; else on main.", metavar="NAME")]
    paths: Annotated[
        list[str], opt("A path of the state that may change; may be repeated.", "--path")
    ]
    hints: Annotated[dict[str, JsonValue], opt("For the provider of memory.", metavar="JSON"), JSON]


@command(makes=True, runs=ActingOptions)
async def act(
    memory: Memory[Any],
    action: Action,
    rests: Rests = None,
    wait: Annotated[float, opt("How long to wait for a decision.", metavar="SECONDS")] = 0,
    **proposed: Unpack[ProposeOptions],
) -> Run:
    """Propose an action, and run it once it is approved.

    It gets the memory of the recalls that are named, or what the provider says. Where somebody has
    to decide, it is in the inbox, and 'memoranda run' runs it later. Exits with 3 when it was
    rejected or has failed.
    """
    return await memory.act(action, memory=rests or (), wait=wait, **proposed)


@command(runs=RunOptions)
async def run(memory: Memory[Any], id: ProposalId) -> Run:
    """Run a proposal that was approved, or go on with a run that died.

    What was done before it died is taken from the journal, and not done again.
    """
    return await memory.worlds.run(id)


@command(reads=True, nothing="Nothing waits for a decision.")
async def inbox(memory: Memory[Any]) -> Sequence[Waiting]:
    """List what waits for a decision, the oldest first: what it would do, and on what it rests."""
    return await memory.inbox.list()


@command(done="approved")
async def approve(
    memory: Memory[Any],
    id: Annotated[
        str, arg("ID", "The id of a proposal, or of what is remembered."), IdKind.DECIDED
    ],
    reason: Reason,
    verdict: Annotated[
        VerdictType | None, opt("What you judge a memory to be; Factual needs a source.")
    ] = None,
) -> Receipt | Answered:
    """Approve a proposal that waits, or raise the trust of something to approved, and judge it.

    Refused to whoever may not decide it, and to whoever contributed to what is remembered.
    """
    try:
        return await _standing(memory, await memory.inbox.approve(id, reason=reason))
    except WorldNotFound:
        return await memory.govern.approve(id, reason=reason, verdict=verdict)


@command()
async def reject(memory: Memory[Any], id: ProposalId, reason: Reason) -> Answered:
    """Reject a proposal that waits: it will never run."""
    return await _standing(memory, await memory.inbox.reject(id, reason=reason))


@command()
async def abstain(memory: Memory[Any], id: ProposalId, reason: Reason) -> Answered:
    """Neither approve nor reject a proposal that several decide."""
    return await _standing(memory, await memory.inbox.abstain(id, reason=reason))


async def _standing(memory: Memory[Any], answer: Answer) -> Answered:
    return Answered(answer, await memory.worlds.standing(answer.proposal_id))
