"""``memoranda eval``: how well recall finds, on questions whose answers are known."""

import asyncio

from rich.console import Group
from rich.table import Table
from rich.text import Text

from memoranda.journeys.evaluate.embedded import with_embedder
from memoranda.journeys.evaluate.locomo import read_locomo
from memoranda.journeys.evaluate.measure import AT, OVERALL, Evaluation, InMemory, measure
from memoranda.journeys.evaluate.pairs import read_pairs
from memoranda.journeys.evaluate.questions import Questions
from memoranda.kernel.errors import InvalidJson
from memoranda.outside.embedders import embedder_from_environment
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.options import File
from memoranda.surfaces.cli.present import Told, counted
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.values import name_of


@command("locomo")
def evaluate_locomo(file: File) -> Told:
    """Find the turns of long conversations that answer questions (a JSON file of LoCoMo).

    Recall at 5, 10 and 20: the part of the evidence among the first so many, by category.
    Nothing is sent anywhere, unless MEMORANDA_EMBEDDER_URL names an embedder; then hybrid is
    measured too. The same file gives the same figures.
    """
    try:
        questions = read_locomo(file.read())
    except InvalidJson as refused:
        raise wrong_use(
            f"{name_of(file)} is not a LoCoMo file, which is JSON: {refused.why}. For a CSV file"
            " with the columns Q and A: memoranda eval pairs."
        ) from None
    return _run("locomo", questions)


@command("pairs")
def evaluate_pairs(file: File) -> Told:
    """Find the answer to each question among all answers (a CSV file with columns Q and A)."""
    return _run("pairs", read_pairs(file.read()))


def _run(name: str, questions: Questions) -> Told:
    embedder = embedder_from_environment()
    finder = InMemory if embedder is None else with_embedder(embedder)
    with bars() as progress:
        found = asyncio.run(measure(questions, finder, told=progress(name)))
    return Told(found.document, _in_words(found))


def _in_words(found: Evaluation) -> Group:
    asked = found.questions[OVERALL]
    skipped = f", {found.skipped} without evidence skipped" if found.skipped else ""
    about = (
        f"{counted(asked, 'question')} about {counted(found.texts, 'text')}"
        f" in {counted(found.collections, 'collection')}{skipped}"
    )
    measured = f"recall at {', '.join(map(str, AT))}: the part of the evidence that is found\n"
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
    return Group(Text(about), Text(measured), table)
