"""Bringing the word index forward in PostgreSQL, a batch of entries at a time.

1. without a lock: the words of what is not in the index yet, and the chunks that hold what these
   entries replace
2. under the lock of the head, in one statement: the new segment, the chunks written anew, the
   statistics and `indexed`, unless the index was changed meanwhile

An index of another tokenizer is left alone, and so is one that another process makes anew.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING
from memoranda.stores.postgres.connection import off_the_loop
from memoranda.stores.postgres.index import UNREADABLE, IndexReader, State
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.segments import Taken, segments_of, taking
from memoranda.stores.postings import Chunk, next_number, packed
from memoranda.stores.sqlite.reader import LOOP_BYTES
from memoranda.stores.statements import Blobs, Integers, Texts
from memoranda.stores.tail import Tail

_MERGE: Final = "SELECT memoranda.merge_words(" + ", ".join(["%s"] * 27) + ")"
_BEGIN: Final = sql.SQL("BEGIN; SELECT memoranda.lock_journal({}, {})")
_CLEAR: Final = "SELECT memoranda.clear_index(%s)"


class _Batch(NamedTuple):
    """What a batch of entries does to an index that is as it was when they were read."""

    state: State
    end: int
    segment: int
    tail: Tail
    taken: Taken


class BatchMerger:
    """Brings the index of one journal forward."""

    def __init__(
        self, calls: Pool, journal: int, origin: str, begin: bytes, reader: IndexReader
    ) -> None:
        self._calls = calls
        self._journal = journal
        self._named = (Int8(journal), origin)
        self._begin = begin
        self._begin_writing = _BEGIN.format(journal, origin).as_bytes()
        self._reader = reader

    async def merge(self, entries: int, *, rebuilding: bool = False) -> int:
        """Bring it forward by so many entries; how many are left.

        As many as before, if another process was faster.
        """
        batch = await self._read(entries, (REBUILDING,) if rebuilding else ("", INDEX_FORM))
        if batch is None:
            return 0
        if any(words.number == UNREADABLE for words in batch.tail.gone.values()):
            await self._start_anew()
            return batch.state.size
        is_done = await self._write(batch)
        return batch.state.size - (batch.end if is_done else batch.state.indexed)

    async def _read(self, entries: int, tokenizers: Sequence[str]) -> _Batch | None:
        # 1.
        async with self._calls.transaction(self._begin) as connection:
            state = await self._reader.state(connection)
            end = min(state.size, state.indexed + entries)
            if state.tokenizer not in tokenizers or end == state.indexed:
                return None
            tail = await self._reader.tail(connection, state.indexed, end)
            taken = await taking(connection, self._journal, tail.gone)
            segment = next_number(await segments_of(connection, Int8(self._journal)))
        return _Batch(state, end, segment, tail, taken)

    async def _write(self, batch: _Batch) -> bool:
        # 2.
        chunks = await off_the_loop(LOOP_BYTES + 1, lambda: _chunks(batch.tail))
        state, threads = batch.state, list(batch.tail.threads())
        values = (
            *(Int8(state.revision), Int8(state.indexed), Int8(batch.end)),
            *(state.tokenizer or INDEX_FORM, Int8(batch.segment)),
            Int8(len(batch.tail.added)),
            Int8(sum(words.length for words in batch.tail.added.values())),
            Texts(token for token, _ in chunks),
            Integers(chunk.first for _, chunk in chunks),
            Blobs(chunk.body for _, chunk in chunks),
            Texts(row.thread for row in threads),
            Integers(row.created_at for row in threads),
            Texts(row.id for row in threads),
            Integers(row.seq for row in threads),
            Texts(row.speaker for row in threads),
            *batch.taken.parameters,
        )
        async with self._calls.connection(writes=True) as connection:
            merged = await connection.execute(_MERGE, (*self._named, *values), prepare=True)
            ((is_done,),) = await merged.fetchall()
        return bool(is_done)

    async def _start_anew(self) -> None:
        """Without its words, what was replaced can't be taken out alone: all of it goes."""
        async with self._calls.transaction(self._begin_writing, writes=True) as connection:
            await connection.execute(_CLEAR, (Int8(self._journal),), prepare=True)


def _chunks(tail: Tail) -> Sequence[tuple[str, Chunk]]:
    return [
        (token, chunk)
        for token, postings in sorted(tail.postings().items())
        for chunk in packed(postings)
    ]
