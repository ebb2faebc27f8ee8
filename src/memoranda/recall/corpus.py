"""Documents in memory, found by the rankings of recall: what a database does, without one.

For what no index knows: records as they were at another time, worlds, texts that an evaluation
brings along. Each corpus is a scope of its own: its statistics are those of its documents alone.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, NamedTuple

from memoranda.ledger.derive import asks, said_at, searched_text, speaker_in, thread_of
from memoranda.ledger.object import data_of
from memoranda.ledger.snapshot import StoredDocument
from memoranda.ledger.unit import Current
from memoranda.recall.arrays import np
from memoranda.recall.bm25 import Scored
from memoranda.recall.columns import Columns
from memoranda.recall.near_words import NO_STAND_INS, StandIns, Vocabulary
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import Nearness, Postings, Ranked, RankingMode
from memoranda.text import Terms, speaker_of, terms
from memoranda.text.tokens import class_of, kind_of


class Document(NamedTuple):
    """What can be found: when it was made, its words, what it is a part of and who says it.

    `seq` is a number of its own; of equal ones, the highest comes first.
    """

    id: str
    seq: int
    created_at: int
    words: Terms
    thread: str | None = None
    speaker: frozenset[str] = frozenset()
    is_question: bool = False


def of_text(
    id: str, seq: int, text: str, created_at: int = 0, thread: str | None = None
) -> Document:
    """A document of a plain text, with its tokens and its speaker."""
    return Document(id, seq, created_at, terms(text), thread, speaker_of(text), asks(text))


def of_object(current: Current, document: Any, seq: int) -> Document:
    data = data_of(document)
    text = searched_text(document, data)
    return Document(
        current.id,
        seq,
        said_at(document),
        terms(text),
        thread_of(document),
        frozenset(speaker_in(document, data).split()),
        asks(text),
    )


class Corpus:
    """Documents with their postings, columns and statistics."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = sorted(documents, key=lambda document: document.seq)
        self._columns = Columns()
        postings: dict[str, tuple[list[int], list[int]]] = {}
        rows = []
        for number, document in enumerate(self._documents):
            length = document.words.length
            for token, count in document.words.counts.items():
                seqs, kinds = postings.setdefault(token, ([], []))
                seqs.append(number)
                kinds.append(kind_of(count, length))
            speaker, thread = " ".join(sorted(document.speaker)), document.thread or ""
            row = (number, document.created_at, thread, speaker, class_of(length))
            rows.append(StoredDocument(*row, document.is_question))
        self._columns.add(rows)
        self._postings = {
            token: Postings(np.array(seqs, np.int64), np.array(kinds, np.uint16))
            for token, (seqs, kinds) in postings.items()
        }

    def __len__(self) -> int:
        return len(self._documents)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        found = Vocabulary()
        found.add(self.tokens)
        return found

    @property
    def tokens(self) -> Collection[str]:
        """Every token that any document has."""
        return self._postings.keys()

    def find(
        self,
        mode: RankingMode,
        wanted: ParsedQuestion,
        *,
        limit: int | None,
        among: int | None = None,
        only: Collection[str] | None = None,
    ) -> list[Scored]:
        """What is found, the best first; `among` is of how many the words count in CONTEXT.

        With `only`, nothing but the documents with these ids is looked at.
        """
        stand_ins = NO_STAND_INS
        if mode is RankingMode.CONTEXT:
            stand_ins = self._vocabulary.stand_ins(wanted, None)
        number = (limit or 0) if among is None else among
        ranked = self.ranked(mode, wanted, number, only, stand_ins=stand_ins)
        most = len(self) if limit is None else limit
        return [self._scored(ranked, *found) for found in ranked.first(most)]

    def ranked(
        self,
        mode: RankingMode,
        wanted: ParsedQuestion,
        among: int,
        only: Collection[str] | None = None,
        *,
        stand_ins: StandIns = NO_STAND_INS,
        alike: Nearness | None = None,
    ) -> Ranked:
        """The same as numbers, by the place of each document; with a model's help, if given."""
        others = (other.token for found in stand_ins.values() for other in found)
        tokens = dict.fromkeys([*wanted.tokens, *others])
        postings = {token: self._postings[token] for token in tokens if token in self._postings}
        looked_at = None
        if only is not None:
            looked_at = [n for n, document in enumerate(self._documents) if document.id in only]
        return Ranked(
            mode, wanted, postings, self._columns, len(self), among, looked_at, stand_ins, alike
        )

    def _scored(self, ranked: Ranked, number: int, points: float) -> Scored:
        document = self._documents[number]
        return ranked.scored(number, points, document.id)._replace(seq=document.seq)
