"""The documents of a scope in columns: when and by whom each was said, in which thread, how long.

A column has a place for every entry of the journal; most entries of a journal are documents or soon
will have been. So a ranking looks up a million numbers at once, and neighbours in a thread are
neighbours in an array. It is exact for one size of the journal and knows nothing of an index: what
is written adds to it, and takes away what it replaces.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoranda.ledger.snapshot import StoredDocument
from memoranda.recall.arrays import NDArray, np
from memoranda.text.tokens import BEGINS_WITH, LENGTHS

Numbers = NDArray[Any]

REACH: Final = 4
"""How many places before or after it in its thread are neighbours of a record."""

GAP: Final = 3_600_000
"""Milliseconds between two records from which on they are no neighbours."""

SETTLED: Final = 512
"""So many documents may come or go before the order of threads is made anew."""

_OFFSETS: Final = (*range(-REACH, 0), *range(1, REACH + 1))
_LEAST: Final = 1_024
_BYTES: Final = 1 + 1 + 1 + 8 + 4 + 4 + 4


class Neighbours(NamedTuple):
    """Pairs of a seed and a document near it, itself among them: how many places after it."""

    seeds: Numbers
    """Which of the seeds, by its place among them."""
    near: Numbers
    """The entry of the document."""
    offsets: Numbers


class Columns:
    """What is known of each document, by the number of its entry."""

    def __init__(self) -> None:
        self.there = np.zeros(0, np.bool_)
        """Whether an entry is a document that can be found now."""
        self.classes = np.zeros(0, np.uint8)
        """How long it is (`text.tokens.class_of`)."""
        self.questions = np.zeros(0, np.bool_)
        """Whether it ends as a question does."""
        self.times = np.zeros(0, np.int64)
        self.threads = np.zeros(0, np.int32)
        """A number for its thread; -1 for none."""
        self.speakers = np.zeros(0, np.int32)
        """A number for who says it, such as `names` has it; 0 for nobody."""
        self.names: list[frozenset[str]] = [frozenset()]
        self._said: list[int] = [0]
        """How many documents each of them says."""
        self.documents = 0
        self.length = 0
        """Tokens of all documents together, each counted as its class is."""
        self._thread_numbers: dict[str, int] = {}
        self._speaker_numbers: dict[str, int] = {"": 0}
        self._order = np.zeros(0, np.int64)
        self._thread_in_order = np.zeros(0, np.int32)
        self._place = np.zeros(0, np.int32)
        self._unsettled: dict[int, list[int]] = {}
        self._changes = 0

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return len(self.there) * _BYTES + len(self._order) * 12

    # ------------------------------------------------------------------- what is known

    def add(self, rows: Sequence[StoredDocument]) -> None:
        """Documents, which come by their entry."""
        if not rows:
            return
        seqs, times, threads, speakers, classes, questions = map(list, zip(*rows, strict=True))
        self._reserve(seqs[-1] + 1)
        numbers = [self._thread(name) for name in threads]
        self.there[seqs], self.classes[seqs], self.questions[seqs] = True, classes, questions
        self.times[seqs], self.threads[seqs] = times, numbers
        said_by = [self._speaker(name) for name in speakers]
        self.speakers[seqs] = said_by
        for number in said_by:
            self._said[number] += 1
        self.documents += len(rows)
        self.length += sum(LENGTHS[length] for length in classes)
        for seq, number in zip(seqs, numbers, strict=True):
            if number >= 0:
                self._unsettled.setdefault(number, []).append(seq)
                self._changes += 1

    def add_all(
        self,
        seqs: Numbers,
        times: Numbers,
        threads: tuple[Sequence[str], Numbers],
        speakers: tuple[Sequence[str], Numbers],
        classes: Numbers,
        questions: Numbers,
    ) -> None:
        """The same for many: of threads and speakers the names, and which of them each has."""
        if not len(seqs):
            return
        self._reserve(int(seqs[-1]) + 1)
        self.there[seqs], self.classes[seqs], self.questions[seqs] = True, classes, questions
        self.times[seqs] = times
        numbers = np.array([self._thread(name) for name in threads[0]], np.int32)
        self.threads[seqs] = numbers[threads[1]]
        numbers = np.array([self._speaker(name) for name in speakers[0]], np.int32)
        self.speakers[seqs] = numbers[speakers[1]]
        for number, said in enumerate(np.bincount(self.speakers[seqs]).tolist()):
            self._said[number] += said
        self.documents += len(seqs)
        self.length += int(np.array(LENGTHS, np.int64)[classes].sum())
        self._changes += SETTLED + len(self._order) + 1  # there is no order of these yet

    def remove(self, seqs: Iterable[int]) -> list[int]:
        """Take documents out; which of them were there."""
        found = [seq for seq in seqs if seq < len(self.there) and self.there[seq]]
        for seq in found:
            self.there[seq] = False
            self._said[self.speakers[seq]] -= 1
            self.documents -= 1
            self.length -= LENGTHS[self.classes[seq]]
            if (number := int(self.threads[seq])) >= 0:
                self._unsettled.setdefault(number, [])
                self._changes += 1
        return found

    def named(self, tokens: Iterable[str]) -> Numbers:
        """By the number of a speaker, whether any of these tokens names them.

        Whoever a text only begins with is a speaker if another text begins so, too: a title
        (``Refund policy: …``) is nobody.
        """
        wanted = set(tokens)
        return np.array(
            [
                not wanted.isdisjoint(name) and (BEGINS_WITH not in name or said > 1)
                for name, said in zip(self.names, self._said, strict=True)
            ],
            np.bool_,
        )

    def _thread(self, name: str) -> int:
        return self._thread_numbers.setdefault(name, len(self._thread_numbers)) if name else -1

    def _speaker(self, name: str) -> int:
        number = self._speaker_numbers.get(name)
        if number is None:
            number = self._speaker_numbers[name] = len(self.names)
            self.names.append(frozenset(name.split()))
            self._said.append(0)
        return number

    def _reserve(self, size: int) -> None:
        more = size - len(self.there)
        if more <= 0:
            return
        more = max(more, len(self.there) // 4, _LEAST)
        for name in ("there", "classes", "questions", "times", "threads", "speakers"):
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros(more, column.dtype)]))

    # ---------------------------------------------------------------------- neighbours

    def around(self, seeds: Numbers) -> Neighbours:
        """The seeds themselves, and up to `REACH` documents before and after each in its thread.

        In a thread, what was said first stands first; of the same time, what was written first.
        """
        if self._changes > SETTLED + len(self._order) // 64:
            self._settle()
        threads = self.threads[seeds]
        own = np.arange(len(seeds))
        settled = (threads >= 0) & ~np.isin(threads, list(self._unsettled))
        places = self._place[seeds[settled]]
        at = places[:, None] + np.array(_OFFSETS)
        near = self._order[np.clip(at, 0, max(len(self._order) - 1, 0))] if len(places) else at
        first = seeds[settled][:, None]
        is_near = (
            (at >= 0)
            & (at < len(self._order))
            & (self.threads[near] == threads[settled][:, None])
            & (np.abs(self.times[near] - self.times[first]) <= GAP)
        )
        offsets = np.broadcast_to(np.array(_OFFSETS), at.shape)
        found = [
            Neighbours(own, seeds, np.zeros(len(seeds), np.int64)),
            Neighbours(
                np.broadcast_to(own[settled][:, None], at.shape)[is_near],
                near[is_near],
                offsets[is_near],
            ),
        ]
        found += [self._near(int(i), int(seeds[i])) for i in own[(threads >= 0) & ~settled]]
        return Neighbours(*map(np.concatenate, zip(*found, strict=True)))

    def _near(self, number: int, seed: int) -> Neighbours:
        """What stands around a seed in a thread of which something came or went since."""
        thread, time = self.threads[seed], self.times[seed]
        first, last = np.searchsorted(self._thread_in_order, [thread, thread + 1])
        stretch = self._order[first:last]
        bounds = np.searchsorted(self.times[stretch], [time - GAP, time + GAP + 1])
        near = np.concatenate(
            [stretch[bounds[0] : bounds[1]], np.array(self._unsettled[int(thread)], np.int64)]
        )
        near = near[self.there[near] & (np.abs(self.times[near] - time) <= GAP)]
        near = near[np.lexsort((near, self.times[near]))]
        place = int(np.flatnonzero(near == seed)[0])
        offsets = np.arange(len(near)) - place
        kept = (np.abs(offsets) <= REACH) & (offsets != 0)
        return Neighbours(np.full(int(kept.sum()), number), near[kept], offsets[kept])

    def _settle(self) -> None:
        """Make the order of threads anew: mostly it is nearly so already, and sorted soon."""
        seqs = np.flatnonzero(self.there & (self.threads >= 0))
        self._order = seqs[np.lexsort((self.times[seqs], self.threads[seqs]))]
        self._thread_in_order = self.threads[self._order]
        self._place = np.full(len(self.there), -1, np.int32)
        self._place[self._order] = np.arange(len(self._order), dtype=np.int32)
        self._unsettled = {}
        self._changes = 0
