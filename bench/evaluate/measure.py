"""Recall at 5, 10 and 20: the part of the texts that answer a question among the first k found.

A question counts as much as any other, however many texts answer it: the figure is the mean of
their parts. What finds is a `Finder`: here the rankings over texts in memory; a database behind
`recall` is another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from bench.evaluate.questions import Collection, Question, Questions
from memoranda.models import Embedder, embedded, similarities
from memoranda.recall.bm25 import Scored
from memoranda.recall.hybrid import depth_of, only_near, together
from memoranda.recall.vectors import in_order
from memoranda.selectors import Chosen, Corpus, Hybrid, RankingMode, asked, of_text

AT: Final = (5, 10, 20)
OVERALL: Final = "overall"
WITH_A_MODEL: Final = ("hybrid",)
"""What is measured only where there is an embedder (`embedded`)."""

Told = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and of how much."""


class Finder(Protocol):
    """Finds texts of one collection, in one or several ways."""

    @property
    def selectors(self) -> Sequence[str]:
        """The names of the ways."""
        ...

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first."""
        ...


class InMemory:
    """The rankings that need no model, over the texts of a collection."""

    selectors: Sequence[str] = tuple(mode.value for mode in RankingMode)

    def __init__(self, collection: Collection) -> None:
        self._corpus = Corpus(
            of_text(one.id, number, one.text, one.created_at, one.thread)
            for number, one in enumerate(collection.texts)
        )

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what a ranking finds."""
        return [one.id for one in self.scored(RankingMode(selector), question, top_k)]

    def scored(self, mode: RankingMode, question: Question, limit: int) -> list[Scored]:
        """What a ranking finds, with scores."""
        return self._corpus.find(mode, asked(question.text, at=question.asked_at), limit=limit)


@dataclass(frozen=True, slots=True)
class Measured:
    """How well one selector finds: recall at `AT`, by category and overall."""

    selector: str
    recall: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured, on how much."""

    collections: int
    texts: int
    questions: Mapping[str, int]
    skipped: int
    measured: Sequence[Measured]

    @property
    def not_run(self) -> Sequence[str]:
        """The selectors that were not measured."""
        measured = {one.selector for one in self.measured}
        return [name for name in WITH_A_MODEL if name not in measured]

    @property
    def document(self) -> dict[str, Any]:
        """The same for machines; figures are rounded to six digits."""
        return {
            "collections": self.collections,
            "texts": self.texts,
            "questions": dict(self.questions),
            "skipped": self.skipped,
            "selectors": {
                **{one.selector: _figures(one) for one in self.measured},
                **dict.fromkeys(self.not_run, "not run"),
            },
        }


async def measure(
    questions: Questions,
    finder: Callable[[Collection], Finder] = InMemory,
    told: Told = lambda *_: None,
) -> Evaluation:
    """Ask every question in every way, and count what of its evidence is found."""
    total = sum(len(one.questions) for one in questions.collections)
    parts: dict[str, dict[str, list[tuple[float, ...]]]] = {}
    done = 0
    for collection in questions.collections:
        finds = finder(collection)
        for question in collection.questions:
            for selector in finds.selectors:
                found = await finds.find(selector, question, max(AT))
                scored = parts.setdefault(selector, {})
                scored.setdefault(question.category, []).append(_parts(question, found))
            done += 1
            told("questions", done, total)
    counts = {
        category: sum(q.category == category for c in questions.collections for q in c.questions)
        for category in questions.categories
    }
    return Evaluation(
        len(questions.collections),
        sum(len(one.texts) for one in questions.collections),
        {**counts, OVERALL: total},
        questions.skipped,
        [Measured(name, _means(found, questions.categories)) for name, found in parts.items()],
    )


def _parts(question: Question, found: Sequence[str]) -> tuple[float, ...]:
    return tuple(
        len(question.evidence.intersection(found[:k])) / len(question.evidence) for k in AT
    )


def _means(
    parts: Mapping[str, list[tuple[float, ...]]], categories: Sequence[str]
) -> dict[str, tuple[float, ...]]:
    every = [one for category in categories for one in parts.get(category, ())]
    rows = {category: parts[category] for category in categories if category in parts}
    return {
        name: tuple(sum(column) / len(column) for column in zip(*row, strict=True))
        for name, row in {**rows, OVERALL: every}.items()
        if row
    }


def _figures(one: Measured) -> dict[str, dict[str, float]]:
    return {
        category: {f"@{k}": round(value, 6) for k, value in zip(AT, values, strict=True)}
        for category, values in one.recall.items()
    }


# --------------------------------------------------------------------- with an embedder

HYBRID: Final = Hybrid()
MEANING: Final = "meaning"
_BATCH: Final = 64


def with_embedder(embedder: Embedder) -> Callable[[Collection], "WithEmbedder"]:
    """What makes finders with an embedder."""
    return lambda collection: WithEmbedder(collection, embedder)


class WithEmbedder:
    """All rankings over the texts of a collection, each of which is embedded once."""

    selectors: Sequence[str] = (*InMemory.selectors, MEANING, HYBRID.name)

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self._words = InMemory(collection)
        self._texts = collection.texts
        self._embedder = embedder
        self._vectors: list[bytes] = []

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first; ModelFailed ends the evaluation."""
        if selector not in {MEANING, HYBRID.name}:
            return await self._words.find(selector, question, top_k)
        depth = depth_of(top_k)
        near = (await self._nearest(question))[:depth]
        found = near
        if selector == HYBRID.name:
            scored = self._words.scored(HYBRID.mode, question, depth)
            words = [Chosen("", one.confidence, one.id, score=one.score) for one in scored]
            found = together(words, near)
        return [str(one.id) for one in found[:top_k]]

    async def _nearest(self, question: Question) -> list[Chosen]:
        while len(self._vectors) < len(self._texts):
            first = len(self._vectors)
            texts = [one.text for one in self._texts[first : first + _BATCH]]
            self._vectors += await embedded(self._embedder, texts)
        (vector,) = await embedded(self._embedder, [question.text])
        found = in_order(enumerate(similarities(vector, self._vectors)))
        return [
            Chosen("", only_near(near), self._texts[number].id, score=near)
            for number, near in found
        ]
