"""`python -m tests.campaigns.adversity`: the long form, with its counts as a table and as JSON.

The exit code is 1 when a promise was broken, or when a control arm did not break its own.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.campaigns.adversity.arms import Arm, long_form, quietly
from tests.campaigns.adversity.counts import WRONG, Counts
from tests.campaigns.adversity.kills import servers

SEED = "MEMORANDA_ADVERSITY_SEED"
SCALE = "MEMORANDA_ADVERSITY_SCALE"
SEEDS_APART = 1_000_003


def main() -> int:
    """Read the options, run every arm, report."""
    options = _options()
    arms = [arm for arm in long_form(options.scale) if options.only in arm.name]
    if options.again is not None:
        arms = [replace(arm, jobs=arm.jobs[:1]) for arm in arms]
    started = time.monotonic()
    counts = _run(arms, _first_seed(options), options.jobs)
    results = {
        "seed": options.seed,
        "scale": options.scale,
        "jobs": options.jobs,
        "seconds": round(time.monotonic() - started),
        "arms": [_result(arm, counts[arm.name]) for arm in arms],
    }
    console = Console()
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has room
    console.print(_table(arms, counts))
    for arm in arms:
        if not arm.is_expected(counts[arm.name]):
            console.print(*counts[arm.name].texts, sep="\n", markup=False, soft_wrap=True)
    text = json.dumps(results, indent=2)  # noqa: TID251 - shown, never hashed
    if options.output is None:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    else:
        options.output.write_text(text + "\n")
        console.print(f"written to {options.output}")
    return 0 if all(arm.is_expected(counts[arm.name]) for arm in arms) else 1


def _options() -> Any:
    name = "python -m tests.campaigns.adversity"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--seed", type=int, default=int(os.environ.get(SEED, "1")))
    parser.add_argument("--scale", type=float, default=float(os.environ.get(SCALE, "1")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--only", default="", help="the arms whose name has this in it")
    parser.add_argument("--again", type=int, help="only the job with the seed that a failure names")
    parser.add_argument("--output", type=Path, help="a file for the JSON")
    return parser.parse_args()


def _first_seed(options: Any) -> int:
    again: int | None = options.again
    return options.seed * SEEDS_APART if again is None else again


def _run(arms: list[Arm], seed: int, jobs: int) -> dict[str, Counts]:
    counts = {arm.name: Counts() for arm in arms}
    work = [(arm, number, job) for arm in arms for number, job in enumerate(arm.jobs)]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        ProcessPoolExecutor(jobs, mp_context=servers()) as processes,
    ):
        bars = {arm.name: progress.add_task(arm.name, total=len(arm.jobs)) for arm in arms}
        running: dict[Future[Counts], tuple[Arm, int]] = {}
        for arm, number, job in work:
            drawn = seed + number
            running[processes.submit(quietly, job, drawn)] = (arm, drawn)
        for future in as_completed(running):
            arm, drawn = running[future]
            try:
                counts[arm.name].merge(future.result(), f"seed {drawn}, ")
            except Exception as error:  # noqa: BLE001 - one job that fails ends no other
                counts[arm.name].wrong("untyped", f"seed {drawn}: the job ended with {error!r}")
            progress.advance(bars[arm.name])
    return counts


def _table(arms: list[Arm], counts: dict[str, Counts]) -> Table:
    table = Table(title="adversity")
    table.add_column("arm")
    shown = ("calls", "acknowledged", "unknown", "unheard", "lost", "duplicated", "damaged")
    for heading in ("tried", *shown, "else"):
        table.add_column(heading, justify="right")
    table.add_column("outcome")
    for arm in arms:
        of = counts[arm.name]
        others = sum(of[what] for what in WRONG if what not in shown)
        row = (arm.trials(of), *(of[what] for what in shown), others)
        table.add_row(arm.name, *(f"{number:,}" for number in row), arm.verdict(of))
    return table


def _result(arm: Arm, counts: Counts) -> dict[str, Any]:
    return {
        "arm": arm.name,
        "tried": arm.trials(counts),
        "outcome": arm.verdict(counts),
        "control": bool(arm.must_break),
        "counts": {what: counts[what] for what in sorted(counts.of)},
        "first": counts.texts[:3],
    }


if __name__ == "__main__":
    sys.exit(main())
