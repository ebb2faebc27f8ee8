"""``memoranda worlds``: proposals, branches, snapshots, and what was done, run again."""

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

from memoranda.app.histories import exported_history
from memoranda.app.histories import history as history_of
from memoranda.app.memory import Memory
from memoranda.journeys.intent.acting import Submitted
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import BranchHead
from memoranda.journeys.intent.history import History
from memoranda.journeys.intent.replaying import Replay, Verdict
from memoranda.surfaces.cli.acting import Action, ProposeOptions, Rests
from memoranda.surfaces.cli.code import ActingOptions, RunOptions, code, prints_aside
from memoranda.surfaces.cli.command import OF_A_SCOPE, command
from memoranda.surfaces.cli.deeds import first_difference
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.help import arg, opt
from memoranda.surfaces.cli.ids import IdKind, whole_id
from memoranda.surfaces.cli.options import ProposalId
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import (
    Column,
    counted,
    plain,
    print_json_line,
    print_line,
    show,
    table,
)
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.errors import NOT_SOUND
from memoranda.worlds.snapshot import Snapshot

SHOWN: Final = 50
"""So many differences are listed for people; the JSON has all."""

WorldId = Annotated[str, arg("ID", "The id of a world, or the key of an execution."), IdKind.WORLD]
Told = Callable[[Replay], None]


@command(makes=True, runs=ActingOptions)
async def propose(
    memory: Memory[Any], action: Action, rests: Rests = None, **proposed: Unpack[ProposeOptions]
) -> Submitted:
    """Propose an action without running it; 'memoranda run' does, once it is approved."""
    return await memory.worlds.propose(action, memory=rests or (), **proposed)


@command(runs=RunOptions, nothing="Nothing that was approved is left to run.")
async def resume(memory: Memory[Any]) -> Sequence[Run]:
    """Run whatever was approved and has not ended: what waited, and what died."""
    return await memory.worlds.resume()


@command(reads=True)
async def standing(memory: Memory[Any], id: ProposalId) -> Run:
    """Show how a proposal stands, and what was reached if it was run."""
    return await memory.worlds.standing(id)


@command(reads=True)
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


@command(reads=True, nothing="There is no branch yet: the first action begins one.")
async def branches(memory: Memory[Any]) -> Sequence[BranchHead]:
    """List the branches, with the world at the head of each."""
    return await memory.worlds.branches()


# ----------------------------------------------------------------------------- replaying


@command(common=OF_A_SCOPE[:2])
def replay(
    place: Place,
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
    own = code(domain).domain
    if export is not None and not export.is_file():
        raise wrong_use(f"There is no file {export}.")
    if id is not None and export is None:
        given = id
        id = place.run(lambda memory: whole_id(memory, given, IdKind.ACTED), reads=True)
    opened: AbstractAsyncContextManager[History]
    if export is not None:
        opened = exported_history(export, own)
    else:
        opened = history_of(place.url, place.scope_name, own)
    if id is not None:
        with prints_aside():
            return asyncio.run(_one(opened, id))
    if _over(opened, branch, report=report, json=json)["differs"]:
        raise typer.Exit(NOT_SOUND)
    return None


async def _one(opened: AbstractAsyncContextManager[History], id: str) -> Replay:
    async with opened as found:
        return await found.replay(id)


def _over(
    opened: AbstractAsyncContextManager[History], branch: str | None, *, report: bool, json: bool
) -> "Counter[Verdict]":
    """Replay a branch or everything; each is told when it is done, and all are counted."""
    differing: list[Replay] = []
    standard_output = sys.stdout

    def tell(replay: Replay) -> None:
        with redirect_stdout(standard_output):
            if json:
                print_json_line(replay)
            elif not report:
                action = plain(replay.action or "-")
                print_line(f"{replay.verdict:8} {action}  {replay.execution_key}")
        if replay.verdict == "differs" and len(differing) < SHOWN:
            differing.append(replay)

    with bars() as progress, prints_aside():
        counts = asyncio.run(_replayed(opened, branch, tell, progress("replay")))
    if json:
        print_json_line({"type": "summary", "executions": counts.total(), **_counts(counts)})
    else:
        show(_summary(counts, differing))
    return counts


async def _replayed(
    opened: AbstractAsyncContextManager[History],
    branch: str | None,
    tell: Told,
    progress: Callable[[str, int, int], None],
) -> "Counter[Verdict]":
    counts: Counter[Verdict] = Counter()
    async with opened as found:
        total = await found.size()
        replays: AsyncGenerator[Replay, None]
        replays = found.whole() if branch is None else found.branch(branch)
        async with aclosing(replays):
            async for replay in replays:
                counts[replay.verdict] += 1
                tell(replay)
                progress("executions", counts.total(), total)
    return counts


def _counts(counts: "Counter[Verdict]") -> dict[str, int]:
    return {verdict: counts[verdict] for verdict in get_args(Verdict)}


def _summary(counts: "Counter[Verdict]", differing: list[Replay]) -> Group:
    done = counted(counts.total(), "execution")
    parts = [f"{number:,} {verdict}" for verdict, number in _counts(counts).items() if number]
    style = "bold red" if counts["differs"] else "bold green"
    last = Text(f"{done}: {', '.join(parts) or 'nothing to replay'}.", style)
    if not differing:
        return Group(last)
    columns = [Column("execution"), Column("first difference", is_text=True)]
    rows = [[one.execution_key, first_difference(one)] for one in differing]
    more = counts["differs"] - len(differing)
    also = [Text(f"… and {more:,} more; --json tells all of them")] if more else []
    return Group(table(columns, rows), *also, Text(), last)
