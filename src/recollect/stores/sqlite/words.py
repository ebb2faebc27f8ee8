"""The index of words in SQLite: FTS5, which keeps postings and nothing else.

Deleting leaves the words where they were, marked as deleted, until their segment is merged with
others; FTS5's own `secure-delete` is slow (3 to 8 ms for a record, a page for each of its words)
and leaves words in the keys between its pages. So `merge_segments` is what takes them out: merged
into one segment, an index has no word but those of its postings.
"""

from collections.abc import Collection
from typing import Any, Final

import apsw

from recollect.ledger.codec import BodyCodec, Leniently
from recollect.ledger.unit import Index
from recollect.stores.sqlite.places import place
from recollect.stores.words import prefix, words_in
from recollect.text import TOKENIZER, Query

INDEX: Final = "SELECT indexed, tokenizer FROM journals WHERE number = ?"
ADD: Final = "INSERT INTO words (rowid, tokens) VALUES (?, ?)"
REMOVE: Final = "INSERT INTO words (words, rowid, tokens) VALUES ('delete', ?, ?)"
BODY_AT: Final = "SELECT body FROM bodies WHERE place = ?"
INDEXED_VERSION: Final = (
    "SELECT seq, status FROM versions WHERE journal = ? AND id = ? AND seq < ?"
    " ORDER BY number DESC LIMIT 1"
)
_CLEAR: Final = "INSERT INTO words (words) VALUES ('delete-all')"
_FROM_THE_START: Final = "UPDATE journals SET indexed = 0"
_MERGE: Final = "INSERT INTO words (words, rank) VALUES ('merge', ?)"
_PAGES_AT_ONCE: Final = 16
_NOTHING_MERGED: Final = 2  # FTS5 says so: fewer rows than these were written


def index_of(connection: apsw.Connection, journal: int) -> Index:
    """How far the index of a journal reaches, and whose it is."""
    row: Any = connection.execute(INDEX, (journal,)).fetchone()
    return Index._make(row)


def joined(journal: int, tokens: Collection[str]) -> str:
    """Tokens of a journal as they are given to the index."""
    before = prefix(journal)
    return " ".join(before + token for token in sorted(tokens))


def expression(journal: int, query: Query, *, every: bool) -> str:
    """A query in the language of FTS5."""
    before, words = prefix(journal), []
    for word in query.words:
        found = [
            " AND ".join(_quoted(before + token) for token in tokens)
            for tokens in word.alternatives
        ]
        words.append(" OR ".join(f"({tokens})" for tokens in found))
    return (" AND " if every else " OR ").join(f"({word})" for word in words)


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def forget_words(connection: apsw.Connection, journal: int, id: str, bodies: BodyCodec) -> None:
    """Remove an object from the index, while its body is still there, inside a transaction.

    Without the tokens that it was added with, it can't be: then the whole index goes. If it is
    another tokenizer's, nobody could search it anyway.
    """
    indexed, tokenizer = index_of(connection, journal)
    if not indexed:
        return
    if tokenizer != TOKENIZER:
        clear(connection)
        return
    found: Any = connection.execute(INDEXED_VERSION, (journal, id, indexed)).fetchone()
    if found is None or found[1] != "active":
        return
    where = place(journal, found[0])
    body: Any = connection.execute(BODY_AT, (where,)).fetchone()
    words = words_in(Leniently(bodies).unpack(body[0])) if body is not None else None
    if words is None:
        clear(connection)
    elif words.tokens:
        connection.execute(REMOVE, (where, joined(journal, words.tokens)))


def clear(connection: apsw.Connection) -> None:
    """Empty the index, of all journals: without its tokens nothing can be taken out alone."""
    connection.execute(_CLEAR)
    connection.execute(_FROM_THE_START)


def begin_merging_segments(connection: apsw.Connection) -> bool:
    """Start to merge all of the index into one segment; whether there is nothing to do."""
    return _merged(connection, -_PAGES_AT_ONCE)


def merge_segments(connection: apsw.Connection) -> bool:
    """Go on with it, for some pages; whether it is done."""
    return _merged(connection, _PAGES_AT_ONCE)


def _merged(connection: apsw.Connection, pages: int) -> bool:
    before = connection.total_changes()
    connection.execute(_MERGE, (pages,))
    return connection.total_changes() - before < _NOTHING_MERGED
