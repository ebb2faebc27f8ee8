"""Merging segments of the word index in SQLite, some tokens at a time (`stores.postings`).

1. of each old segment some rows are read, from the first token on that was not moved yet
2. up to where all of them were read, postings of a token become one list
3. they are written into the new segment, and deleted from the old ones
4. when nothing is left in the old ones, they go
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import apsw

from memoranda.stores.postings import Chunk, Segment, due, joined
from memoranda.stores.sqlite.words import POSTING_ROWS, SEGMENT_ROWS, segments_of

ROWS: Final = 4_096
"""Rows that one transaction reads at most, but for what is left of the last token: about 20 ms."""

_LAST_MOVED: Final = (
    "SELECT token FROM postings WHERE journal = ? AND segment = ? ORDER BY token DESC LIMIT 1"
)
_SOME: Final = """
SELECT token, first, body FROM postings
WHERE journal = ? AND segment = ? AND token > ? ORDER BY token, first LIMIT ?
"""
_REST: Final = """
SELECT token, first, body FROM postings
WHERE journal = ? AND segment = ? AND token = ? AND first > ? ORDER BY first
"""
_MOVED: Final = (
    "DELETE FROM postings WHERE journal = ? AND segment = ? AND token > ? AND token <= ?"
)
_GONE: Final = "DELETE FROM segments WHERE journal = ? AND number = ?"


class _SegmentRows(NamedTuple):
    """Some rows of one segment: every token in them is whole."""

    rows: Sequence[tuple[str, int, bytes]]
    is_all: bool


def is_due(connection: apsw.Connection, journal: int) -> bool:
    return due(segments_of(connection, journal)) is not None


def merge_some(connection: apsw.Connection, journal: int) -> bool:
    """Go on with merging segments, inside a transaction; whether something is left to do."""
    merge = due(segments_of(connection, journal))
    if merge is None:
        return False
    into = merge.into.number
    if not merge.is_begun:
        SEGMENT_ROWS.run(connection, [(journal, *merge.into)])
    moved: Any = connection.execute(_LAST_MOVED, (journal, into)).fetchone()
    after = "" if moved is None else moved[0]
    # 1.
    each = max(ROWS // len(merge.of), 1)
    read = [_read(connection, journal, segment, after, each) for segment in merge.of]
    # 2.
    is_all = all(some.is_all for some in read)
    lasts = [some.rows[-1][0] for some in read if some.rows and (is_all or not some.is_all)]
    upto = (max if is_all else min)(lasts, default=after)
    tokens: dict[str, list[Chunk]] = {}
    for some in read:
        for token, first, body in some.rows:
            if token <= upto:
                tokens.setdefault(token, []).append(Chunk(first, body))
    # 3.
    whole = [
        (journal, into, token, *chunk)
        for token in sorted(tokens)
        for chunk in joined(tokens[token])
    ]
    for segment in merge.of:
        connection.execute(_MOVED, (journal, segment.number, after, upto))
    POSTING_ROWS.run(connection, whole)
    # 4.
    if is_all:
        for segment in merge.of:
            connection.execute(_GONE, (journal, segment.number))
    return not is_all or is_due(connection, journal)


def _read(
    connection: apsw.Connection, journal: int, segment: Segment, after: str, limit: int
) -> _SegmentRows:
    found: Any = connection.execute(_SOME, (journal, segment.number, after, limit)).fetchall()
    if len(found) < limit:
        return _SegmentRows(found, is_all=True)
    token, first, _ = found[-1]
    found += connection.execute(_REST, (journal, segment.number, token, first)).fetchall()
    return _SegmentRows(found, is_all=False)
