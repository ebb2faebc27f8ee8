"""Texts in memory, found by the rankings of recall: what a database does, without one.

Each corpus is a scope of its own: its statistics are those of its texts alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from recollect.recall.asking import asked
from recollect.recall.candidates import Candidate, Scored
from recollect.recall.neighbours import REACH
from recollect.recall.ranking import NEEDS, Mode, ranked, seeds, seeds_for
from recollect.recall.statistics import Statistics
from recollect.text import speaker_of, terms


@dataclass(frozen=True, slots=True)
class Text:
    """A text, when it was said, and which conversation it is a part of, if of any."""

    id: str
    text: str
    created_at: int = 0
    thread: str | None = None


class Corpus:
    """Texts in their order in time, with their postings and statistics.

    The number of an entry, by which equal ones are ordered, is a text's place here.
    """

    def __init__(self, texts: Iterable[Text]) -> None:
        self._candidates: list[Candidate] = []
        self._postings: dict[str, list[int]] = {}
        self._threads: dict[str | None, list[Candidate]] = {}
        length = 0
        for number, one in enumerate(texts):
            found = terms(one.text)
            length += found.length
            for token in found.counts:
                self._postings.setdefault(token, []).append(number)
            thread = self._threads.setdefault(one.thread, [])
            candidate = Candidate(
                one.id,
                number,
                one.created_at,
                found.counts,
                found.length,
                place=len(thread),
                thread=one.thread,
                speaker=speaker_of(one.text),
            )
            thread.append(candidate)
            self._candidates.append(candidate)
        frequencies = {token: len(numbers) for token, numbers in self._postings.items()}
        self.statistics = Statistics(len(self._candidates), length, frequencies)

    def __len__(self) -> int:
        return len(self._candidates)

    def find(self, mode: Mode, question: str, *, limit: int, at: int | None = None) -> list[Scored]:
        """What a question finds, asked at a time: the best first."""
        wanted = asked(question, at=at)
        having = {number for token in wanted.tokens for number in self._postings.get(token, ())}
        candidates = [self._candidates[number] for number in sorted(having)]
        if NEEDS[mode].neighbours:
            candidates = self._around(seeds(wanted, candidates, self.statistics, seeds_for(limit)))
        return ranked(mode, wanted, candidates, self.statistics, limit=limit)

    def _around(self, best: Iterable[Candidate]) -> list[Candidate]:
        """These, and what stands around them: no more than that is looked at."""
        near = {one.id: one for one in best}
        for one in tuple(near.values()):
            if one.thread is not None:
                places = self._threads[one.thread]
                near |= {
                    beside.id: beside
                    for beside in places[max(one.place - REACH, 0) : one.place + REACH + 1]
                }
        return list(near.values())
