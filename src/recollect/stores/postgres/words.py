"""The index of words in PostgreSQL: rows of tokens under a GIN index.

No word is looked at while a caller waits. The journal itself says what is not yet in the index:
the entries from `indexed` on. Whoever searches reads them too. They are merged by the process that
wrote them, or by one that searches, a batch at a time: words are found without a lock; then, under
the lock of the head, rows and `indexed` move together, unless another process was faster.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final, NamedTuple, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from recollect.kernel.errors import IndexStale, RecollectError
from recollect.ledger.codec import BodyCodec
from recollect.ledger.unit import REBUILDING, Current, Index
from recollect.stores.postgres.arrays import Integers, Texts
from recollect.stores.postgres.connection import Connection
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.units import current
from recollect.stores.selection import COLUMNS
from recollect.stores.words import (
    BATCH,
    CLOSING_S,
    MERGED_ANYWAY,
    MERGED_WHEN_IDLE,
    WordCache,
    Words,
    prefix,
)
from recollect.text import TOKENIZER, Query, matches

R = TypeVar("R")

IDLE_S: Final = 0.05
"""How long nothing must have been written until time is spare."""

FEW: Final = 512
_AT_LEAST: Final = 16
_BODIES_AT_ONCE: Final = 64

_BEGIN: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT recollect.enter({}, {})"
)
_INDEX: Final = "SELECT indexed, size, tokenizer FROM recollect.index_of(%s, %s)"
_DIGESTS: Final = (
    "SELECT b.seq, sha256(b.body) FROM recollect.bodies b"
    " WHERE b.journal = %s AND b.seq >= %s AND b.seq < %s ORDER BY b.seq"
)
_BODIES: Final = (
    "SELECT b.seq, b.body FROM recollect.bodies b WHERE b.journal = %s AND b.seq = ANY (%s)"
)
_BEGIN_REINDEX: Final = "SELECT recollect.begin_reindex(%s, %s, %s)"
_MERGE: Final = "SELECT recollect.merge_words(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
_WITH_BITMAPS: Final = "SET LOCAL enable_bitmapscan = on"
_WITHOUT_BITMAPS: Final = "SET LOCAL enable_bitmapscan = off"
_POSTINGS: Final = (
    "SELECT w.id, w.number, w.seq FROM recollect.words w WHERE w.journal = %s AND ({condition})"
    " LIMIT %s"
)
# The LIMITs of one make the planner look each up, whatever it believes of the tables.
_LOOK_UP: Final = (
    f"SELECT {COLUMNS} FROM (SELECT v.* FROM unnest(%s, %s, %s) AS n (id, number, seq)"  # noqa: S608 - ours
    " CROSS JOIN LATERAL (SELECT * FROM recollect.versions v"
    " WHERE v.journal = %s AND v.id = n.id AND v.number = n.number LIMIT 1) AS v"
    " WHERE v.seq = n.seq AND v.is_newest AND v.status = 'active'"
    " ORDER BY v.created_at DESC, v.id OFFSET 0) AS v"
    " CROSS JOIN LATERAL (SELECT b.body FROM recollect.bodies b"
    " WHERE b.journal = %s AND b.seq = v.seq LIMIT 1) AS b"
    " ORDER BY v.created_at DESC, v.id"
)
_WALK: Final = (
    f"SELECT {COLUMNS} FROM (SELECT * FROM recollect.versions v"  # noqa: S608 - ours
    " WHERE v.journal = %s AND v.is_newest AND v.status = 'active'"
    " AND (v.seq = ANY (%s) OR (SELECT true FROM recollect.words w"
    " WHERE w.journal = %s AND w.seq = v.seq AND ({condition}) LIMIT 1))"
    " ORDER BY v.created_at DESC, v.id OFFSET 0) AS v"
    " CROSS JOIN LATERAL (SELECT b.body FROM recollect.bodies b"
    " WHERE b.journal = %s AND b.seq = v.seq LIMIT 1) AS b"
    " ORDER BY v.created_at DESC, v.id"
)

log = logging.getLogger("recollect.postgres")


_Hit = tuple[str, int, int]


class _State(NamedTuple):
    indexed: int
    size: int
    tokenizer: str


class WordIndex:
    """The index of words of one journal."""

    def __init__(self, calls: Pool, scope: str, journal: int, bodies: BodyCodec) -> None:
        self._bodies = bodies
        self._calls = calls
        self._numbered = Int8(journal)
        self._named = (scope, self._numbered)
        self._begin = _BEGIN.format(scope, journal).as_bytes()
        self._prefix = prefix(journal)
        self._words = WordCache(bodies)
        self._tail = 0
        self._written = 0
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------ finding

    async def find(
        self, query: Query, make: Callable[[Current], R | None], *, every: bool, limit: int | None
    ) -> list[R]:
        """What has the words of a query, newest first, ties by id; the tail is read as well."""
        while True:
            async with self._calls.transaction(self._begin) as connection:
                state = await self._state(connection)
                if Index(state.indexed, state.tokenizer).is_stale:
                    raise IndexStale(state.tokenizer, TOKENIZER)
                if not query.words or limit == 0:
                    return []
                if state.size - state.indexed <= MERGED_ANYWAY:
                    tail = await self._entries(connection, state.indexed, state.size)
                    hits = [
                        (words.id, words.number, seq)
                        for seq, words in tail
                        if matches(query, words.tokens, every=every)
                    ]
                    statement, values = await self._search(connection, query, hits, every=every)
                    return await self._found(connection, statement, values, make, limit)
            await self.merge()

    async def _search(
        self, connection: Connection, query: Query, tail: Sequence[_Hit], *, every: bool
    ) -> tuple[str, list[object]]:
        """Few postings are looked up; for many, what is active is walked, newest first."""
        journal = self._numbered
        condition, tokens = self._condition(query, every=every)
        asked = [journal, *tokens, Int8(FEW + 1)]
        # The one kind of index that is read as a bitmap, which other statements should not be.
        await connection.execute(_WITH_BITMAPS)
        postings = _POSTINGS.replace("{condition}", condition).encode()
        found = await connection.execute(postings, asked, prepare=False, binary=True)
        hits = await found.fetchall()
        await connection.execute(_WITHOUT_BITMAPS)
        if len(hits) > FEW:
            seqs = Integers(seq for _, _, seq in tail)
            walk = _WALK.replace("{condition}", condition)
            return walk, [journal, seqs, journal, *tokens, journal]
        ids, numbers, seqs = Texts(), Integers(), Integers()
        for id, number, seq in (*hits, *tail):
            ids.append(id)
            numbers.append(number)
            seqs.append(seq)
        return _LOOK_UP, [ids, numbers, seqs, journal, journal]

    def _condition(self, query: Query, *, every: bool) -> tuple[str, list[Texts]]:
        """What the postings must have, and its parameters; where one token is enough, as one."""
        words = [word.alternatives for word in query.words]
        if not every:
            words = [tuple(tokens for alternatives in words for tokens in alternatives)]
        conditions, values = [], []
        for alternatives in words:
            single = [tokens[0] for tokens in alternatives if len(tokens) == 1]
            several = [tokens for tokens in alternatives if len(tokens) > 1]
            parts = ["w.tokens && %s"] * bool(single) + ["w.tokens @> %s"] * len(several)
            conditions.append("(" + " OR ".join(parts) + ")")
            needed = [tuple(single)] * bool(single) + several
            values += [Texts(self._prefix + token for token in tokens) for tokens in needed]
        return " AND ".join(conditions), values

    # ------------------------------------------------------------------------ merging

    async def index(self) -> Index:
        """How far it reaches, and whose it is."""
        async with self._calls.connection() as connection:
            state = await self._state(connection)
        return Index(state.indexed, state.tokenizer)

    async def reindex(self) -> None:
        """Make it anew, in steps; it is stale until a unit names its tokenizer."""
        async with self._calls.connection(writes=True) as connection:
            await connection.execute(_BEGIN_REINDEX, (*self._named, REBUILDING))
        while await self.merge(rebuilding=True):
            pass

    async def merge(self, *, rebuilding: bool = False) -> int:
        """Bring it forward by a batch; how many entries are left.

        An index of another tokenizer is left alone, and so is one that another makes anew.
        """
        async with self._calls.transaction(self._begin) as connection:
            indexed, size, tokenizer = await self._state(connection)
            if tokenizer not in ((REBUILDING,) if rebuilding else ("", TOKENIZER)):
                return 0
            end = min(size, indexed + BATCH)
            entries = await self._entries(connection, indexed, end)
        if end > indexed:
            added: dict[str, tuple[int, Words]] = {}
            replacing: set[str] = set()
            for seq, words in entries:
                if words.number > 1 and words.id not in added:
                    replacing.add(words.id)
                added[words.id] = (seq, words)
            rows = sorted(one for one in added.values() if one[1].tokens)
            values = (
                *(Int8(indexed), Int8(end), tokenizer, tokenizer or TOKENIZER),
                *(Texts(sorted(replacing)), Integers(seq for seq, _ in rows)),
                Texts(words.id for _, words in rows),
                Integers(words.number for _, words in rows),
                Texts(self._joined(words) for _, words in rows),
            )
            async with self._calls.connection(writes=True) as connection:
                await connection.execute(_MERGE, (*self._named, *values), prepare=True)
        return size - end

    def forget(self) -> None:
        """Forget the words that are remembered in memory."""
        self._words.clear()

    # --------------------------------------------------------------------- spare time

    def note(self, entries: int) -> None:
        """Entries were written: when there are many, and some time is spare, they are merged."""
        self._tail += entries
        self._written += entries
        if self._tail >= MERGED_WHEN_IDLE and self._task is None and not self._closing.is_set():
            self._task = asyncio.get_running_loop().create_task(self._use_spare_time())

    async def close(self) -> None:
        """Merge what this process wrote; nothing more after that."""
        self._closing.set()
        if self._task is not None:
            await self._task
        if self._tail:
            await self._try(0, CLOSING_S)

    async def _use_spare_time(self) -> None:
        while self._tail >= MERGED_WHEN_IDLE and not self._closing.is_set():
            written = self._written
            try:
                async with asyncio.timeout(IDLE_S):
                    await self._closing.wait()
            except TimeoutError:
                if self._written == written or self._tail >= MERGED_ANYWAY:
                    await self._try(MERGED_WHEN_IDLE)
        self._task = None

    async def _try(self, down_to: int, seconds: float = inf) -> None:
        """Merge until so few are left; if it fails, that is a line in the log."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        try:
            while (left := await self.merge()) and left >= down_to and clock() < until:
                pass
            self._tail = left
        except RecollectError as error:
            log.warning("the index of words was not brought forward: %s", error)
            self._tail = 0

    # ---------------------------------------------------------------------- statements

    async def _state(self, connection: Connection) -> _State:
        found = await connection.execute(_INDEX, self._named, prepare=True, binary=True)
        ((*state,),) = await found.fetchall()
        return _State._make(state)

    async def _entries(
        self, connection: Connection, start: int, end: int
    ) -> list[tuple[int, Words]]:
        """The words of the objects that these entries are about; only new bodies are fetched."""
        asked = (self._numbered, Int8(start), Int8(end))
        found: dict[int, Words | None] = {}
        unknown: list[int] = []
        for seq, digest in await _rows(connection, _DIGESTS, asked):
            known = self._words.known(digest)
            if known is None:
                unknown.append(seq)
            else:
                found[seq] = known.words
        for first in range(0, len(unknown), _BODIES_AT_ONCE):
            seqs = Integers(unknown[first : first + _BODIES_AT_ONCE])
            bodies = await _rows(connection, _BODIES, (self._numbered, seqs))
            found |= await asyncio.to_thread(self._looked_at, bodies)
        return [(seq, words) for seq, words in sorted(found.items()) if words is not None]

    async def _found(
        self,
        connection: Connection,
        statement: str,
        values: Sequence[object],
        make: Callable[[Current], R | None],
        limit: int | None,
    ) -> list[R]:
        """What is made of the rows, a few at a time, until there are enough."""
        made: list[R] = []
        at_once = BATCH if limit is None else min(max(limit, _AT_LEAST), BATCH)
        async with connection.cursor("recollect_find") as cursor:
            await cursor.execute(statement.encode(), values, binary=True)
            while rows := await cursor.fetchmany(at_once):
                for row in rows:
                    if len(made) == limit:
                        return made
                    value = make(current(self._bodies, row))
                    if value is not None:
                        made.append(value)
                await asyncio.sleep(0)
        return made

    def _looked_at(self, bodies: Sequence[tuple[int, bytes]]) -> dict[int, Words | None]:
        return {seq: self._words.of(body) for seq, body in bodies}

    def _joined(self, words: Words) -> str:
        return " ".join(self._prefix + token for token in sorted(words.tokens))


async def _rows(
    connection: Connection, statement: str, values: Sequence[object]
) -> list[tuple[Any, ...]]:
    found = await connection.execute(statement, values, prepare=True, binary=True)
    return await found.fetchall()
