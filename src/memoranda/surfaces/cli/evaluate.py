"""``memoranda eval``: how well recall finds, on questions whose answers are known."""

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from memoranda.journeys.evaluate.embedded import with_embedder
from memoranda.journeys.evaluate.locomo import read_locomo
from memoranda.journeys.evaluate.measure import AT, OVERALL, Evaluation, InMemory, measure
from memoranda.journeys.evaluate.pairs import read_pairs
from memoranda.journeys.evaluate.questions import Questions
from memoranda.outside.embedders import embedder_from_environment
from memoranda.surfaces.cli.groups import group
from memoranda.surfaces.cli.options import AsJson
from memoranda.surfaces.cli.present import console, counted, print_json
from memoranda.surfaces.cli.progress import bars

evaluate = group("Measure how well recall finds, on questions whose answers are known.")

File = Annotated[
    typer.FileBinaryRead, typer.Argument(metavar="FILE", help="The file; - is standard input.")
]


@evaluate.command("locomo")
def evaluate_locomo(file: File, json: AsJson = False) -> None:
    """Find the turns of long conversations that answer questions (a JSON file of LoCoMo).

    Recall at 5, 10 and 20: the part of the evidence among the first so many, by category.
    Nothing is sent anywhere, unless MEMORANDA_EMBEDDER_URL names an embedder; then hybrid is
    measured too. The same file gives the same figures.
    """
    _run("locomo", read_locomo(file.read()), json=json)


@evaluate.command("pairs")
def evaluate_pairs(file: File, json: AsJson = False) -> None:
    """Find the answer to each question among all answers (a CSV file with columns Q and A)."""
    _run("pairs", read_pairs(file.read()), json=json)


def _run(name: str, questions: Questions, *, json: bool) -> None:
    embedder = embedder_from_environment()
    finder = InMemory if embedder is None else with_embedder(embedder)
    with bars() as progress:
        found = asyncio.run(measure(questions, finder, told=progress(name)))
    if json:
        print_json(found.document)
    else:
        _show(found)


def _show(found: Evaluation) -> None:
    asked = found.questions[OVERALL]
    skipped = f", {found.skipped} without evidence skipped" if found.skipped else ""
    out = console()
    out.print(
        f"{counted(asked, 'question')} about {counted(found.texts, 'text')}"
        f" in {counted(found.collections, 'collection')}{skipped}"
    )
    out.print(f"recall at {', '.join(map(str, AT))}: the part of the evidence that is found\n")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("selector", no_wrap=True)
    table.add_column("category", no_wrap=True)
    table.add_column("questions", justify="right", no_wrap=True)
    for k in AT:
        table.add_column(f"@{k}", justify="right", no_wrap=True)
    for one in found.measured:
        categories = [name for name in one.recall if name != OVERALL]
        for number, category in enumerate([OVERALL, *(categories if len(categories) > 1 else ())]):
            table.add_row(
                one.selector if number == 0 else "",
                category,
                str(found.questions[category]),
                *(f"{value:.3f}" for value in one.recall[category]),
                style="bold" if category == OVERALL else "",
            )
    for name in found.not_run:
        table.add_row(name, "not run", *[""] * (len(AT) + 1))
    out.print(table)
