"""`python -m bench.evaluate [SET ...]`: how well recall finds, beside others, as tables.

Sets are ``locomo``, ``pairs``, ``plain`` and ``facts``; all of them, if none is named.
Conversations and pairs are looked for in ``--data``, and skipped with a reason where they are not:
they are not ours to ship. ``cost`` asks about conversations that were remembered without thread,
speaker or time. ``fit`` fits the weights of scores instead, and prints them. Nothing is
sent anywhere, unless MEMORANDA_EMBEDDER_URL names an embedder: texts and questions go there.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.evaluate.fit import fitted
from bench.evaluate.measure import Measured, measure
from bench.evaluate.questions import (
    Questions,
    read_facts,
    read_locomo,
    read_pages,
    read_pairs,
    thinned,
    without,
)
from memoranda.errors import InvalidJson
from memoranda.models import default_embedder, embedder_from_environment
from memoranda.recall.figures import HEADER, row

ROOT: Final = Path(__file__).parents[2]
DATA: Final = ROOT.parent / "shared" / "data"
SETS: Final = ("locomo", "pairs", "plain", "facts")
COSTS: Final = (("thread",), ("speaker",), ("time",), ("thread", "speaker", "time"))
"""What is left out of conversations, to see what that costs."""

FILES: Final = {"locomo": "locomo/locomo-dev.json", "pairs": "korean/chatbot-dev.csv"}
EVERY: Final = {"pairs": 16}
"""Of the pairs, one question in so many is asked: there are thousands."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask all questions of the sets, print what was found."""
    parser = argparse.ArgumentParser(prog="python -m bench.evaluate", description=__doc__)
    parser.add_argument("sets", nargs="*", choices=[*SETS, "cost", "fit"], metavar="SET")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of what is not ours")
    parser.add_argument("--url", action="append", default=[], help="a database to ask; repeatable")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    embedder = embedder_from_environment() or default_embedder()
    sets = dict(_read(given.sets or SETS, given.data))
    if "fit" in given.sets:
        found = dict(_read(SETS, given.data)) | dict(_read(["cost"], given.data, COSTS[-1:]))
        print("\n".join(asyncio.run(fitted(found, embedder))))
        return
    measured = {
        name: asyncio.run(measure(questions, embedder=embedder, urls=given.url))
        for name, questions in sets.items()
    }
    if given.json:
        print(json.dumps({name: document(found) for name, found in measured.items()}))
    else:
        print("\n".join(line for name, found in measured.items() for line in lines(name, found)))


def _read(
    names: Sequence[str], data: Path, costs: Sequence[Sequence[str]] = COSTS
) -> Iterator[tuple[str, Questions]]:
    for name in names:
        if name == "fit":
            continue
        if name == "cost":
            for _, questions in _read(["locomo"], data):
                for left_out in costs:
                    yield f"without {', '.join(left_out)}", without(questions, *left_out)
            continue
        if name == "facts":
            yield name, read_facts()
        elif name == "plain":
            yield name, read_pages(ROOT / "docs")
        elif not (path := data / FILES[name]).exists():
            print(f"{name} is skipped: there is no {path.name} in {path.parent}", file=sys.stderr)
        else:
            try:
                read = read_locomo if name == "locomo" else read_pairs
                yield name, thinned(read(path.read_bytes()), EVERY.get(name, 1))
            except InvalidJson as refused:
                sys.exit(f"{path} is not a file of {name}: {refused.why}.")


def lines(name: str, found: Measured) -> Iterator[str]:
    """A set as tables in Markdown, one for each part."""
    for part, by_finder in found.parts.items():
        several = next(iter(by_finder.values()))
        yield f"### {name}: {part}"
        yield ""
        without = (
            f", {several.unanswerable} of them without an answer" if several.unanswerable else ""
        )
        yield f"{several.questions:,} questions{without}; {found.texts:,} texts."
        yield ""
        yield _line(HEADER)
        yield _line(["---"] * len(HEADER))
        for finder, figures in by_finder.items():
            yield _line(row(finder, figures))
        yield ""
    yield f"No word of content in common with the answer: {found.unshared:.0%} of the questions."
    yield ""


def document(found: Measured) -> Mapping[str, object]:
    """The same for machines."""
    return {
        "texts": found.texts,
        "skipped": found.skipped,
        "unshared": round(found.unshared, 4),
        "parts": {
            part: {finder: figures.document() for finder, figures in by_finder.items()}
            for part, by_finder in found.parts.items()
        },
    }


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
