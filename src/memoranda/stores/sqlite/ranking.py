"""Ranking the objects of a SQLite journal at one moment (`stores.scoring`, `recall.index`).

1. what is not in the index yet is read, and what it changes is worked out
2. the postings of what is asked for are read, and added up
3. a filter, if given, says which entries are looked at
4. the best are read; in `CONTEXT`, with what stands around them
5. each is made into a value, until there are enough
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

import apsw
import orjson

from memoranda.kernel.errors import EntryDamaged, IndexStale
from memoranda.ledger.derive import said_at, speaker_in, thread_row, time_of
from memoranda.ledger.snapshot import INDEX_FORM, Index, StoredThread
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Candidate, Scored
from memoranda.recall.index import EVERYTHING, Ranking, fits
from memoranda.recall.postings import Hits
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import NEEDS, RankingMode, seeds_for
from memoranda.records.filter import MemoryFilter
from memoranda.stores.compared import Compared
from memoranda.stores.scoring import Results, Scoring
from memoranda.stores.selection import COLUMNS, selection
from memoranda.stores.sqlite.finding import JournalRecords, head_of
from memoranda.stores.sqlite.merging import STATE
from memoranda.stores.sqlite.select import DIALECT
from memoranda.stores.sqlite.words import changes, chunks_of
from memoranda.stores.tail import Tail
from memoranda.stores.threads import InContext, Placed, Row, Threads, around, placed, stretches_of
from memoranda.stores.words import MERGED_ANYWAY, WordCache

# What is no more than an hour away, of all seeds at once: nothing further away is a neighbour.
# Stretch by stretch as they are given, and in each by the key of the table: so it is in order.
_NEAR: Final = """
SELECT t.thread, t.created_at, t.id, t.seq, t.speaker
FROM json_each(?2) n CROSS JOIN threads t
WHERE t.journal = ?1 AND t.thread = n.value ->> 0
  AND t.created_at BETWEEN n.value ->> 1 AND n.value ->> 2
