"""What SQLite holds of objects beside their versions, counted for a unit that erases them."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import apsw
import orjson

from memoranda.ledger.holdings import Holdings, counted_once
from memoranda.ledger.unit import ENTRIES, INDEX_FORM, Current, Draft, recorded_in, takes_all
from memoranda.stores.compared import ERASED
from memoranda.stores.postings import Chunk, ChunkDamaged, postings_of
from memoranda.stores.sqlite.erased_retries import retries_of_entries, retries_of_object
from memoranda.stores.sqlite.places import place
from memoranda.stores.sqlite.units import Job
from memoranda.stores.sqlite.words import BODY_AT, INDEXED_VERSION, index_of
from memoranda.stores.words import WordCache

_DERIVATIONS: Final = """
SELECT output, count(*) FROM derivations
WHERE journal = ? AND output IN (SELECT value FROM json_each(?)) GROUP BY output
"""
_RECORDINGS: Final = """
SELECT cycle, 1 FROM recordings
WHERE journal = ? AND cycle IN (SELECT value FROM json_each(?))
"""
_ITEMS: Final = """
SELECT o.cycle, count(*) FROM item_origins o
JOIN memories i ON i.journal = o.journal AND i.session = o.session AND i.id = o.id
WHERE o.journal = ? AND o.cycle IN (SELECT value FROM json_each(?)) GROUP BY o.cycle
"""
# The postings of each session are read once, however many of its cycles are asked for.
KEYWORDS: Final = """
SELECT o.cycle, count(*) FROM (
  SELECT DISTINCT session FROM item_origins
  WHERE journal = ?1 AND cycle IN (SELECT value FROM json_each(?2))
) s
CROSS JOIN item_keywords k ON k.journal = ?1 AND k.session = s.session
CROSS JOIN item_postings p ON p.keyword = k.number
CROSS JOIN item_origins o ON o.journal = ?1 AND o.session = s.session AND o.id = p.id
WHERE o.cycle IN (SELECT value FROM json_each(?2)) GROUP BY o.cycle
"""
_VECTORS: Final = """
SELECT v.id, count(*) FROM versions v JOIN vectors x ON x.journal = v.journal AND x.seq = v.seq
WHERE v.journal = ? AND v.id IN (SELECT value FROM json_each(?)) GROUP BY v.id
"""
_POSTINGS: Final = "SELECT first, body FROM postings WHERE journal = ?"
_PLACES: Final = "SELECT seq FROM versions WHERE journal = ? AND id = ?"


def counting(connection: apsw.Connection, words: WordCache, job: Job) -> Job:
    """The job, told of each object that it erases what goes with it; counted when it is read."""
    counts, unit = _Counts(connection, words, job), job.unit

    def decide(found: Sequence[Current | None]) -> Sequence[Draft]:
        return unit.decide(counts.told(found))

    return job._replace(unit=unit._replace(decide=decide))


class _Counts:
    """Counts for one unit, portion by portion."""

    def __init__(self, connection: apsw.Connection, words: WordCache, job: Job) -> None:
        self._connection = connection
        self._words = words
        self._journal, self._unit = job
        self._by_entry: Counter[int] | None = None
        """The postings of each entry, of an index that goes as a whole with the first object that
        is erased: so it is counted once for all portions."""

    def told(self, found: Sequence[Current | None]) -> list[Current | None]:
        """What was found, each with what is held beside it."""
        beside = iter(self._beside([each for each in found if each is not None]))
        return [each and each._replace(beside=next(beside)) for each in found]

    def _beside(self, there: Sequence[Current]) -> list[Holdings]:
        retries = counted_once(map(self._retries, there))
        derivations = self._rows(_DERIVATIONS, [each.id for each in there])
        cycles = recorded_in(self._unit, there)
        recordings = self._rows(_RECORDINGS, cycles)
        items, keywords = self._rows(_ITEMS, cycles), self._rows(KEYWORDS, cycles)
        vectors = self._rows(_VECTORS, [each.id for each in there])
        return [
            Holdings(
                self._postings(each),
                keys,
                derivations[each.id],
                recordings[cycle],
                items[cycle],
                keywords[cycle],
                vectors[each.id],
            )
            for each, keys, cycle in zip(there, retries, cycles, strict=True)
        ]

    def _retries(self, one: Current) -> set[bytes]:
        """The keys that go with it; none where all go, which are counted as a whole."""
        if takes_all(self._unit) or one.status == ERASED:
            return set()
        if one.status == ENTRIES:
            seqs = [entry.seq for entry in one.entries]
            return retries_of_entries(self._connection, self._journal, seqs)
        return retries_of_object(self._connection, self._journal, one.id)

    def _rows(self, sql: str, ids: Sequence[str]) -> Counter[str]:
        asked = orjson.dumps(ids).decode()  # noqa: TID251 - a parameter
        rows: Any = self._connection.execute(sql, (self._journal, asked))
        return Counter(dict(rows))

    def _postings(self, one: Current) -> int:
        """How many postings an erasure takes out, or would if it could take them alone."""
        index = index_of(self._connection, self._journal)
        goes_whole = index.tokenizer != INDEX_FORM or one.damaged
        if self._by_entry is None and index.indexed and goes_whole:
            rows: Any = self._connection.execute(_POSTINGS, (self._journal,))
            self._by_entry = Counter()
            for first, body in rows:
                with suppress(ChunkDamaged):  # it goes as well, and nobody knows how much it is
                    self._by_entry.update(one.seq for one in postings_of(Chunk(first, body)))
        if self._by_entry is not None:
            seqs: Any = self._connection.execute(_PLACES, (self._journal, one.id))
            return sum(self._by_entry[seq] for (seq,) in seqs)
        return self._own_postings(one.id, index.indexed)

    def _own_postings(self, id: str, indexed: int) -> int:
        version: Any = self._connection.execute(
            INDEXED_VERSION, (self._journal, id, indexed)
        ).fetchone()
        if version is None or version[1] != "active":
            return 0
        where = place(self._journal, version[0])
        body: Any = self._connection.execute(BODY_AT, (where,)).fetchone()
        words = self._words.of(body[0]) if body is not None else None
        return len(words.tokens) if words is not None else 0
