"""Commands that act, decide and replay: the top ones, and ``memoranda worlds``."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer
from rich.console import Group
from rich.text import Text
from typing_extensions import Unpack

from memoranda import Memory
from memoranda.app.surfaces import (
    ReplayVerdict,
    VerdictType,
    WorldHistory,
    exported_history,
    stored_history,
)
from memoranda.errors import WorldNotFound
from memoranda.surfaces.cli.command import OF_A_SCOPE, command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import JSON, IdKind, ProposalId, Reason, RetryOptions, whole_id
from memoranda.surfaces.cli.present import (
    Output,
    bars,
    counted,
    plain,
    print_json_line,
    print_line,
    show,
    table,
)
from memoranda.surfaces.cli.show_actions import answered, first_difference
from memoranda.surfaces.cli.target import ActingOptions, RunOptions, Target, domain_of, prints_aside
from memoranda.surfaces.errors import NOT_SOUND
from memoranda.types import (
    Answer,
    BranchHead,
    JsonValue,
    Receipt,
    Replay,
    Run,
    Snapshot,
    Submitted,
    Waiting,
)

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


@command(create=True, runs=ActingOptions)
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


@command(read_only=True, nothing="Nothing waits for a decision.")
async def inbox(memory: Memory[Any]) -> Sequence[Waiting]:
    """List what waits for a decision, the oldest first.

    Each with what it would do, and on what it rests.
    """
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
) -> Receipt | Output:
    """Approve a proposal that waits, or something that is remembered.

    What is remembered becomes trusted, and may be judged with --verdict. Refused to whoever may not
    decide it, and to whoever contributed to what is remembered.
    """
    try:
        return await _standing(memory, await memory.inbox.approve(id, reason=reason))
    except WorldNotFound:
        return await memory.govern.approve(id, reason=reason, verdict=verdict)


@command()
async def reject(memory: Memory[Any], id: ProposalId, reason: Reason) -> Output:
    """Reject a proposal that waits: it will never run."""
    return await _standing(memory, await memory.inbox.reject(id, reason=reason))


@command()
async def abstain(memory: Memory[Any], id: ProposalId, reason: Reason) -> Output:
    """Neither approve nor reject a proposal that several decide."""
    return await _standing(memory, await memory.inbox.abstain(id, reason=reason))


async def _standing(memory: Memory[Any], answer: Answer) -> Output:
    return answered(answer, await memory.worlds.standing(answer.proposal_id))


SHOWN: Final = 50
"""So many differences are listed for people; the JSON has all."""

WorldId = Annotated[str, arg("ID", "The id of a world, or the key of an execution."), IdKind.WORLD]


@command(create=True, runs=ActingOptions)
async def propose(
    memory: Memory[Any], action: Action, rests: Rests = None, **proposed: Unpack[ProposeOptions]
) -> Submitted:
    """Propose an action without running it; 'memoranda run' does, once it is approved."""
    return await memory.worlds.propose(action, memory=rests or (), **proposed)


@command(runs=RunOptions, nothing="Nothing that was approved is left to run.")
async def resume(memory: Memory[Any]) -> Sequence[Run]:
    """Run whatever was approved and has not ended: what waited, and what died."""
    return await memory.worlds.resume()


@command(read_only=True)
async def standing(memory: Memory[Any], id: ProposalId) -> Run:
    """Show how a proposal stands, and what was reached if it was run."""
    return await memory.worlds.standing(id)


@command(read_only=True)
async def restore(memory: Memory[Any], id: WorldId) -> Snapshot:
    """Print the snapshot of a world, or of an execution with what was frozen in it, as JSON."""
    return await memory.worlds.restore(id)


@command()
async def branch(
    memory: Memory[Any],
    name: Annotated[str, arg("NAME", "What the new branch is called.")],
    at: Annotated[
        str, opt("The world at which it begins, by its id.", metavar="WORLD"), IdKind.WORLD
    ],
) -> BranchHead:
    """Begin a branch at a world that is there."""
    return await memory.worlds.branch(name, at=at)


@command(read_only=True, nothing="There is no branch yet: the first action begins one.")
async def branches(memory: Memory[Any]) -> Sequence[BranchHead]:
    """List the branches, with the world at the head of each."""
    return await memory.worlds.branches()


# ----------------------------------------------------------------------------- replaying


@command(common=OF_A_SCOPE[:2])
def replay(
    target: Target,
    json: bool,
    domain: Annotated[str, opt("The Domain whose actions ran.", metavar="MODULE:NAME")],
    id: Annotated[str | None, arg("ID", "A world, an execution or a proposal, by its id.")] = None,
    branch: Annotated[str | None, opt("Everything that moved this branch.", metavar="NAME")] = None,
    report: Annotated[bool, opt("A whole history: which worlds come out otherwise?")] = False,
    export: Annotated[Path | None, opt("The history in this export, not in a database.")] = None,
) -> Replay | None:
    """Run again what was recorded, from what was recorded, and compare.

    No store, no provider and no effect is asked, and nothing is written. Exits with 5 when
    something comes out otherwise than it did.
    """
    if (id is not None) + (branch is not None or report) != 1:
        raise wrong_use("Name an ID, or a --branch, or say --report for the whole history.")
    own = domain_of(domain)
    if export is not None and not export.is_file():
        raise wrong_use(f"There is no file {export}.")
    if id is not None and export is None:
        given = id
        id = target.run(lambda memory: whole_id(memory, given, IdKind.ACTED), read_only=True)
    opened: AbstractAsyncContextManager[WorldHistory]
    if export is not None:
        opened = exported_history(export, own)
    else:
        opened = stored_history(target.url, target.scope_name, own)
    if id is not None:
        with prints_aside():
            return asyncio.run(_one(opened, id))
    if _over(opened, branch, report=report, json=json)["differs"]:
        raise typer.Exit(NOT_SOUND)
    return None


async def _one(opened: AbstractAsyncContextManager[WorldHistory], id: str) -> Replay:
    async with opened as found:
        return await found.replay(id)


def _over(
    opened: AbstractAsyncContextManager[WorldHistory],
    branch: str | None,
    *,
    report: bool,
    json: bool,
) -> "Counter[ReplayVerdict]":
    """Replay a branch or everything; each is shown when it is done, and all are counted."""
    differing: list[Replay] = []
    standard_output = sys.stdout

    def show_one(replay: Replay) -> None:
        with redirect_stdout(standard_output):
            if json:
                print_json_line(replay)
            elif not report:
                action = plain(replay.action or "-")
                print_line(f"{replay.verdict:8} {action}  {replay.execution_key}")
        if replay.verdict == "differs" and len(differing) < SHOWN:
            differing.append(replay)

    with bars() as progress, prints_aside():
        counts = asyncio.run(_replayed(opened, branch, show_one, progress("replay")))
    if json:
        print_json_line({"type": "summary", "executions": counts.total(), **_counts(counts)})
    else:
        show(_summary(counts, differing))
    return counts


async def _replayed(
    opened: AbstractAsyncContextManager[WorldHistory],
    branch: str | None,
    show_one: Callable[[Replay], None],
    progress: Callable[[str, int, int], None],
) -> "Counter[ReplayVerdict]":
    counts: Counter[ReplayVerdict] = Counter()
    async with opened as found:
        total = await found.size()
        replays: AsyncGenerator[Replay, None]
        replays = found.whole() if branch is None else found.branch(branch)
        async with aclosing(replays):
            async for replay in replays:
                counts[replay.verdict] += 1
                show_one(replay)
                progress("executions", counts.total(), total)
    return counts


def _counts(counts: "Counter[ReplayVerdict]") -> dict[str, int]:
    return {verdict: counts[verdict] for verdict in get_args(ReplayVerdict)}


def _summary(counts: "Counter[ReplayVerdict]", differing: list[Replay]) -> Group:
    done = counted(counts.total(), "execution")
    parts = [f"{number:,} {verdict}" for verdict, number in _counts(counts).items() if number]
    style = "bold red" if counts["differs"] else "bold green"
    last = Text(f"{done}: {', '.join(parts) or 'nothing to replay'}.", style)
    if not differing:
        return Group(last)
    rows = [[one.execution_key, first_difference(one)] for one in differing]
    more = counts["differs"] - len(differing)
    also = [Text(f"… and {more:,} more; --json tells all of them")] if more else []
    return Group(table("execution, first difference+", rows), *also, Text(), last)


worlds = group(
    "Proposals, branches and snapshots; what was done, run again.",
    *(propose, resume, standing, restore, branch, branches, replay),
)
