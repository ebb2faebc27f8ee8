"""The same questions by others: FTS5 and, where it is installed, bm25s; beside ours, in one run.

Run it from the root of the project, with what it needs installed beside memoranda::

    pip install bm25s PyStemmer
    python -m bench.evaluate.baselines locomo ../shared/data/locomo/locomo-dev.json
    python -m bench.evaluate.baselines pairs ../shared/data/korean/chatbot-dev.csv

Words of grammar are left out for all of them with the same list, ours: each is shown with and
without it. The conversations of a file are also shown in two halves.
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw

from bench.evaluate.measure import OVERALL, Finder, InMemory, measure
from bench.evaluate.questions import Collection, Question, Questions, read_locomo, read_pairs
from memoranda.recall.question import GRAMMAR

_WORD = re.compile(r"\w+")
TOKENIZERS = ("unicode61", "porter", "trigram")
FIND = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?"


class Fts5:
    """SQLite's own full text search, ranked by its own bm25."""

    selectors = tuple(
        f"fts5-{name}{with_list}" for name in TOKENIZERS for with_list in ("", "+list")
    )

    def __init__(self, collection: Collection) -> None:
        self._ids = [one.id for one in collection.texts]
        self._tables = {}
        for name in TOKENIZERS:
            table = apsw.Connection(":memory:")
            table.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = '{name}')")
            rows = enumerate(one.text for one in collection.texts)
            table.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
            self._tables[name] = table

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first."""
        name, _, with_list = selector.removeprefix("fts5-").partition("+")
        words = asked_words(question.text, with_list=bool(with_list))
        if name == "trigram":
            text = " ".join(words)
            words = [text[at : at + 3] for at in range(len(text) - 2)]
        if not words:
            return []
        expression = " OR ".join(f'"{word}"' for word in words)
        rows: Any = self._tables[name].execute(FIND, (expression, top_k))
        return [self._ids[number] for (number,) in rows]


class Bm25s:
    """The package bm25s with the Snowball stemmer."""

    selectors = ("bm25s-stem", "bm25s-stem+list")

    def __init__(self, collection: Collection) -> None:
        self._bm25s: Any = import_module("bm25s")
        self._stemmer = import_module("Stemmer").Stemmer("english")
        self._ids = [one.id for one in collection.texts]
        self._indexes = {}
        for selector in self.selectors:
            index = self._bm25s.BM25()
            tokens = self._tokens([one.text for one in collection.texts], selector)
            index.index(tokens, show_progress=False)
            self._indexes[selector] = index

    def _tokens(self, texts: list[str], selector: str) -> Any:
        left_out = sorted(GRAMMAR) if selector.endswith("+list") else None
        return self._bm25s.tokenize(
            texts, stopwords=left_out, stemmer=self._stemmer, show_progress=False
        )

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first."""
        tokens = self._tokens([question.text], selector)
        if not tokens.vocab:
            return []
        ids, scores = self._indexes[selector].retrieve(tokens, k=top_k, show_progress=False)
        return [self._ids[n] for n, score in zip(ids[0], scores[0], strict=True) if score > 0]


def asked_words(text: str, *, with_list: bool) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if not (with_list and word in GRAMMAR)]


class Beside:
    """Ours and theirs, side by side."""

    def __init__(self, collection: Collection) -> None:
        theirs: list[type[Any]] = [Fts5, *([Bm25s] if find_spec("bm25s") else [])]
        finders: list[Finder] = [one(collection) for one in (*theirs, InMemory)]
        self._finders = {name: one for one in finders for name in one.selectors}
        self.selectors = tuple(self._finders)

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first."""
        return await self._finders[selector].find(selector, question, top_k)


async def main(kind: str, document: bytes) -> None:
    questions = read_locomo(document) if kind == "locomo" else read_pairs(document)
    parts = {"all": questions.collections}
    if len(questions.collections) > 1:
        middle = (len(questions.collections) + 1) // 2
        parts["first half"] = questions.collections[:middle]
        parts["second half"] = questions.collections[middle:]
    for name, part in parts.items():
        found = await measure(Questions(part, questions.categories), Beside)
        print(f"{name}: {found.questions[OVERALL]} questions, {found.texts} texts")
        for one in found.measured:
            rows = ((k, v) for k, v in one.recall.items() if len(one.recall) > 2 or k == OVERALL)
            shown = "  ".join(f"{k} {'/'.join(f'{x:.3f}' for x in v)}" for k, v in rows)
            print(f"  {one.selector:22}{shown}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]).read_bytes()))
