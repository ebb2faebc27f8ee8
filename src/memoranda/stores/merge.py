"""Bringing the word index forward, and merging its segments, in either database.

Each step is two procedures: one that reads and prepares, without any lock; and one that writes what
was prepared, in a short transaction, unless the index was changed meanwhile. What is left undone is
seen from the rows by whoever comes next, after a crash too.

A batch of entries becomes a segment:

1. their words, and what of the index they replace
2. the new segment, the chunks and blocks of documents that are written anew, what is counted

Segments become one, some tokens at a time (`postings`):

3. of each old segment the next chunks are read, and those of a token become one list
4. they are written into the new segment, and deleted from the old ones; when nothing is left in
   the old ones, they go
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import orjson

from memoranda.ledger.codec import BodyCodec, LenientCodec, Unreadable
from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING, StoredDocument
from memoranda.ledger.unit import Current
from memoranda.stores import index
from memoranda.stores.documents import block_of, changed
from memoranda.stores.index import State
from memoranda.stores.postings import (
    Chunk,
    ChunkDamaged,
    NewChunks,
    Segment,
    SegmentMerge,
    checked,
    chunks_by_token,
    due,
    joined,
    next_number,
    without,
)
from memoranda.stores.statements import Blobs, EachRow, Integers, Procedure, Texts, ask
from memoranda.stores.words import BATCH, Words, words_in
from memoranda.text.tokens import LENGTHS

CHUNKS_AT_ONCE: Final = 256
"""Chunks that are read of each segment at a time: what is moved while others wait is short."""

PAIRS_AT_ONCE: Final = 8_192


class ChunkRow(NamedTuple):
    """A chunk where it stands: its segment, its token."""

    segment: int
    token: str
    chunk: Chunk


class Taken(NamedTuple):
    """What is written for documents that go: these chunks go, and those come."""

    gone: Mapping[int, StoredDocument]
    old: Sequence[ChunkRow] = ()
    left: Sequence[ChunkRow] = ()


class WordBatch(NamedTuple):
    """What a batch of entries does to an index that is as it was when they were read."""

    state: State
    end: int
    segment: int
    added: Sequence[StoredDocument]
    chunks: NewChunks
    taken: Taken
    blocks: Mapping[int, bytes]
    is_lost: bool = False
    """Whether something is to be taken out whose words can't be read any more."""

    @property
    def left(self) -> int:
        """Entries that are not in the index once it is written."""
        return self.state.size - self.end


# ------------------------------------------------------------------------------------ a batch


def batch(
    bodies: BodyCodec, *, entries: int = BATCH, rebuilding: bool = False
) -> Procedure[WordBatch | None]:
    """What follows from the next entries; None if there are none.

    An index of another tokenizer is left alone, and so is one that another process makes anew.
    """
    # 1.
    (row,) = yield ask(index.STATE)
    state = State._make(row)
    end = min(state.size, state.indexed + entries)
    if state.tokenizer not in ((REBUILDING,) if rebuilding else ("", INDEX_FORM)):
        return None
    if end == state.indexed:
        return None
    rows = yield ask(index.BODIES, start=state.indexed, end=end)
    newest: dict[str, tuple[int, Words]] = {}
    for seq, stored in rows:
        words = _words_in(bodies, stored)
        if words is not None:
            newest[words.id] = (seq, words)
    segments = yield ask(index.SEGMENTS)
    number = next_number(map(Segment._make, segments))
    before = yield from _indexed(
        bodies, [id for id, (_, words) in newest.items() if words.number > 1], state.indexed
    )
    is_lost = any(words is None for _, words in before.values())
    taken = yield from _taking({seq: words for seq, words in before.values() if words is not None})
    found = sorted((seq, words) for seq, words in newest.values() if words.document is not None)
    added = [words.document._replace(seq=seq) for seq, words in found if words.document is not None]
    counts = ((seq, words.counts, words.document.length) for seq, words in found if words.document)
    blocks = yield from _blocks(taken.gone, added)
    return WordBatch(state, end, number, added, chunks_by_token(counts), taken, blocks, is_lost)


def write_batch(made: WordBatch) -> Procedure[bool]:
    """Write what was prepared; whether it was, or the index was changed meanwhile."""
    # 2.
    state, taken = made.state, made.taken
    if made.is_lost:
        yield from clear()
        return False
    length = _length(made.added) - _length(taken.gone.values())
    claimed = yield ask(
        index.CLAIM,
        end=made.end,
        tokenizer=state.tokenizer or INDEX_FORM,
        documents=len(made.added) - len(taken.gone),
        length=length,
        revision=state.revision,
        indexed=state.indexed,
    )
    if not claimed:
        return False
    yield from _take(taken)
    first = Segment(made.segment, state.indexed, made.end, 0)
    yield ask(index.PUT_SEGMENT, **first._asdict())
    if made.chunks.tokens:
        segments = Integers([made.segment] * len(made.chunks.tokens))
        tokens, firsts, bodies = made.chunks
        yield EachRow(
            index.PUT_CHUNKS,
            {
                "segments": segments,
                "tokens": Texts(tokens),
                "firsts": Integers(firsts),
                "bodies": Blobs(bodies),
            },
        )
    yield from _put_blocks(made.blocks)
    threads = [row for row in made.added if row.thread]
    if threads:
        names = Texts(row.thread for row in threads)
        yield EachRow(
            index.PUT_THREADS, {"threads": names, "seqs": Integers(row.seq for row in threads)}
        )
    return True


