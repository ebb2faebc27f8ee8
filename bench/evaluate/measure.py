"""Every question of a set, asked of every finder in one run; and what that came to.

Figures are of all questions and of those that were kept away from tuning. Where ours runs on two
databases, what they found must be equal, confidences included: DatabasesDiffer otherwise.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.evaluate.finders import Bm25, Finder, Fts5, Ours, Vectors, remembered
from bench.evaluate.questions import Collection, Question, Questions, is_kept
from memoranda.models import Embedder
from memoranda.recall.figures import AT, Figures, Graded, figures
from memoranda.recall.question import asked
from memoranda.text import terms

ALL: Final = "all"
KEPT: Final = "kept away"
DEFAULT: Final = "recall"
WORDS: Final = "recall, no model"
FULL_TEXT: Final = "full text"


class DatabasesDiffer(Exception):
    """Two databases gave different answers to one question."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A set of questions: how many texts, and by part and finder what was found."""

    texts: int
    skipped: int
    unshared: float
    """The part of the questions with an answer that share no word of content with it."""
    parts: Mapping[str, Mapping[str, Figures]]


async def measure(
    questions: Questions,
    *,
    embedder: Embedder | None = None,
    urls: Sequence[str] = (),
) -> Measured:
    """Ask every question in every way. Without URLs, of a SQLite file."""
    graded: dict[str, list[tuple[Question, Graded]]] = {}
    for collection in questions.collections:
        async with AsyncExitStack() as stack:
            finders = await _finders(stack, collection, embedder, urls)
            for question in collection.questions:
                for name, found in (await _answers(finders, question)).items():
                    graded.setdefault(name, []).append((question, found))
    parts: dict[str, Callable[[Question], bool]] = {ALL: lambda _: True, KEPT: is_kept}
    if len(questions.categories) > 1:
        for category in questions.categories:
            parts[category] = lambda question, wanted=category: question.category == wanted  # type: ignore[misc]
            parts[f"{category}, {KEPT}"] = lambda question, wanted=category: (  # type: ignore[misc]
                question.category == wanted and is_kept(question)
            )
    return Measured(
        sum(len(collection.texts) for collection in questions.collections),
        questions.skipped,
        unshared(questions),
        {
            part: {
                name: figures([found for question, found in several if belongs(question)])
                for name, several in graded.items()
            }
            for part, belongs in parts.items()
        },
    )


async def _finders(
    stack: AsyncExitStack, collection: Collection, embedder: Embedder | None, urls: Sequence[str]
) -> list[Finder]:
    found: list[Finder] = [Bm25(collection), Fts5(collection)]
    if embedder is not None:
        found.append(Vectors(collection, embedder))
    if not urls:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        urls = [f"sqlite:///{Path(folder, 'evaluation.db')}"]
    for number, url in enumerate(urls):
        memory, clock = await stack.enter_async_context(
            remembered(url, collection, embedder=embedder)
        )
        if embedder is not None:
            await memory.maintain.embed()
        suffix = f" #{number}" if number else ""
        found.append(Ours(f"{FULL_TEXT}{suffix}", memory, clock, selector="full-text"))
        found.append(Ours(f"{WORDS}{suffix}", memory, clock, selector="words"))
        if embedder is not None:
            found.append(Ours(f"{DEFAULT}{suffix}", memory, clock))
    return found


async def _answers(finders: Sequence[Finder], question: Question) -> dict[str, Graded]:
    found: dict[str, Graded] = {}
    for finder in finders:
        answer = await finder.find(question, AT[-1])
        name, _, again = finder.name.partition(" #")
        graded = Graded(question.evidence, answer.ids, answer.confidences)
        if again and found[name] != graded:
            raise DatabasesDiffer(f"{name}: {question.text}")
        found[name] = graded
    return found


def unshared(questions: Questions) -> float:
    """The part of the questions with an answer that share no word of content with any of it."""
    total = without = 0
    for collection in questions.collections:
        tokens = {text.id: terms(text.text).counts for text in collection.texts}
        for question in collection.questions:
            if question.evidence:
                wanted = asked(question.text).tokens
                said = [tokens[id] for id in question.evidence]
                total += 1
                without += not any(token in counts for token in wanted for counts in said)
    return without / total if total else 0.0