LIMIT ?3
"""
_MOST_NEAR: Final = 4_096
"""Rows that are read so; where there are more, each seed has its own few."""

_AROUND: Final = """
SELECT * FROM (
  SELECT thread, created_at, id, seq, speaker FROM threads
  WHERE journal = ?1 AND thread = ?2 AND (created_at, id) < (?3, ?4)
  ORDER BY created_at DESC, id DESC LIMIT ?5
)
UNION ALL
SELECT * FROM (
  SELECT thread, created_at, id, seq, speaker FROM threads
  WHERE journal = ?1 AND thread = ?2 AND (created_at, id) > (?3, ?4)
  ORDER BY created_at, id LIMIT ?5
)
"""


class SqliteQuestion(NamedTuple):
    """What is asked, and what is made of what is found."""

    mode: RankingMode
    asked: ParsedQuestion
    make: Callable[[Current, Scored], Any]
    limit: int
    below: int
    within: MemoryFilter
    compared: Compared
    damaged: list[EntryDamaged] | None


def rank(
    connection: apsw.Connection, journal: int, words: WordCache, question: SqliteQuestion
) -> Ranking[Any] | None:
    """What is found, the best first; None if too much is not in the index yet."""
    state: Any = connection.execute(STATE, (journal,)).fetchone()
    indexed, size, tokenizer, documents, length = state
    if Index(indexed, tokenizer).is_stale:
        raise IndexStale(tokenizer, INDEX_FORM)
    if size - indexed > MERGED_ANYWAY:
        return None
    asked = question.asked
    tail = changes(connection, journal, indexed, size, words)  # 1.
    chunks = chunks_of(connection, journal, asked.tokens)  # 2.
    scoring = Scoring(question.mode, asked, chunks, tail, documents=documents, length=length)
    only = _looked_at(connection, journal, question)  # 3.
    hits = scoring.hits(only)
    records = _RecordReads(connection, journal, question.compared, question.damaged)
    wanted = question.limit + question.below
    if NEEDS[question.mode].neighbours:  # 4.
        around = records.in_context(hits, scoring, tail, question, only)
        found = records.of(around, wanted)
    else:
        found = records.scored(hits, scoring, wanted)
    results = Results(question.make, limit=question.limit, below=question.below)
    if results.wanted > 0:
        for scored, current in found:  # 5.
            results.take(scored, current)
            if not results.wanted:
                break
    return Ranking(results.made, results.below, len(hits), size)


class _RecordReads(JournalRecords):
    """Reads what is wanted, as many at once as will be."""

    def scored(
        self, hits: Hits, scoring: Scoring, at_once: int
    ) -> Iterator[tuple[Scored, Current]]:
        ordered = hits.in_order(at_once)
        while seqs := [seq for seq, _ in islice(ordered, max(at_once, 1))]:
            records = self.at(seqs)
            for scored in scoring.scored(
                scoring.candidate(seq, record.id, time_of(record))
                for seq, record in records.items()
            ):
                yield scored, records[scored.seq]

    def of(self, found: Iterable[Scored], at_once: int) -> Iterator[tuple[Scored, Current]]:
        ordered = iter(found)
        while some := list(islice(ordered, max(at_once, 1))):
            records = self.at(scored.seq for scored in some)
            for scored in some:
                if scored.seq in records:
                    yield scored, records[scored.seq]

    def in_context(
        self,
        hits: Hits,
        scoring: Scoring,
        tail: Tail,
        question: SqliteQuestion,
        only: Collection[int] | None,
    ) -> Iterator[Scored]:
        """The hits and what stands around them in order; what may come first is read first."""
        limit, below = question.limit, question.below
        seeds = self._seeds(hits, scoring, limit)
        context = InContext(scoring, seeds, limit=limit, below=below, only=only)
        threads = Threads(tail)
        first: set[int] = set()
        for scored in context.found_first(self._around(context.first, threads, context.may)):
            first.add(scored.seq)
            yield scored
        if context.has_more:
            yield from context.found_then(self._around(context.all, threads), first)

    def _seeds(
        self, hits: Hits, scoring: Scoring, limit: int
    ) -> list[tuple[Candidate, StoredThread | None]]:
        best = [seq for seq, _ in hits.best(seeds_for(limit))]
        found = []
        for seq, body in self.bodies(best):
            document = head_of(body)
            row = thread_row(document, seq)
            if row is None:
                created_at, speaker = said_at(document), speaker_in(document)
            else:
                created_at, speaker = row.created_at, row.speaker
            found.append((scoring.candidate(seq, document["id"], created_at, speaker), row))
        return found

    def _around(
        self,
        seeds: Sequence[StoredThread],
        threads: Threads,
        may: Callable[[str, Collection[str]], bool] | None = None,
    ) -> Placed:
        """What stands around each of these in its thread, of what is active.

        Where `may` is given, only in the threads of which it says so.
        """
        near = self._near(seeds)
        if near is None:
            yield from placed(self._windows(seeds, threads))
            return
        by_thread: dict[str, list[StoredThread]] = {}
        for row in seeds:
            by_thread.setdefault(row.thread, []).append(row)
        for thread, own in by_thread.items():
            active = threads.active(own, near[thread])
            if may is None or may(thread, {speaker for *_, speaker in active}):
                yield from around(own, active)

    def _near(self, seeds: Sequence[StoredThread]) -> dict[str, list[Row]] | None:
        """What is near any of them, by thread; None if that is too much to read at once."""
        stretches = [[*stretch] for stretch in stretches_of(seeds)]
        asked = orjson.dumps(stretches).decode()  # noqa: TID251 - a parameter
        most = (self._journal, asked, _MOST_NEAR + 1)
        found: Any = self._connection.execute(_NEAR, most).fetchall()
        if len(found) > _MOST_NEAR:
            return None
        near: dict[str, list[Row]] = {seed.thread: [] for seed in seeds}
        for thread, rows in groupby(found, itemgetter(0)):
            near[thread] += rows
        return near

    def _windows(
        self, seeds: Iterable[StoredThread], threads: Threads
    ) -> Iterator[Sequence[StoredThread]]:
        for row in seeds:
            asked = (self._journal, *row[:3], threads.reach(row.thread))
            rows: Any = self._connection.execute(_AROUND, asked)
            yield threads.window(row, [StoredThread._make(value) for value in rows])


def _looked_at(
    connection: apsw.Connection, journal: int, question: SqliteQuestion
) -> set[int] | None:
    """The entries that are looked at; None if all are."""
    within = question.within
    if within == EVERYTHING:
        return None
    columns = COLUMNS if within.asks_for_content else "v.seq"
    chosen = selection(within, journal, DIALECT, columns=columns)
    if chosen is None:
        return set()
    rows: Any = connection.execute(chosen.sql, chosen.parameters)
    if not within.asks_for_content:
        return {seq for (seq,) in rows}
    found = question.compared.currents(rows, question.damaged)
    return {seq for seq, current in found if fits(within, current)}