def clear(tokenizer: str | None = None) -> Procedure[None]:
    """Empty the index; and name whose it is to be, if that is given."""
    for statement in index.EMPTIED:
        yield ask(statement)
    yield ask(index.RESET)
    if tokenizer is not None:
        yield ask(index.NAMED, tokenizer=tokenizer)


# ------------------------------------------------------------------------------------ segments


class SegmentStep(NamedTuple):
    """The chunks of the tokens after one, to be moved: up to another, or all that are left."""

    state: State
    merge: SegmentMerge
    after: str
    upto: str | None
    chunks: Sequence[ChunkRow]


def segment_step() -> Procedure[SegmentStep | None]:
    """The next step of merging segments; None if none are due."""
    # 3.
    (row,) = yield ask(index.STATE)
    merge = due(map(Segment._make, (yield ask(index.SEGMENTS))))
    if merge is None:
        return None
    moved = yield ask(index.LAST_MOVED, segment=merge.into.number)
    after, most = moved[0][0] if moved else "", CHUNKS_AT_ONCE
    while True:
        read: list[list[tuple[str, int, bytes]]] = []
        for segment in merge.of:
            some = ask(index.NEXT_CHUNKS, segment=segment.number, after=after, most=most)
            read += [(yield some)]
        unfinished = [rows[-1][0] for rows in read if len(rows) == most]
        end = min(unfinished, default=None)
        tokens: dict[str, list[Chunk]] = {}
        for token, first, body in (row for rows in read for row in rows):
            if end is None or token < end:  # of a segment that has more, the last is not whole
                tokens.setdefault(token, []).append(Chunk(first, body))
        if tokens or end is None:
            break
        most *= 2
    chunks = [
        ChunkRow(merge.into.number, token, chunk)
        for token in sorted(tokens)
        for chunk in joined(sorted(tokens[token]))
    ]
    upto = None if end is None else max(tokens)
    return SegmentStep(State._make(row), merge, after, upto, chunks)


def write_segments(step: SegmentStep) -> Procedure[bool]:
    """Move what was prepared; whether it was, or the index was changed meanwhile."""
    # 4.
    state = step.state
    claimed = yield ask(
        index.CLAIM,
        end=state.indexed,
        tokenizer=state.tokenizer,
        documents=0,
        length=0,
        revision=state.revision,
        indexed=state.indexed,
    )
    if not claimed:
        return False
    yield ask(index.PUT_SEGMENT, **step.merge.into._asdict())
    for segment in step.merge.of:
        upto = _LAST if step.upto is None else step.upto
        yield ask(index.DROP_MOVED, segment=segment.number, after=step.after, upto=upto)
        if step.upto is None:
            yield ask(index.DROP_SEGMENT, number=segment.number)
    yield from _put(step.chunks)
    return True


_LAST: Final = "\U0010ffff" * 65
"""Longer than any token, of the last character: all stand before it."""


# ------------------------------------------------------------------------------------ an erasure
#
# Only the tokens that an object was added with lead to its postings. An index of another tokenizer,
# or one with something in it that can't be read any more, goes as a whole: it is made anew. So it
# is with an object whose body is not what was written.


def take_out(bodies: BodyCodec, erased: Sequence[Current]) -> Procedure[None]:
    """Take objects out of the index, inside the transaction that erases them, before they are."""
    (row,) = yield ask(index.STATE)
    state = State._make(row)
    if not erased or not state.indexed:
        return
    if state.tokenizer == INDEX_FORM and not any(current.damaged for current in erased):
        with suppress(ChunkDamaged):  # what can't be read is no reason to keep it
            found = yield from _indexed(bodies, [current.id for current in erased], state.indexed)
            gone = {seq: words for seq, words in found.values() if words is not None}
            if len(gone) == len(found):
                taken = yield from _taking(gone)
                blocks = yield from _blocks(taken.gone, ())
                yield ask(
                    index.CLAIM,
                    end=state.indexed,
                    tokenizer=state.tokenizer,
                    documents=-len(taken.gone),
                    length=-_length(taken.gone.values()),
                    revision=state.revision,
                    indexed=state.indexed,
                )
                yield from _take(taken)
                yield from _put_blocks(blocks)
                return
    yield from clear()


