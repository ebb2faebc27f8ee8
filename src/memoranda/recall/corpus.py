"""Documents in memory, found by the rankings of recall: what a database does, without one.

For what no index knows: records as they were at another time, worlds, texts that an evaluation
brings along. Each corpus is a scope of its own: its statistics are those of its documents alone.
"""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from memoranda.ledger.derive import said_at, speaker_in, thread_of, words_of
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Candidate, Scored, Statistics
from memoranda.recall.neighbours import REACH
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import NEEDS, RankingMode, ranked, seeds, seeds_for
from memoranda.text import Terms, speaker_of, terms


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


def of_text(
    id: str, seq: int, text: str, created_at: int = 0, thread: str | None = None
) -> Document:
    """A document of a plain text, with its tokens and its speaker."""
    return Document(id, seq, created_at, terms(text), thread, speaker_of(text))


def of_object(current: Current, document: Any, seq: int) -> Document:
    return Document(
        current.id,
        seq,
        said_at(document),
        words_of(document),
        thread_of(document),
        frozenset(speaker_in(document).split()),
    )


class Corpus:
    """Documents with their postings, threads and statistics."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._candidates: list[Candidate] = []
        self._postings: dict[str, list[int]] = {}
        self._threads: dict[str, list[Candidate]] = {}
        length = 0
        in_order = sorted(documents, key=lambda document: (document.created_at, document.id))
        for number, document in enumerate(in_order):
            length += document.words.length
            for token in document.words.counts:
                self._postings.setdefault(token, []).append(number)
            in_thread = (
                [] if document.thread is None else self._threads.setdefault(document.thread, [])
            )
            candidate = Candidate(
                document.id,
                document.seq,
                document.created_at,
                document.words.counts,
                document.words.length,
                place=len(in_thread),
                thread=document.thread,
                speaker=document.speaker,
            )
            in_thread.append(candidate)
            self._candidates.append(candidate)
        frequencies = {token: len(numbers) for token, numbers in self._postings.items()}
        self.statistics = Statistics(len(self._candidates), length, frequencies)

    def __len__(self) -> int:
        return len(self._candidates)

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
        number = seeds_for(limit) if among is None else among
        having = {number for token in wanted.tokens for number in self._postings.get(token, ())}
        candidates = _among([self._candidates[number] for number in sorted(having)], only)
        if NEEDS[mode].neighbours:
            best = seeds(wanted, candidates, self.statistics, number)
            candidates = _among(self._around(best), only)
        return ranked(mode, wanted, candidates, self.statistics, limit=limit, among=number)

    def _around(self, best: Iterable[Candidate]) -> list[Candidate]:
        near = {candidate.id: candidate for candidate in best}
        for candidate in tuple(near.values()):
            if candidate.thread is not None:
                places = self._threads[candidate.thread]
                first = max(candidate.place - REACH, 0)
                near |= {
                    nearby.id: nearby for nearby in places[first : candidate.place + REACH + 1]
                }
        return list(near.values())


def _among(candidates: list[Candidate], only: Collection[str] | None) -> list[Candidate]:
    return (
        candidates
        if only is None
        else [candidate for candidate in candidates if candidate.id in only]
    )
