"""The table of `docs/threats.md`, made from the classes and from what a campaign saw."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.campaigns.tampering.campaign import CLASSES, Campaign

PAGE: Final = Path(__file__).parents[3] / "docs" / "threats.md"
BEGIN: Final = "<!-- the table: python -m tests.campaigns.tampering --write-threats -->"
END: Final = "<!-- end of the table -->"

WORDS: Final = {
    "nothing": "seen",
    "checkpoint": "with a checkpoint",
    "nobody": "**no**",
    "not in it": "not in it",
}
HEADER: Final = (
    "| what is done | `memoranda verify` | named as | `memoranda-verify` | named as |",
    "|---|---|---|---|---|",
)


class Line(NamedTuple):
    """A line of the table."""

    what: str
    database: str
    database_checks: frozenset[str]
    export: str
    export_checks: frozenset[str]

    def __str__(self) -> str:
        """As it stands in the page."""
        cells = (
            self.what,
            self.database,
            _listed(self.database_checks),
            self.export,
            _listed(self.export_checks),
        )
        return "| " + " | ".join(cells) + " |"


def line_of(name: str, campaign: Campaign) -> Line:
    """The line of a class, with the checks by which it was named in a campaign."""
    one, checks = CLASSES[name], campaign.checks.get(name, {})
    return Line(
        f"{one.group}: {one.words}",
        WORDS[one.database],
        frozenset(checks.get("database", ())),
        WORDS[one.export],
        frozenset(checks.get("export", ())) if one.export != "not in it" else frozenset(),
    )


def written(page: str, campaign: Campaign) -> str:
    """The page with its table made anew."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    table = "\n".join((*HEADER, *(str(line_of(name, campaign)) for name in CLASSES)))
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def lines_in(page: str) -> dict[str, Line]:
    """The lines that a page has, by what is done."""
    table = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    assert tuple(table[:2]) == HEADER
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]
    lines = [
        Line(what, database, _read(checks), export, _read(export_checks))
        for what, database, checks, export, export_checks in found
    ]
    return {line.what: line for line in lines}


def lines_of(campaign: Campaign) -> Iterator[str]:
    """The counts of a campaign as a table for a terminal."""
    arms = ("verify", "with a checkpoint", "memoranda-verify", "with a checkpoint")
    yield f"{'class':<62} " + " ".join(f"{arm:>22}" for arm in arms)
    group = ""
    for name in CLASSES:
        counted = campaign.outcomes.get(name)
        if counted is None:
            continue
        one = CLASSES[name]
        if one.group != group:
            group = one.group
            yield f"-- {group}"
        cells = []
        for verifier in ("database", "export"):
            for arm in (False, True):
                outcomes = {
                    outcome: count
                    for (which, with_checkpoint, outcome), count in counted.items()
                    if (which, with_checkpoint) == (verifier, arm)
                }
                cells.append(", ".join(f"{count} {what}" for what, count in outcomes.items()))
        yield f"{one.words:<62} " + " ".join(f"{cell or '-':>22}" for cell in cells)


def _listed(checks: frozenset[str]) -> str:
    return " ".join(f"`{check}`" for check in sorted(checks))


def _read(cell: str) -> frozenset[str]:
    return frozenset(re.findall("`([a-z]+)`", cell))