class PostingCounts:
    """How many postings objects have, for one unit that erases them, portion by portion."""

    def __init__(self, bodies: BodyCodec) -> None:
        self._bodies = bodies
        self._by_entry: Counter[int] | None = None
        """The postings of each entry, of an index that goes as a whole with the first object that
        is erased: so it is counted once for all portions."""

    def of(self, found: Sequence[Current]) -> Procedure[Mapping[str, int]]:
        """How many `take_out` takes out, or would if it could take them alone."""
        ids = [each.id for each in found]
        (row,) = yield ask(index.STATE)
        state = State._make(row)
        goes_whole = state.tokenizer != INDEX_FORM or any(each.damaged for each in found)
        if self._by_entry is None and state.indexed and goes_whole:
            self._by_entry = Counter()
            for first, body in (yield ask(index.ALL_CHUNKS)):
                with suppress(ChunkDamaged):  # it goes as well, and nobody knows how much it is
                    self._by_entry.update(checked(Chunk(first, body)).seqs.tolist())
        counts = Counter[str]()
        if self._by_entry is None:
            indexed = yield from _indexed(self._bodies, ids, state.indexed)
            counts.update({id: len(words.counts) for id, (_, words) in indexed.items() if words})
        else:
            for id, seq in (yield ask(index.EARLIER, ids=Texts(ids))):
                counts[id] += self._by_entry[seq]
        return counts


# ------------------------------------------------------------------------------------ parts


def _indexed(
    bodies: BodyCodec, ids: Sequence[str], indexed: int
) -> Procedure[dict[str, tuple[int, Words | None]]]:
    """The versions of objects that the index has; without words where they can't be read."""
    if not ids or not indexed:
        return {}
    rows = yield ask(index.INDEXED, ids=Texts(dict.fromkeys(ids)), indexed=indexed)
    found: dict[str, tuple[int, Words | None]] = {}
    for id, seq, stored in rows:
        words = None if stored is None else _words_in(bodies, stored)
        if words is None or words.document is not None:  # else it was never in the index
            found[id] = (seq, words)
    return found


def _words_in(bodies: BodyCodec, stored: bytes) -> Words | None:
    body = LenientCodec(bodies).unpack(stored)
    return None if isinstance(body, Unreadable) else words_in(body)


def _taking(gone: Mapping[int, Words]) -> Procedure[Taken]:
    """What is to be written so that these documents are not in the index, by their entries."""
    documents = {
        seq: words.document._replace(seq=seq)
        for seq, words in gone.items()
        if words.document is not None
    }
    pairs = [(seq, token) for seq in documents for token in gone[seq].counts]
    found: set[ChunkRow] = set()
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        rows = yield ask(
            index.HOLDING,
            pairs=Texts(orjson.dumps(pair).decode() for pair in some),  # noqa: TID251 - a parameter
            seqs=Integers(seq for seq, _ in some),
            tokens=Texts(token for _, token in some),
        )
        found |= {
            ChunkRow(segment, token, Chunk(first, body)) for segment, token, first, body in rows
        }
    return Taken(documents, *without_these(sorted(found), pairs))


def without_these(
    rows: Iterable[ChunkRow], pairs: Iterable[tuple[int, str]]
) -> tuple[list[ChunkRow], list[ChunkRow]]:
    """The rows that hold a posting of these entries and tokens, and what is left of them."""
    entries: dict[str, list[int]] = {}
    for seq, token in pairs:
        entries.setdefault(token, []).append(seq)
    old, left = [], []
    for row in rows:
        rest = without(row.chunk, entries.get(row.token, ()))
        if rest != [row.chunk]:
            old.append(row)
            left += [row._replace(chunk=chunk) for chunk in rest]
    return old, left


def _blocks(
    gone: Mapping[int, StoredDocument], added: Sequence[StoredDocument]
) -> Procedure[dict[int, bytes]]:
    """The blocks of documents that change."""
    numbers = {block_of(seq) for seq in gone} | {block_of(row.seq) for row in added}
    if not numbers:
        return {}
    stored = yield ask(index.BLOCKS, blocks=Integers(sorted(numbers)))
    return changed(stored, gone, added)


def _put_blocks(blocks: Mapping[int, bytes]) -> Procedure[None]:
    if not blocks:
        return
    yield ask(index.DROP_BLOCKS, blocks=Integers(blocks))
    full = {number: body for number, body in blocks.items() if body}
    if full:
        yield EachRow(index.PUT_BLOCKS, {"blocks": Integers(full), "bodies": Blobs(full.values())})


def _take(taken: Taken) -> Procedure[None]:
    if taken.old:
        yield EachRow(index.DROP_CHUNKS, _keys(taken.old))
        yield from _put(taken.left)
    threads = [row for row in taken.gone.values() if row.thread]
    if threads:
        names = Texts(row.thread for row in threads)
        yield EachRow(
            index.DROP_THREADS, {"threads": names, "seqs": Integers(row.seq for row in threads)}
        )


def _put(rows: Sequence[ChunkRow]) -> Procedure[None]:
    if rows:
        bodies = Blobs(row.chunk.body for row in rows)
        yield EachRow(index.PUT_CHUNKS, _keys(rows) | {"bodies": bodies})


def _keys(rows: Sequence[ChunkRow]) -> dict[str, Any]:
    return {
        "segments": Integers(row.segment for row in rows),
        "tokens": Texts(row.token for row in rows),
        "firsts": Integers(row.chunk.first for row in rows),
    }


def _length(rows: Iterable[StoredDocument]) -> int:
    return sum(LENGTHS[row.length] for row in rows)
