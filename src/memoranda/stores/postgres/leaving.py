"""What objects that are erased take with them from the word index, in the erasing transaction.

Only the tokens that an object was added with lead to its postings. An index of another tokenizer,
or one with something in it that can't be read any more, goes as a whole: it is made anew.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import INDEX_FORM, Draft
from memoranda.recall.postings import BLOCK_BITS
from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.index import UNREADABLE, IndexReader, rows_of
from memoranda.stores.postgres.taking import taking
from memoranda.stores.postings import Chunk, ChunkDamaged, run_of
from memoranda.stores.words import WordCache

_TAKE: Final = "SELECT memoranda.take_documents(" + ", ".join(["%s"] * 11) + ")"
_CLEAR: Final = "SELECT memoranda.clear_index(%s)"
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
        self._of_another: Counter[int] | None = None
        """The postings of each entry, of an index that is another tokenizer's: the first object
        that is erased takes all of it away, so it is counted once for all portions."""

    async def postings(self, connection: Connection, ids: Sequence[str]) -> Mapping[str, int]:
        """How many postings `take_out` takes out, or would if it could take them alone."""
        state = await self._reader.state(connection)
        if self._of_another is None and state.indexed and state.tokenizer != INDEX_FORM:
            self._of_another = await self._counted(connection)
        counts = Counter[str]()
        if self._of_another is None:
            indexed = await self._reader.indexed(connection, ids, state.indexed)
            counts.update({id: len(words.counts) for id, (_, words) in indexed.items()})
        else:
            for id, seq in await rows_of(connection, _VERSIONS, (self._numbered, Texts(ids))):
                counts[id] += self._of_another[seq]
        return counts

    async def take_out(self, connection: Connection, drafts: Sequence[Draft]) -> None:
        """Take what these erase out of the index, while its words are still there."""
        erased = [one.replaces.id for one in drafts if one.erases and one.replaces is not None]
        state = await self._reader.state(connection) if erased else None
        if state is None or not state.indexed:
            return
        indexed = await self._reader.indexed(connection, erased, state.indexed)
        gone = dict(indexed.values())
        is_known = all(words.number != UNREADABLE for words in gone.values())
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
