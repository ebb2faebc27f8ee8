"""``memoranda eval``: how well recall finds, on a database of one's own."""

import csv
import io
from pathlib import Path
from typing import Annotated, Any, Final

from rich.console import Group, RenderableType

from memoranda import Memory
from memoranda.app.surfaces import SHIPPED, USUAL
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, opt, wrong_use
from memoranda.surfaces.cli.present import details, item, shows
from memoranda.types import Evaluated, KnownAnswer

COLUMNS: Final = ("question", "expected")
_SHOWN: Final = 20


@command("eval", embeds=True)
async def eval_(
    memory: Memory[Any],
    file: Annotated[
        Path, arg("QUESTIONS.csv", "With the columns question and expected: an id or a text.")
    ],
    selector: Annotated[
        str, opt(f"Who selects: {', '.join(sorted(SHIPPED))}.", metavar="NAME")
    ] = USUAL,
) -> Evaluated:
    """Measure how well recall finds, with questions of your own.

    A question that has several answers stands in several lines; one without an answer has nothing
    under expected. Each is asked once, and leaves a trace, as every recall does.
    """
    return await memory.maintain.evaluate(_read(file), selector=selector)


def _read(file: Path) -> list[KnownAnswer]:
    try:
        rows = list(csv.reader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")))
    except OSError as failed:
        raise wrong_use(f"{file} can't be read: {failed.strerror}.") from None
    except (UnicodeDecodeError, csv.Error):
        raise wrong_use(f"{file} is no CSV in UTF-8.") from None
    header = [name.strip().lower() for name in rows[0]] if rows else []
    if any(name not in header for name in COLUMNS):
        raise wrong_use(f"{file} has no columns {' and '.join(COLUMNS)} in its first line.")
    asked, expected = map(header.index, COLUMNS)
    answers: dict[str, list[str]] = {}
    for number, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) <= max(asked, expected) or not row[asked].strip():
            raise wrong_use(f"{file}, line {number}: there is no question and expected.")
        wanted = answers.setdefault(row[asked], [])
        if row[expected].strip():
            wanted.append(row[expected])
    return [KnownAnswer(question, wanted) for question, wanted in answers.items()]


@shows(Evaluated)
def _evaluated(found: Evaluated) -> RenderableType:
    document = found.figures.document()
    parts: list[RenderableType] = [details(list(document.items()))]
    if found.missed:
        parts.append(item("", "Not found among the first ten:"))
        parts += [item("  ", question) for question in found.missed[:_SHOWN]]
    return Group(*parts)
