"""`python -m bench.evaluate locomo FILE`, or `pairs FILE`: recall at 5, 10 and 20, as a table.

With ``--json`` one document. Nothing is sent anywhere, unless MEMORANDA_EMBEDDER_URL or
MEMORANDA_EMBEDDER_FOLDER names an embedder: then hybrid is measured too. The same file gives the
same figures.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.evaluate.measure import AT, OVERALL, Evaluation, InMemory, measure, with_embedder
from bench.evaluate.questions import read_locomo, read_pairs
from memoranda.errors import InvalidJson
from memoranda.models import embedder_from_environment

READERS = {"locomo": read_locomo, "pairs": read_pairs}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read a file, ask all of its questions, print what was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.evaluate", description=__doc__)
    parser.add_argument("kind", choices=READERS, help="conversations, or questions and answers")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    try:
        questions = READERS[given.kind](given.file.read_bytes())
    except InvalidJson as refused:
        sys.exit(f"{given.file} is not a file of {given.kind}: {refused.why}.")
    embedder = embedder_from_environment()
    finder = InMemory if embedder is None else with_embedder(embedder)
    found = asyncio.run(measure(questions, finder))
    print(json.dumps(found.document) if given.json else "\n".join(_lines(found)))


def _lines(found: Evaluation) -> Iterator[str]:
    asked = found.questions[OVERALL]
    skipped = f"{found.skipped} without evidence skipped"
    yield f"{asked:,} questions about {found.texts:,} texts, {skipped}"
    yield "recall: the part of the evidence that is among the first so many"
    yield _row("selector", "category", "questions", *(f"@{k}" for k in AT))
    for one in found.measured:
        for category, values in one.recall.items():
            if category == OVERALL or len(found.questions) > 2:
                figures = [f"{value:.3f}" for value in values]
                yield _row(one.selector, category, str(found.questions[category]), *figures)
    for name in found.not_run:
        yield _row(name, "not run", "")


def _row(selector: str, category: str, *numbers: str) -> str:
    return f"{selector:<12}{category:<14}" + "".join(f"{one:>11}" for one in numbers)


if __name__ == "__main__":
    main()
