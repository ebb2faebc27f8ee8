"""What objects that are erased take with them from the word index, in the erasing transaction.

Only the tokens that an object was added with lead to its postings. An index of another tokenizer,
or one with something in it that can't be read any more, goes as a whole: it is made anew. So it is
with an object whose body is not what was written; of that, all tags go by its id.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import INDEX_FORM, Current, Draft
from memoranda.recall.postings import BLOCK_BITS
from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.index import UNREADABLE, IndexReader, rows_of
from memoranda.stores.postgres.taking import taking
from memoranda.stores.postings import Chunk, ChunkDamaged, run_of
from memoranda.stores.words import WordCache

_TAKE: Final = "SELECT memoranda.take_documents(" + ", ".join(["%s"] * 11) + ")"
_CLEAR: Final = "SELECT memoranda.clear_index(%s)"
_FORGET_TAGS: Final = "DELETE FROM memoranda.tags t WHERE t.journal = %s AND t.id = ANY (%s)"
_ALL_CHUNKS: Final = "SELECT p.first, p.body FROM memoranda.postings p WHERE p.journal = %s"
_VERSIONS: Final = (
    "SELECT v.id, v.seq FROM memoranda.versions v WHERE v.journal = %s AND v.id = ANY (%s)"
)


class Leaving:
    """For one unit that erases, inside its transaction, which holds the lock of the head."""

    def __init__(self, scope: str, journal: int, bodies: BodyCodec) -> None:
        self._journal = journal
        self._numbered = Int8(journal)
        self._reader = IndexReader(scope, journal, WordCache(bodies))
        self._by_entry: Counter[int] | None = None
        """The postings of each entry, of an index that goes as a whole with the first object that
        is erased: so it is counted once for all portions."""

    async def postings(self, connection: Connection, found: Sequence[Current]) -> Mapping[str, int]:
        """How many postings `take_out` takes out, or would if it could take them alone."""
        ids = [each.id for each in found]
        state = await self._reader.state(connection)
        goes_whole = state.tokenizer != INDEX_FORM or any(each.damaged for each in found)
        if self._by_entry is None and state.indexed and goes_whole:
            self._by_entry = await self._counted(connection)
        counts = Counter[str]()
        if self._by_entry is None:
            indexed = await self._reader.indexed(connection, ids, state.indexed)
            counts.update({id: len(words.counts) for id, (_, words) in indexed.items()})
        else:
            for id, seq in await rows_of(connection, _VERSIONS, (self._numbered, Texts(ids))):
                counts[id] += self._by_entry[seq]
        return counts

    async def take_out(self, connection: Connection, drafts: Sequence[Draft]) -> None:
        """Take what these erase out of the index, while its words are still there."""
        erased = [one.replaces for one in drafts if one.erases and one.replaces is not None]
        damaged = [one.id for one in erased if one.damaged]
        if damaged:
            asked = (self._numbered, Texts(damaged))
            await connection.execute(_FORGET_TAGS, asked, prepare=True)
        state = await self._reader.state(connection) if erased else None
        if state is None or not state.indexed:
            return
        indexed = await self._reader.indexed(connection, [one.id for one in erased], state.indexed)
        gone = {seq: words for seq, words in indexed.values() if words.is_indexed}
        is_known = not damaged and all(words.number != UNREADABLE for words in gone.values())
        try:
            if state.tokenizer == INDEX_FORM and is_known:
                taken = await taking(connection, self._journal, gone)
                await connection.execute(_TAKE, (self._numbered, *taken.parameters), prepare=True)
                return
        except ChunkDamaged:
            pass  # what can't be read is no reason to keep it
        await connection.execute(_CLEAR, (self._numbered,), prepare=True)

    async def _counted(self, connection: Connection) -> Counter[int]:
        counts = Counter[int]()
        for first, body in await rows_of(connection, _ALL_CHUNKS, (self._numbered,)):
            with suppress(ChunkDamaged):  # then nobody can count it
                block, places, _ = run_of(Chunk(first, body))
                counts.update(block << BLOCK_BITS | place for place in places)
        return counts
