"""Finding and ranking the objects of a journal by their words, at one moment, in either database.

1. what is not in the index yet is read, once in a process (`scope_words`)
2. the postings of what is asked for are read, and laid side by side as arrays (`recall.ranking`)
3. a filter, if given, says which entries are looked at
4. the records of the best alone are read, and each is made into a value, until there are enough

Whatever was found, only what is active and newest counts.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, TypeVar

import orjson

from memoranda.identity import decode
from memoranda.kernel.errors import EntryDamaged, IndexStale, StoreFailed, StoreUnavailable
from memoranda.ledger.codec import LenientCodec
from memoranda.ledger.object import version_of
from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING, Index
from memoranda.ledger.unit import Current, StoredEntry
from memoranda.recall.arrays import np
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, AskedMeaning, Ranking, fits
from memoranda.recall.near_words import NO_STAND_INS, StandIns
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import Matches, Postings, Ranked, RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.stores import index
from memoranda.stores.compared import Compared
from memoranda.stores.index import State
from memoranda.stores.merge import batch, clear, segment_step, write_batch, write_segments
from memoranda.stores.postings import Chunk, ChunkDamaged, postings_in
from memoranda.stores.scope_words import KnownScopes, ScopeWords
from memoranda.stores.selection import COLUMNS
from memoranda.stores.statements import Integers, JournalRows, PlainStatement, Procedure, Texts, ask
from memoranda.stores.tail import TailReader
from memoranda.stores.words import BATCH
from memoranda.text import Query

R = TypeVar("R")

BEFORE_ALL: Final = (2**63 - 1, 2**63 - 1)
"""The position that all there is comes after."""

FEW: Final = 512
"""So many records are read all, and then sorted; of more, what is active is walked."""

_GROWTH: Final = 4
_MOST: Final = 4_096
_LEAST: Final = 16


class Overtaken(Exception):
    """Somebody who saw a later moment has brought forward what is remembered: look again."""


class WordSearch:
    """Searches one journal."""

    def __init__(
        self,
        journal: int,
        compared: Compared,
        bodies: LenientCodec,
        known: KnownScopes,
        select: Callable[[MemoryFilter, str], PlainStatement | None],
    ) -> None:
        """`select` gives the statement for what a filter may ask for, None for nothing."""
        self._tail = TailReader(journal, bodies, known)
        self._compared = compared
        self._select = select

    def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] = BEFORE_ALL,
    ) -> Procedure[list[R]]:
        """The active objects that have the words of a query, newest first."""
        state = yield from self._state()
        if not query.words or limit == 0:
            return []
        stored = yield from self._stored(query.tokens)
        words = yield from self._tail.whole(state)
        with words.lock:
            _check(words, state)
            postings = words.postings(stored, query.tokens)
        hits = Matches(postings, state.size).matching(query, every=every)
        made: list[R] = []
        if len(hits) <= FEW:
            found, _ = yield from self._records(hits.tolist(), None)
            in_order = sorted(found.values(), key=_newest, reverse=True)
            _make(made, (one for one in in_order if _newest(one) < after), make, limit)
            return made
        wanted = np.zeros(state.size, np.bool_)
        wanted[hits] = True
        most = _LEAST if limit is None else max(_LEAST, 2 * limit)
        while rows := (yield ask(index.NEWEST, time=after[0], since=after[1], most=most)):
            seqs = [seq for _, _, seq in rows if seq < state.size and wanted[seq]]
            found, _ = yield from self._records(seqs, None)
            if _make(made, (found[seq] for seq in seqs if seq in found), make, limit):
                break
            after, most = rows[-1][:2], min(most * _GROWTH, _MOST)
        return made

    def rank(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
        meaning: AskedMeaning | None = None,
    ) -> Procedure[Ranking[R]]:
        """The active objects that have anything of what is asked for, the best first."""
        state = yield from self._state()
        words = yield from self._tail.whole(state)  # 1.
        stand_ins = NO_STAND_INS
        if mode is RankingMode.CONTEXT:
            stand_ins = yield from self._stand_ins(words, asked, meaning)
        others = (other.token for found in stand_ins.values() for other in found)
        tokens = list(dict.fromkeys([*asked.tokens, *others]))
        indexed = yield from self._stored(tokens)  # 2.
        only = yield from self._looked_at(within, damaged)  # 3.
        without = yield from self._read_vectors(words, meaning)
        with words.lock:
            _check(words, state)
            postings = words.postings(indexed, tokens)
            alike = None
            if meaning is not None:
                vectors = words.vectors(meaning.model, len(meaning.vector) // 4)
                alike = vectors.alike(meaning.vector, words.columns, meaning.unrelated)
            ranked = Ranked(
                mode, asked, postings, words.columns, state.size, limit, only, stand_ins, alike
            )
            hits, total = len(ranked.hits), len(ranked.found)
        made: list[R] = []
        rest: list[Scored] = []
        stored: dict[int, StoredEntry] = {}
        done, most = 0, limit + below
        while done < total and len(made) + len(rest) < limit + below:  # 4.
            best = ranked.first(most)[done:]
            records, read = yield from self._records([seq for seq, _ in best], damaged)
            stored |= read
            for seq, points in best:
                if seq in records and len(made) + len(rest) < limit + below:
                    scored = ranked.scored(seq, points, records[seq].id)
                    value = make(records[seq], scored)
                    if value is not None and len(made) < limit:
                        made.append(value)
                    elif value is not None:
                        rest.append(scored)
            done, most = most, most * _GROWTH
        return Ranking(made, rest, hits, state.size, without, stored)

    # --------------------------------------------------------------------------- parts

    def _state(self) -> Procedure[State]:
        (row,) = yield ask(index.STATE)
        state = State._make(row)
        if state.tokenizer not in ("", INDEX_FORM):
            raise IndexStale(state.tokenizer, INDEX_FORM)
        return state

    def _stand_ins(
        self, words: ScopeWords, asked: ParsedQuestion, meaning: AskedMeaning | None
    ) -> Procedure[StandIns]:
        """What may stand for the words of a question, among those of the scope."""
        rows = (yield ask(index.TOKENS)) if words.vocabulary is None else ()
        with words.lock:
            vocabulary = words.know(token for (token,) in rows)
            return vocabulary.stand_ins(asked, None if meaning is None else meaning.words)

    def _read_vectors(self, words: ScopeWords, meaning: AskedMeaning | None) -> Procedure[int]:
        """Read the vectors that were made since; how many documents have none yet."""
        if meaning is None:
            return 0
        vectors = words.vectors(meaning.model, len(meaning.vector) // 4)
        with words.lock:
            unread = vectors.unread(words.columns)
        if not len(unread):
            return 0
        if len(unread) > FEW:
            rows = yield ask(index.VECTORS, model=meaning.model)
        else:
            seqs = Integers(unread.tolist())
            rows = yield ask(index.VECTORS_OF, model=meaning.model, seqs=seqs)
        with words.lock:
            vectors.add(rows)
            return len(vectors.unread(words.columns))

    def _stored(self, tokens: Sequence[str]) -> Procedure[dict[str, Postings]]:
        """The postings that the index has of these tokens."""
        if not tokens:
            return {}
        rows = yield ask(index.CHUNKS, tokens=Texts(tokens))
        chunks: dict[str, list[Chunk]] = {}
        for token, first, body in rows:
            chunks.setdefault(token, []).append(Chunk(first, body))
        return {token: postings_in(sorted(own)) for token, own in chunks.items()}

    def _looked_at(
        self, within: MemoryFilter, damaged: list[EntryDamaged] | None
    ) -> Procedure[Collection[int] | None]:
        """The entries that are looked at; None if all are."""
        if within == EVERYTHING:
            return None
        chosen = self._select(within, COLUMNS if within.asks_for_content else "v.seq")
        if chosen is None:
            return ()
        rows = yield chosen
        if not within.asks_for_content:
            return [seq for (seq,) in rows]
        found = self._compared.currents(rows, damaged)
        return [seq for seq, current in found if fits(within, current)]

    def _records(
        self, seqs: Sequence[int], damaged: list[EntryDamaged] | None
    ) -> Procedure[tuple[dict[int, Current], dict[int, StoredEntry]]]:
        """The versions that some entries led to, if they are current, and the entries; by entry."""
        if not seqs:
            return {}, {}
        stored = self._compared.entries((yield ask(index.STORED, seqs=Integers(seqs))), damaged)
        bodies = {seq: entry.body for seq, entry in stored.items() if entry.body is not None}
        named = Texts(
            orjson.dumps([document["id"], version_of(document), seq]).decode()  # noqa: TID251 - a parameter
            for seq, document in zip(bodies, map(_head_of, bodies.values()), strict=True)
        )
        versions = yield ask(index.VERSIONS, named=named, seqs=Integers(bodies))
        found = {
            seq: Current(*[*row, bodies[seq]])._replace(since=since)
            for seq, since, *row in versions
        }
        return found, stored


def _check(words: ScopeWords, state: State) -> None:
    """Overtaken if what is remembered is of a later moment; its lock is held."""
    if words.size != state.size or words.indexed > state.indexed:
        raise Overtaken
    words.advance(state.indexed)


def _make(
    made: list[R],
    found: Iterable[Current],
    make: Callable[[Current], R | None],
    limit: int | None,
) -> bool:
    """Add what is made of these records; whether there are enough."""
    for current in found:
        if len(made) == limit:
            return True
        value = make(current)
        if value is not None:
            made.append(value)
    return len(made) == limit


def _newest(current: Current) -> tuple[int, int]:
    return current.created_at, current.since


def _head_of(body: bytes) -> dict[str, Any]:
    """The document of a body, for its id and version.

    Large numbers in it may not be as `decode` gives them, which takes eight times as long.
    """
    try:
        document: dict[str, Any] = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = decode(body)  # which says what is wrong
    return document


# ------------------------------------------------------------------------------------------------
# The index of words of one journal, in either database.

_TRIES: Final = 16


class JournalWords:
    """What is done with the index of words of a journal (`recall.index.WordIndex`)."""

    def __init__(
        self,
        journal: int,
        rows: JournalRows,
        known: KnownScopes,
        select: Callable[[MemoryFilter, str], PlainStatement | None],
    ) -> None:
        """`select` gives the statement for what a filter may ask for, None for nothing."""
        self._rows = rows
        self._turns = asyncio.Lock()
        bodies = LenientCodec(rows.bodies)
        self._search = WordSearch(journal, rows.compared, bodies, known, select)
        self._tail = TailReader(journal, bodies, known)

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        """The active objects that have the words of a query, newest first."""
        find = partial(self._search.find, query, make, every=every, limit=limit)
        return await self._searched(partial(find, after=after or BEFORE_ALL))

    async def rank(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
        meaning: AskedMeaning | None = None,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first."""
        rank = partial(self._search.rank, mode, asked, make, limit=limit, below=below)
        return await self._searched(partial(rank, within=within, damaged=damaged, meaning=meaning))

    async def index(self) -> Index:
        """How far it reaches, whose it is, and of how much."""
        return (await self._state()).described

    async def tail(self) -> int:
        """How many entries it has not."""
        state = await self._state()
        return state.size - state.indexed

    async def reindex(self) -> None:
        """Make it anew, in steps; it is stale until a unit names its tokenizer."""
        await self._rows.write(lambda: clear(REBUILDING))
        while await self.merge(rebuilding=True):
            pass
        while await self.merge_segments():
            pass

    async def merge(self, *, entries: int = BATCH, rebuilding: bool = False) -> int:
        """Bring it forward by a batch; how many entries are left.

        As many as before, if another process was faster.
        """
        bodies = self._rows.bodies
        with self._plain_damage():
            made = await self._rows.read(
                lambda: batch(bodies, entries=entries, rebuilding=rebuilding)
            )
            if made is None:
                return 0
            is_done = await self._rows.write(lambda: write_batch(made))
            return made.left if is_done else made.state.size

    async def tidy(self) -> None:
        """Bring it forward to the end, and merge what is due, as is done when nobody writes."""
        while await self.merge():
            pass
        while await self.merge_segments():
            pass

    async def read_ahead(self) -> bool:
        """Read a few entries that are not merged, before somebody searches; whether more are."""
        with self._plain_damage():
            return await self._rows.read(self._tail.ahead)

    async def merge_segments(self) -> bool:
        """Go on with merging segments; whether any were due.

        If the index was changed meanwhile, nothing was moved: they are still due.
        """
        with self._plain_damage():
            step = await self._rows.read(segment_step)
            if step is not None:
                await self._rows.write(lambda: write_segments(step))
            return step is not None

    async def _state(self) -> State:
        (state,) = await self._rows.read(_state)
        return state

    async def _searched(self, search: Callable[[], Procedure[R]]) -> R:
        """What a search finds; begun again where who saw a later moment came in between.

        Those who begin again take turns, so that not all of them overtake each other.
        """
        try:
            return await self._rows.read(search)
        except Overtaken:
            pass
        except ChunkDamaged as damaged:
            raise self._damaged(damaged) from None
        with self._plain_damage():
            async with self._turns:
                for _ in range(_TRIES):
                    with suppress(Overtaken):
                        return await self._rows.read(search)
        why = f"{_TRIES} searches were overtaken by others; try again"
        raise StoreUnavailable(self._rows.database, why)

    @contextmanager
    def _plain_damage(self) -> Iterator[None]:
        """An index that can't be read comes out as an error that says what to do."""
        try:
            yield
        except ChunkDamaged as damaged:
            raise self._damaged(damaged) from None

    def _damaged(self, damaged: ChunkDamaged) -> StoreFailed:
        why = f"its index of words is damaged ({damaged}); run `memoranda reindex`"
        return StoreFailed(self._rows.database, why)


def _state() -> Procedure[list[State]]:
    return list(map(State._make, (yield ask(index.STATE))))
