"""Figures that stand by themselves, each with what is wanted of it, as a table and as a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Aim:
    """A figure, what is wanted of it, and what bounds it."""

    figure: str
    what: str
    wanted: str
    is_met: Callable[[float], bool]
    bound: str


def show(title: str, aims: Sequence[Aim], figures: dict[str, float], name: str) -> None:
    """Show how the figures stand, and write them to `bench/results/`."""
    table = Table(title=title, title_justify="left")
    for column in ("figure", "wanted", "reached", "", "bound by"):
        table.add_column(column)
    for aim in aims:
        reached = figures[aim.figure]
        verdict = "" if not aim.wanted else "met" if aim.is_met(reached) else "missed"
        table.add_row(aim.what, aim.wanted, f"{reached:,.2f}", verdict, aim.bound)
    console = Console()
    if not console.is_terminal:
        console.width = 160
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    file.write_bytes(orjson.dumps(figures, option=orjson.OPT_INDENT_2))
    console.print(f"written to {file}")
