"""Ranking objects by a question in PostgreSQL: postings are added up here, records read last.

1. the postings of all tokens that are asked for, and what is not in the index yet
2. sums (`stores.scoring`), off the event loop where there are many
3. by words: the records of the best are read, a few at a time, until there are enough
4. in context: the best are seeds, and what stands around them in their threads is read; then the
   records of the best of all these
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from psycopg.types.numeric import Int8

from memoranda.identity import decode
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.derive import speaker_in, time_of
from memoranda.ledger.snapshot import StoredThread
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Candidate, Scored
from memoranda.recall.index import EVERYTHING, Ranking, fits
from memoranda.recall.postings import Hits
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import NEEDS, RankingMode, seeds_for
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.index import IndexReader, State, rows_of
from memoranda.stores.postgres.journal import compared
from memoranda.stores.postgres.select import DIALECT, for_psycopg
from memoranda.stores.scoring import Results, Scoring
from memoranda.stores.selection import COLUMNS, selection
from memoranda.stores.statements import Integers, Texts
from memoranda.stores.tail import Tail
from memoranda.stores.threads import InContext, Placed, Threads, placed

R = TypeVar("R")

# The LIMITs of one make the planner look each up, whatever it believes of the tables; what must be
# said of a version is said outside, where no other index leads to it.
_RECORDS: Final = (
    f"SELECT {COLUMNS} FROM unnest(%s) AS n (seq)"  # noqa: S608 - ours
    " CROSS JOIN LATERAL (SELECT * FROM memoranda.versions v"
    " WHERE v.journal = %s AND v.seq = n.seq LIMIT 1) AS v"
    " LEFT JOIN LATERAL (SELECT b.salt, b.body FROM memoranda.entries b"
    " WHERE b.journal = %s AND b.seq = n.seq LIMIT 1) AS b ON true"
    " LEFT JOIN LATERAL (SELECT e.entry FROM memoranda.entries e"
    " WHERE e.journal = %s AND e.seq = n.seq LIMIT 1) AS e ON true"
    " WHERE v.is_newest AND v.status = 'active'"
)
_THREADS: Final = """
SELECT t.thread, t.created_at, t.id, t.seq, t.speaker
FROM unnest(%s) AS n (seq) CROSS JOIN LATERAL (
  SELECT * FROM memoranda.threads t WHERE t.journal = %s AND t.seq = n.seq LIMIT 1
) AS t
"""
_AROUND: Final = """
SELECT n.seq, t.thread, t.created_at, t.id, t.seq, t.speaker
FROM unnest(%s, %s, %s, %s, %s) AS n (seq, thread, created_at, id, reach) CROSS JOIN LATERAL (
  (SELECT t.* FROM memoranda.threads t
   WHERE t.journal = %s AND t.thread = n.thread AND (t.created_at, t.id) < (n.created_at, n.id)
   ORDER BY t.created_at DESC, t.id DESC LIMIT n.reach)
  UNION ALL
  (SELECT t.* FROM memoranda.threads t
   WHERE t.journal = %s AND t.thread = n.thread AND (t.created_at, t.id) > (n.created_at, n.id)
   ORDER BY t.created_at, t.id LIMIT n.reach)
) AS t
"""


class PostgresQuestion(NamedTuple):
    """What is asked, of which records, and how many are wanted."""

    mode: RankingMode
    asked: ParsedQuestion
    limit: int
    below: int
    within: MemoryFilter
    damaged: list[EntryDamaged] | None


class Ranker:
    """Ranks objects of one journal, inside a transaction that has entered it."""

    def __init__(self, journal: int, bodies: BodyCodec, reader: IndexReader) -> None:
        self._journal = journal
        self._numbered = Int8(journal)
        self._compared = compared(bodies)
        self._reader = reader

    async def rank(
        self,
        connection: Connection,
        state: State,
        question: PostgresQuestion,
        make: Callable[[Current, Scored], R | None],
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first."""
        # 1.
        tail = await self._reader.tail(connection, state.indexed, state.size)
        chunks = await self._reader.chunks(connection, question.asked.tokens)
        only = await self._only(connection, question)

        def summed() -> tuple[Scoring, Hits]:
            counts = {"documents": state.documents, "length": state.length}
            scoring = Scoring(question.mode, question.asked, chunks, tail, **counts)
            return scoring, scoring.hits(only)

        # 2.
        size = sum(len(chunk.body) for _, chunk in chunks)
        scoring, hits = await off_the_loop(size, summed)
        results = Results(make, limit=question.limit, below=question.below)
        if NEEDS[question.mode].neighbours:
            # 4.
            await self._take_in_context(connection, question, results, scoring, hits, tail, only)
        else:
            await self._take_hits(connection, question, results, scoring, hits)  # 3.
        return Ranking(results.made, results.below, len(hits), state.size)

    async def _take_hits(
        self,
        connection: Connection,
        question: PostgresQuestion,
        results: Results[Any],
        scoring: Scoring,
        hits: Hits,
    ) -> None:
        ordered = hits.in_order(results.wanted)
        while results.wanted and (some := list(islice(ordered, results.wanted))):
            records = await self._records(connection, [seq for seq, _ in some], question.damaged)
            found = [
                scoring.candidate(seq, current.id, time_of(current))
                for seq, current in records.items()
            ]
            for scored in scoring.scored(found):
                results.take(scored, records[scored.seq])

    async def _take(
        self,
        connection: Connection,
        question: PostgresQuestion,
        results: Results[Any],
        found: Iterator[Scored],
    ) -> None:
        while results.wanted and (some := list(islice(found, results.wanted))):
            seqs = [scored.seq for scored in some]
            records = await self._records(connection, seqs, question.damaged)
            for scored in some:
                if scored.seq in records:
                    results.take(scored, records[scored.seq])

    # ---------------------------------------------------------------------- in context

    async def _take_in_context(
        self,
        connection: Connection,
        question: PostgresQuestion,
        results: Results[Any],
        scoring: Scoring,
        hits: Hits,
        tail: Tail,
        only: Collection[int] | None,
    ) -> None:
        """What may come first is read first (`stores.threads`)."""
        limit, below = question.limit, question.below
        best = [seq for seq, _ in hits.best(seeds_for(limit))]
        rows = await self._threads(connection, best, tail)
        others = [seq for seq in best if seq not in rows]
        alone = await self._records(connection, others, question.damaged)
        threads = Threads(tail)

        def first() -> InContext:
            seeds: list[tuple[Candidate, StoredThread | None]] = [
                (_in_thread(scoring, row), row) for row in rows.values()
            ]
            seeds += [(_alone(scoring, seq, current), None) for seq, current in alone.items()]
            return InContext(scoring, seeds, limit=limit, below=below, only=only)

        context = await asyncio.to_thread(first)
        around = await self._around(connection, context.first, threads)
        ranked = await asyncio.to_thread(lambda: list(context.found_first(around)))
        await self._take(connection, question, results, iter(ranked))
        if results.wanted and context.has_more:
            around = await self._around(connection, context.all, threads)
            before = {scored.seq for scored in ranked}
            rest = await asyncio.to_thread(context.found_then, around, before)
            await self._take(connection, question, results, rest)

    async def _threads(
        self, connection: Connection, seqs: Sequence[int], tail: Tail
    ) -> dict[int, StoredThread]:
        """Where these entries stand in their threads; those of no thread are left out."""
        rows = {seq: tail.added[seq].row(seq) for seq in seqs if seq in tail.added}
        found = {seq: row for seq, row in rows.items() if row is not None}
        if stored := [seq for seq in seqs if seq not in rows]:
            asked = (Integers(stored), self._numbered)
            for row in await rows_of(connection, _THREADS, asked):
                thread = StoredThread._make(row)
                found[thread.seq] = thread
        return found

    async def _around(
        self, connection: Connection, seeds: Sequence[StoredThread], threads: Threads
    ) -> Placed:
        asked = (
            Integers(seed.seq for seed in seeds),
            Texts(seed.thread for seed in seeds),
            Integers(seed.created_at for seed in seeds),
            Texts(seed.id for seed in seeds),
            Integers(threads.reach(seed.thread) for seed in seeds),
        )
        found: dict[int, list[StoredThread]] = {}
        values = (*asked, self._numbered, self._numbered)
        for seq, *row in await rows_of(connection, _AROUND, values) if seeds else ():
            found.setdefault(seq, []).append(StoredThread._make(row))
        windows = [threads.window(seed, found.get(seed.seq, ())) for seed in seeds]
        return list(placed(windows))

    # ---------------------------------------------------------------------- statements

    async def _records(
        self, connection: Connection, seqs: Sequence[int], damaged: list[EntryDamaged] | None
    ) -> dict[int, Current]:
        """What these entries led to, as far as it is current, in the same order."""
        if not seqs:
            return {}
        asked = (Integers(seqs), self._numbered, self._numbered, self._numbered)
        rows = await rows_of(connection, _RECORDS, asked)
        found = dict(self._compared.currents(rows, damaged))
        return {seq: found[seq] for seq in seqs if seq in found}

    async def _only(self, connection: Connection, question: PostgresQuestion) -> set[int] | None:
        """The entries of what is looked at; None if that is everything."""
        within = question.within
        if within == EVERYTHING:
            return None
        columns = COLUMNS if within.asks_for_content else "v.seq"
        chosen = selection(within, self._journal, DIALECT, columns=columns)
        if chosen is None:
            return set()
        rows = await rows_of(connection, *for_psycopg(chosen))
        if not within.asks_for_content:
            return {seq for (seq,) in rows}
        found = self._compared.currents(rows, question.damaged)
        return {seq for seq, current in found if fits(within, current)}


def _in_thread(scoring: Scoring, row: StoredThread) -> Candidate:
    return scoring.candidate(row.seq, row.id, row.created_at, row.speaker)


def _alone(scoring: Scoring, seq: int, record: Current) -> Candidate:
    speaker = speaker_in(decode(record.body))
    return scoring.candidate(seq, record.id, time_of(record), speaker)
