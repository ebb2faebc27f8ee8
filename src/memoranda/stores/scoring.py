"""Scoring a question from the postings of a scope: the same sums on both databases.

1. statistics of the scope are made exact by the tail
2. the postings of the tokens that are asked for are added up; those of the tail stand beside them
3. what is gone, and what is not looked at, is left out
4. records are read for the best only; their scores, confidences and reasons are made by
   `recall.ranking`, from what their postings say
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Generic, TypeVar

from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Candidate, Scored, Weights
from memoranda.recall.postings import Hits, Located, PostingRun, counted, weighed
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode, one_by_one, ranked
from memoranda.stores.postings import Chunk, packed, run_of, size_of
from memoranda.stores.tail import Tail
from memoranda.text.tokens import LENGTHS


class Scoring:
    """One question to one scope at one moment."""

    def __init__(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        chunks: Iterable[tuple[str, Chunk]],
        tail: Tail,
        *,
        documents: int,
        length: int,
    ) -> None:
        """`chunks` are those of every token that is asked for, of each by its first entry."""
        self._mode, self.asked, self._tail = mode, asked, tail
        self._runs: dict[str, list[PostingRun]] = {token: [] for token in asked.tokens}
        frequencies = dict.fromkeys(asked.tokens, 0)
        for token, chunk in chunks:
            self._runs[token].append(run_of(chunk))
            frequencies[token] += size_of(chunk.body)
        self.statistics = tail.statistics(documents, length, frequencies)  # 1.
        for token, postings in tail.postings(asked.tokens).items():
            self._runs[token] += map(run_of, packed(postings))

    @cached_property
    def _located(self) -> Located:
        return Located(self._runs)

    @cached_property
    def weights(self) -> Weights:
        return Weights(self.asked.tokens, self.statistics)

    def hits(self, only: Collection[int] | None = None) -> Hits:
        """Every record that has anything of what is asked for; of these entries only, if given."""
        if self._mode is RankingMode.KEYWORD:  # 2.
            found = counted(self.asked.words, self._runs)
        else:
            found = weighed(self.weights, self._runs)
        found.drop(self._tail.gone)  # 3.
        if only is not None:
            found.keep(only)
        return found

    def candidate(self, seq: int, id: str, created_at: int, speaker: str = "") -> Candidate:
        """A record as its postings describe it, of no thread."""
        kinds = self._located.kinds_at(seq)
        counts = {token: kind >> 8 for token, kind in kinds.items()}
        length = LENGTHS[next(iter(kinds.values())) & 0xFF] if kinds else 0
        said_by = frozenset(speaker.split())
        return Candidate(id, seq, created_at, counts, length, speaker=said_by)

    def scored(self, candidates: Iterable[Candidate]) -> list[Scored]:
        """Some of the hits, the best first: 4. Not for `CONTEXT`, which is more than its hits."""
        return ranked(self._mode, self.asked, candidates, self.statistics)

    def one_by_one(self, candidates: Iterable[Candidate], *, among: int) -> Iterator[Scored]:
        """Hits and what stands around them, the best first, as they are asked for: 4.

        The words of the best `among` of them count.
        """
        return one_by_one(self._mode, self.asked, candidates, self.statistics, among=among)


# ------------------------------------------------------------------------------------------------
# The results of a ranking, taken one by one in order: the same on both databases.

R = TypeVar("R")


class Results(Generic[R]):
    """Takes the best until there are enough, then notes what came next."""

    def __init__(
        self, make: Callable[[Current, Scored], R | None], *, limit: int, below: int
    ) -> None:
        self.made: list[R] = []
        self.below: list[Scored] = []
        self._make = make
        self._limit, self._below = limit, below

    @property
    def wanted(self) -> int:
        return self._limit - len(self.made) + self._below - len(self.below)

    def take(self, scored: Scored, record: Current) -> None:
        """Take the next one, if it is wanted, and made into anything."""
        value = self._make(record, scored) if self.wanted > 0 else None
        if value is None:
            return
        if len(self.made) < self._limit:
            self.made.append(value)
        else:
            self.below.append(scored)
