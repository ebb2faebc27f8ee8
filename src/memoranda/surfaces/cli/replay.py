"""``memoranda replay``: run again what was recorded, and tell what would come out otherwise."""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import orjson
import typer
from rich.text import Text

from memoranda.app.histories import exported_history, history
from memoranda.journeys.intent.history import History
from memoranda.journeys.intent.replaying import Replay, Verdict
from memoranda.surfaces.cli.code import OptionalDomainName, code, prints_aside
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import AsJson, Database, Scope
from memoranda.surfaces.cli.present import (
    console,
    counted,
    details,
    listing,
    plain,
    print_item,
    print_json,
    print_line,
    short,
)
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.replay_turn import replay_turn
from memoranda.surfaces.errors import NOT_SOUND

SHOWN: Final = 50
"""So many differences are listed for people; the JSON has all."""

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 200

Told = Callable[[Replay], None]


def replay(
    domain: OptionalDomainName = None,
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A world, an execution or a proposal; or a cycle."),
    ] = None,
    branch: Annotated[
        str | None, typer.Option(metavar="NAME", help="Everything that moved this branch.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="A whole history: which worlds come out otherwise?")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            "--export", metavar="FILE", help="The history in this export, not in a database."
        ),
    ] = None,
    database: Database = None,
    scope: Scope = None,
    json: AsJson = False,
) -> None:
    """Run again what was recorded, from what was recorded, and compare.

    With --domain it is what that domain did; without, the turn of a recorded cycle.
    No store, no provider and no effect is asked, and nothing is written. Exits with 5 when
    something comes out otherwise than it did.
    """
    if (id is not None) + (branch is not None or report) != 1:
        raise wrong_use("Name an ID, or a --branch, or say --report for the whole history.")
    if domain is None:
        if id is None or export is not None:
            raise wrong_use("Name the --domain whose actions ran; without it, ID is a cycle.")
        replay_turn(Place(database, scope), id, json=json)
        return
    own = code(domain).domain
    if export is not None:
        if not export.is_file():
            raise wrong_use(f"There is no file {export}.")
        opened: AbstractAsyncContextManager[History] = exported_history(export, own)
    else:
        place = Place(database, scope)
        opened = history(place.url, place.scope_name, own)
    if id is not None:
        with prints_aside():
            one = asyncio.run(_one(opened, id))
        _show_one(one, json=json)
        counts = Counter([one.verdict])
    else:
        counts = _over(opened, branch, report=report, json=json)
    if counts["differs"]:
        raise typer.Exit(NOT_SOUND)


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
                print_line(orjson.dumps(_as_json(replay)).decode())  # noqa: TID251 - shown, never hashed
            elif not report:
                action = plain(replay.action or "-")
                print_line(f"{replay.verdict:8} {action}  {replay.execution_key}")
        if replay.verdict == "differs" and len(differing) < SHOWN:
            differing.append(replay)

    with bars() as progress, prints_aside():
        counts = asyncio.run(_replayed(opened, branch, tell, progress("replay")))
    if json:
        summary = {"type": "summary", "executions": counts.total(), **_counts(counts)}
        print_line(orjson.dumps(summary).decode())  # noqa: TID251 - shown, never hashed
    else:
        _show(counts, differing)
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


# ------------------------------------------------------------------------- presenting


def _counts(counts: "Counter[Verdict]") -> dict[str, int]:
    return {verdict: counts[verdict] for verdict in get_args(Verdict)}


def _as_json(replay: Replay) -> dict[str, Any]:
    difference = replay.difference
    return {
        "execution": replay.execution_key,
        "verdict": replay.verdict,
        "world": replay.world,
        "action": replay.action,
        "why": replay.why,
        "difference": None
        if difference is None
        else {
            "what": difference.what,
            "where": difference.where,
            "expected": difference.expected,
            "found": difference.found,
            "error": difference.error,
        },
    }


def _show_one(replay: Replay, *, json: bool) -> None:
    if json:
        print_json(_as_json(replay))
        return
    rows: list[tuple[str, Any]] = [(replay.verdict, plain(replay.action or "-"))]
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
    console().print(details(rows))


def _first_difference(replay: Replay) -> str:
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


def _show(counts: "Counter[Verdict]", differing: list[Replay]) -> None:
    out = console()
    if differing:
        table = listing()
        table.add_column("execution", no_wrap=True)
        table.add_column("first difference", ratio=1, overflow="fold")
        for one in differing:
            table.add_row(one.execution_key, Text(_first_difference(one)))
        out.print(table)
        if counts["differs"] > len(differing):
            more = counts["differs"] - len(differing)
            out.print(f"… and {more:,} more; --json tells all of them")
        out.print()
    done = counted(counts.total(), "execution")
    parts = [f"{number:,} {verdict}" for verdict, number in _counts(counts).items() if number]
    style = "bold red" if counts["differs"] else "bold green"
    print_item(out, "", f"{done}: {', '.join(parts) or 'nothing to replay'}.", style)
