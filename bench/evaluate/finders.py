"""What finds: memoranda on a database, and beside it what others do with the same texts.

`Bm25` is the formula of the package bm25s with its usual parameters (Lucene's idf, k1 1.5, b 0.75)
over our stems, written out here: the package is not pinned. FTS5 is SQLite's own. `Vectors`
compares the vectors of an embedder, and nothing else.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, Protocol

import apsw
import numpy as np

import memoranda
from bench.evaluate.questions import Collection, Question
from memoranda.models import Embedder, embedded, similarities
from memoranda.recall.question import is_grammar
from memoranda.text import terms

K1: Final = 1.5
B: Final = 0.75
_WORD: Final = re.compile(r"\w+")
NOW: Final = 1_700_000_000_000
"""When questions are asked that have no time."""

_AT_ONCE: Final = 500
_FIND: Final = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?"


class Answer(NamedTuple):
    """The ids of what was found, the best first, and how sure each is, where that is said."""

    ids: Sequence[str]
    confidences: Sequence[float] = ()


class Finder(Protocol):
    """Finds texts of one collection."""

    @property
    def name(self) -> str:
        """How it is called in a table."""
        ...

    async def find(self, question: Question, top_k: int) -> Answer:
        """What is found, the best first."""
        ...


def asked_words(text: str) -> list[str]:
    """The words of a question that tell something, by our list; all, if there are no others."""
    words = _WORD.findall(text.lower())
    return [word for word in words if not is_grammar(word)] or words


class Bm25:
    """BM25 as bm25s computes it, over our stems and pairs of syllables."""

    name = "bm25s' formula, stems"

    def __init__(self, collection: Collection) -> None:
        self._ids = [text.id for text in collection.texts]
        documents = [terms(text.text) for text in collection.texts]
        lengths = np.array([document.length for document in documents], float)
        self._norms = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        for number, document in enumerate(documents):
            for token, count in document.counts.items():
                numbers, counts = self._postings.setdefault(token, ([], []))
                numbers.append(number)
                counts.append(count)

    async def find(self, question: Question, top_k: int) -> Answer:
        total = np.zeros(len(self._ids))
        for token in terms(" ".join(asked_words(question.text))).counts:
            if token in self._postings:
                numbers, found = self._postings[token]
                counts = np.array(found, float)
                idf = np.log(1 + (len(total) - len(numbers) + 0.5) / (len(numbers) + 0.5))
                total[numbers] += idf * counts / (counts + self._norms[numbers])
        order = np.argsort(-total, kind="stable")[:top_k]
        return Answer([self._ids[at] for at in order if total[at] > 0])


class Fts5:
    """SQLite's own full text search with its Porter stemmer, ranked by its own bm25."""

    name = "FTS5 porter"

    def __init__(self, collection: Collection) -> None:
        self._ids = [text.id for text in collection.texts]
        self._table = apsw.Connection(":memory:")
        self._table.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter')")
        rows = enumerate(text.text for text in collection.texts)
        self._table.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)

    async def find(self, question: Question, top_k: int) -> Answer:
        expression = " OR ".join(f'"{word}"' for word in asked_words(question.text))
        if not expression:
            return Answer([])
        rows: Any = self._table.execute(_FIND, (expression, top_k))
        return Answer([self._ids[number] for (number,) in rows])


class Vectors:
    """The nearest vectors of an embedder, and nothing else."""

    name = "vectors alone"

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self._texts, self._embedder = collection.texts, embedder
        self._vectors: list[bytes] = []

    async def find(self, question: Question, top_k: int) -> Answer:
        while len(self._vectors) < len(self._texts):
            first = len(self._vectors)
            several = [text.text for text in self._texts[first : first + _AT_ONCE]]
            self._vectors += await embedded(self._embedder, several)
        (vector,) = await embedded(self._embedder, [question.text])
        near = np.array(similarities(vector, self._vectors))
        order = np.argsort(-near, kind="stable")[:top_k]
        return Answer([self._texts[at].id for at in order])


# ---------------------------------------------------------------------------- ours


class Standing:
    """A clock that stands where it is put: questions are asked at a time."""

    def __init__(self, now: int) -> None:
        self.now = now

    def now_ms(self) -> int:
        return self.now


class Ours:
    """`memory.recall` of one scope, by one selector."""

    def __init__(
        self, name: str, memory: memoranda.Memory[Any], clock: Standing, **asked: Any
    ) -> None:
        self.name = name
        self._memory, self._clock, self._asked = memory, clock, asked

    async def find(self, question: Question, top_k: int) -> Answer:
        self._clock.now = question.asked_at or NOW
        found = await self._memory.recall(question.text, top_k=top_k, **self._asked)
        return Answer([str(item.id) for item in found], [item.confidence for item in found])


@asynccontextmanager
async def remembered(
    url: str, collection: Collection, **connecting: Any
) -> AsyncIterator[tuple[memoranda.Memory[Any], Standing]]:
    """A scope that has the texts of a collection, and its clock."""
    clock = Standing(max([NOW, *(text.created_at for text in collection.texts)]))
    async with memoranda.connect(
        url, clockwork=memoranda.Clockwork(clock), **connecting
    ) as database:
        memory = database.scope(collection.name, actor="agent:evaluation")
        for first in range(0, len(collection.texts), _AT_ONCE):
            several = collection.texts[first : first + _AT_ONCE]
            await memory.remember_many(
                [memoranda.Memo(text.text, id=text.id, **_about(text)) for text in several]
            )
        yield memory, clock


def _about(text: Any) -> dict[str, Any]:
    said_at = {"said_at": text.created_at} if text.created_at else {}
    return said_at | ({"thread": text.thread} if text.thread else {})
