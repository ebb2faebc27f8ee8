"""The index of words in SQLite: postings of our own, in segments (`stores.postings`).

Each statement names a journal: one scope's index is made, read and emptied without another's.
Whatever changes it moves postings, threads and statistics in one transaction.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import apsw
import orjson

from memoranda.ledger.codec import BodyCodec, LenientCodec
from memoranda.ledger.snapshot import INDEX_FORM, Index
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.postings import Chunk, ChunkDamaged, Segment, next_number, packed, without
from memoranda.stores.shorthand import first_bytes
from memoranda.stores.sqlite.connection import SEQ_BITS, Inserts, place
from memoranda.stores.tail import NOTHING, Tail, newest, replacing
from memoranda.stores.words import LARGE, Known, WordCache, Words, words_in

INDEX: Final = "SELECT indexed, documents, length, tokenizer FROM journals WHERE number = ?"
BODY_AT: Final = "SELECT body FROM bodies WHERE place = ?"
INDEXED_VERSION: Final = (
    "SELECT seq, status FROM versions WHERE journal = ? AND id = ? AND seq < ?"
    " ORDER BY number DESC LIMIT 1"
)
SEGMENT_ROWS: Final = Inserts("segments", "journal", "number", "first", "until", "level")
POSTING_ROWS: Final = Inserts("postings", "journal", "segment", "token", "first", "body")
_THREAD_ROWS: Final = Inserts("threads", "journal", "thread", "created_at", "id", "seq", "speaker")
SEGMENTS: Final = "SELECT number, first, until, level FROM segments WHERE journal = ?"
_CHUNKS: Final = """
SELECT p.token, p.first, p.body
FROM json_each(?2) t CROSS JOIN segments s CROSS JOIN postings p
WHERE s.journal = ?1 AND p.journal = ?1 AND p.segment = s.number AND p.token = t.value
"""
_CHUNK_WITH: Final = """
SELECT first, body FROM postings
WHERE journal = ? AND segment = ? AND token = ? AND first <= ? ORDER BY first DESC LIMIT 1
"""
_REWRITE: Final = (
    "UPDATE postings SET body = ? WHERE journal = ? AND segment = ? AND token = ? AND first = ?"
)
_DROP: Final = "DELETE FROM postings WHERE journal = ? AND segment = ? AND token = ? AND first = ?"
_LEAVE_THREAD: Final = (
    "DELETE FROM threads WHERE journal = ? AND thread = ? AND created_at = ? AND id = ?"
)
_COUNT: Final = (
    "UPDATE journals SET documents = documents + ?, length = length + ? WHERE number = ?"
)
_CLEAR: Final = (
    "DELETE FROM postings WHERE journal = ?",
    "DELETE FROM segments WHERE journal = ?",
    "DELETE FROM threads WHERE journal = ?",
    "UPDATE journals SET indexed = 0, documents = 0, length = 0 WHERE number = ?",
)


def index_of(connection: apsw.Connection, journal: int) -> Index:
    """How far the index of a journal reaches, whose it is, and of how much."""
    return index_in(connection.execute(INDEX, (journal,)).fetchone())


def index_in(row: Any) -> Index:
    """The index that a row of `INDEX` is."""
    indexed, documents, length, tokenizer = row
    return Index(indexed, tokenizer, documents, length)


def segments_of(connection: apsw.Connection, journal: int) -> list[Segment]:
    rows: Any = connection.execute(SEGMENTS, (journal,))
    return [Segment._make(row) for row in rows]


def chunks_of(
    connection: apsw.Connection, journal: int, tokens: Collection[str]
) -> list[tuple[str, Chunk]]:
    asked = orjson.dumps(list(tokens)).decode()  # noqa: TID251 - a parameter
    rows: Any = connection.execute(_CHUNKS, (journal, asked))
    return [(token, Chunk(first, body)) for token, first, body in rows]


# ------------------------------------------------------------------ inside a transaction


def put(connection: apsw.Connection, journal: int, first: int, until: int, change: Tail) -> None:
    """Write what is added by the entries from `first` up to `until`, as a segment of its own."""
    number = next_number(segments_of(connection, journal))
    SEGMENT_ROWS.run(connection, [(journal, number, first, until, 0)])
    postings = change.postings()
    rows = [
        (journal, number, token, *chunk)
        for token in sorted(postings)
        for chunk in packed(postings[token])
    ]
    POSTING_ROWS.run(connection, rows)
    _THREAD_ROWS.run(connection, sorted((journal, *row) for row in change.threads()))
    connection.execute(_COUNT, (len(change.added), _length(change.added), journal))


def take_out(connection: apsw.Connection, journal: int, gone: Mapping[int, Words]) -> None:
    """Take versions out of the index, by the number of the entry."""
    segments = segments_of(connection, journal)
    taken = [
        (segment.number, token, seq)
        for seq, words in gone.items()
        for segment in segments
        if segment.first <= seq < segment.until
        for token in words.counts
    ]
    for segment, token, seq in sorted(taken):  # neighbours in the tree one after the other
        _take_posting(connection, journal, segment, token, seq)
    for words in gone.values():
        if words.thread is not None:
            connection.execute(_LEAVE_THREAD, (journal, *words.thread[:3]))
    connection.execute(_COUNT, (-len(gone), -_length(gone), journal))


def _take_posting(
    connection: apsw.Connection, journal: int, segment: int, token: str, seq: int
) -> None:
    row: Any = connection.execute(_CHUNK_WITH, (journal, segment, token, seq)).fetchone()
    if row is None:
        return  # while segments are merged, it is in the other one
    chunk = Chunk(*row)
    left = without(chunk, seq)
    if left == [chunk]:
        return
    if left and left[0].first == chunk.first:
        connection.execute(_REWRITE, (left[0].body, journal, segment, token, chunk.first))
    else:
        connection.execute(_DROP, (journal, segment, token, chunk.first))
        POSTING_ROWS.run(connection, [(journal, segment, token, *one) for one in left])


def forget_words(connection: apsw.Connection, journal: int, id: str, bodies: BodyCodec) -> None:
    """Remove an object from the index, while its body is still there.

    Without the tokens that it was added with, it can't be: then the journal's index goes. If it
    is another tokenizer's, nobody could search it anyway.
    """
    index = index_of(connection, journal)
    if not index.indexed:
        return
    if index.tokenizer != INDEX_FORM:
        clear(connection, journal)
        return
    found: Any = connection.execute(INDEXED_VERSION, (journal, id, index.indexed)).fetchone()
    if found is None or found[1] != "active":
        return
    body: Any = connection.execute(BODY_AT, (place(journal, found[0]),)).fetchone()
    words = words_in(LenientCodec(bodies).unpack(body[0])) if body is not None else None
    try:
        if words is not None:
            take_out(connection, journal, {found[0]: words} if words.is_indexed else {})
            return
    except ChunkDamaged:
        pass  # what can't be read goes as a whole
    clear(connection, journal)


def clear(connection: apsw.Connection, journal: int) -> None:
    for statement in _CLEAR:
        connection.execute(statement, (journal,))


def _length(versions: Mapping[int, Words]) -> int:
    return sum(words.length for words in versions.values())


# ------------------------------------------------------------------------------------------------
# What the entries of a stretch change in the index of a SQLite journal (`stores.tail`).

# Only those of entries about objects: of the rest there are many, traces above all, and no words.
_OBJECTS: Final = ", ".join(f"x'{data.hex()}'" for data in first_bytes(OBJECT_KINDS))
# A large body is read when its words are not known.
BODIES: Final = (
    f"SELECT b.place, iif(length(b.body) > {LARGE}, NULL, b.body), b.salt"  # noqa: S608 - ours
    " FROM entries e CROSS JOIN bodies b ON b.place = e.place"
    f" WHERE e.place >= ? AND e.place < ? AND substr(e.entry, 1, 1) IN ({_OBJECTS})"
    " ORDER BY e.place"
)
_SEQ: Final = (1 << SEQ_BITS) - 1


def changes(
    connection: apsw.Connection, journal: int, indexed: int, end: int, words: WordCache
) -> Tail:
    """What comes and goes with the entries from `indexed` up to `end`."""
    if end <= indexed:
        return NOTHING
    bodies: Any = connection.execute(BODIES, (place(journal, indexed), place(journal, end)))
    found = newest(words_at(connection, bodies.fetchall(), words))
    before: dict[str, tuple[int, Words]] = {}
    for id in replacing(found):
        version: Any = connection.execute(INDEXED_VERSION, (journal, id, indexed)).fetchone()
        if version is None or version[1] != "active":
            continue
        body: Any = connection.execute(BODY_AT, (place(journal, version[0]),)).fetchone()
        own = words.of(body[0]) if body is not None else None
        if own is not None:
            before[id] = (version[0], own)
    return Tail.of(found, before)


def words_at(
    connection: apsw.Connection, rows: Iterable[tuple[int, bytes | None, bytes]], words: WordCache
) -> Iterator[tuple[int, Words | None]]:
    """The words of the rows of `BODIES`, each with the number of its entry."""
    for where, body, salt in rows:
        known = words.known(salt) if body is None else None
        if known is None:
            known = Known(words.of(body or _large(connection, where), salt))
        yield where & _SEQ, known.words


def _large(connection: apsw.Connection, where: int) -> bytes:
    found: Any = connection.execute(BODY_AT, (where,)).fetchone()
    body: bytes = found[0]
    return body
