"""`python -m bench`: measure, show the ratios, write them to `bench/results/`.

A target that is missed is shown as missed; the exit code is 0 all the same, because a benchmark
on a shared machine is no test.
"""

import argparse
from pathlib import Path

from rich.console import Console

from bench import report
from bench.run import FULL, PARTS, QUICK, Options, run


def main() -> None:
    """Read the options, run, report."""
    options, folder = _options()
    results = run(options)
    grids = report.grids(results, options.sizes)
    console = Console()
    if not console.is_terminal:
        console.width = 160  # a file or a pipe has room
    report.show(grids, report.notes(results, options.sizes), console)
    console.print(f"written to {report.write(grids, results, options, folder)}")


def _options() -> tuple[Options, Path]:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, help="records, as in 1000,10000,100000")
    parser.add_argument("--quick", action="store_true", help="a short form, for a first look")
    parser.add_argument("--million", action="store_true", help="also how a query grows up to 1M")
    parser.add_argument("--only", choices=PARTS, action="append", help="leave out other parts")
    parser.add_argument("--output", type=Path, default=report.RESULTS, help="folder of results")
    given = parser.parse_args()
    sizes = given.sizes or ((10_000,) if given.quick else (1_000, 10_000, 100_000))
    plan = QUICK if given.quick else FULL
    return Options(sizes, tuple(given.only or PARTS), plan, given.million), given.output


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(int(size.replace("_", "")) for size in text.split(","))
    if not all(size >= 1_000 for size in sizes):
        raise argparse.ArgumentTypeError("from 1000 records on, or tags have fewer than ten")
    return sizes


if __name__ == "__main__":
    main()
