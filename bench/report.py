"""What a run says: tables for the eye, JSON for comparison, Markdown for the docs."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import apsw
import orjson
from rich.console import Console
from rich.table import Table

from bench.load import BUSY
from bench.names import ON_POSTGRES, ON_SQLITE
from bench.operations import BATCH, MANY, OPERATIONS, TOGETHER
from bench.run import Options, Results
from bench.targets import Outcome, Verdict, judged

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "memoranda",
    "apsw",
    "orjson",
    "pydantic",
    "rfc8785",
    "psycopg",
    "langgraph-checkpoint",
    "langgraph-checkpoint-sqlite",
    "langgraph-checkpoint-postgres",
    "aiosqlite",
)
_COLOUR = {
    Verdict.AIM_MET: "bold green",
    Verdict.MET: "green",
    Verdict.MISSED: "bold red",
    Verdict.BOUND: "yellow",
    Verdict.NOT_MEASURED: "dim",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """A table before it is drawn."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def grids(results: Results, sizes: Sequence[int]) -> list[Grid]:
    """The targets first; then the figures behind them, for each engine and size."""
    outcomes = judged(results.figures, sizes)
    grids = [_targets(outcomes, sizes)]
    for engine, systems in (("SQLite", ON_SQLITE), ("PostgreSQL", ON_POSTGRES)):
        for size in sizes:
            grid = _figures(engine, systems, size, results)
            if grid.rows:
                grids.append(grid)
    return grids


def notes(results: Results, sizes: Sequence[int]) -> list[str]:
    """What has to be said beside the tables."""
    left_out = [
        f"{outcome.what} ({outcome.bound})"
        for outcome in judged(results.figures, sizes)
        if outcome.verdict is Verdict.NOT_MEASURED
    ]
    said = [_load(results), *results.notes]
    return [*said, f"Not measured in this run: {'; '.join(left_out)}."] if left_out else said


def show(grids: Sequence[Grid], notes: Sequence[str], console: Console) -> None:
    """Draw the tables, and say what has to be said."""
    for grid in grids:
        table = Table(title=grid.title, title_justify="left")
        for number, column in enumerate(grid.columns):
            table.add_column(column, justify="left" if number == 0 else "right")
        for row in grid.rows:
            colour = next((_COLOUR[v] for v in Verdict if row[-1] == v), "")
            *cells, last = row
            table.add_row(*cells, f"[{colour}]{last}[/]" if colour else last)
        console.print(table)
    for note in notes:
        console.print(note)


def write(grids: Sequence[Grid], results: Results, options: Options, folder: Path) -> Path:
    """Write `latest.json` and `latest.md`; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "machine": machine(),
        "plan": {"rounds": options.plan.rounds, "operations": options.plan.operations},
        "sizes": list(options.sizes),
        "targets": [
            {"what": o.what, "wanted": o.wanted, "found": o.found, "verdict": o.verdict}
            for o in judged(results.figures, options.sizes)
        ],
        "figures": [figure.to_json() for figure in results.figures],
        "bytesPerRecord": results.bytes_per_record,
        "notes": notes(results, options.sizes),
    }
    path = folder / "latest.json"
    path.write_bytes(
        orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS) + b"\n"
    )
    parts = [f"**{grid.title}**\n\n{_markdown(grid)}" for grid in grids]
    (folder / "latest.md").write_text("\n\n".join([*parts, *notes(results, options.sizes)]) + "\n")
    return path


def machine() -> dict[str, object]:
    """What the figures depend on, but for the disk."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "sqlite": apsw.sqlite_lib_version(),
        "packages": found,
    }


# -------------------------------------------------------------------------- tables


def _targets(outcomes: Sequence[Outcome], sizes: Sequence[int]) -> Grid:
    columns = ["target", "wanted", *(f"{size:,}" for size in sizes), "bound by", "verdict"]
    rows = []
    for outcome in outcomes:
        if outcome.verdict is Verdict.NOT_MEASURED:
            continue
        found = [outcome.found.get(size, "") for size in sizes]
        others = [
            text if size == 0 else f"{size:,}: {text}"
            for size, text in outcome.found.items()
            if size not in sizes
        ]
        if others:
            found[-1] = " ".join(filter(None, [found[-1], *others]))
        rows.append([outcome.what, outcome.wanted, *found, outcome.bound, outcome.verdict.value])
    return Grid("Targets: ratios of one run, both sides in turns", columns, rows)


def _figures(engine: str, systems: Sequence[str], size: int, results: Results) -> Grid:
    known = {
        (figure.system, figure.operation): figure
        for figure in results.figures
        if figure.size == size
    }
    rows = []
    for operation in OPERATIONS:
        row = [operation]
        for system in systems:
            figure = known.get((system, operation))
            if figure is None:
                row.append("")
            elif operation in {TOGETHER, MANY}:
                row.append(f"{figure.per_second:,.0f}/s")
            else:
                rate = f"{figure.per_second:,.0f}/s"
                row.append(f"{figure.p50_us:,.0f} ({figure.p99_us:,.0f}) {rate}")
        if any(row[1:]):
            rows.append(row)
    taken = results.bytes_per_record.get(size, {})
    if rows:
        rows.append(
            ["bytes per record", *(f"{taken[s]:,.0f}" if s in taken else "" for s in systems)]
        )
    title = f"{engine}, {size:,} records: p50 (p99) µs and per second; bursts as records/s"
    if size < BATCH * 30:
        title += " (bursts add up to 30,000)"
    return Grid(title, ["operation", *systems], rows)


def _load(results: Results) -> str:
    loads = [figure.others for figure in results.figures]
    if not loads:
        return "Nothing was measured."
    busy = sum(load > BUSY for load in loads)
    text = f"Other processes used {sum(loads) / len(loads):.2f} cores on average (oth), "
    text += f"{max(loads):.2f} at most."
    if busy:
        text += f" The machine was BUSY during {busy} of {len(loads)} measurements: run it again."
    return text


def _markdown(grid: Grid) -> str:
    lines = [grid.columns, ["---"] * len(grid.columns), *grid.rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
