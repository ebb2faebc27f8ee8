"""Somebody who can write the database's file.

There are two of them: one edits a body with plain SQL; the other knows docs/format.md, and
makes every hash anew that follows from the edit: entries, chain, heads, the checkpoints that are
kept with the journal, and the directory. Neither can reach what was kept elsewhere.
"""

from pathlib import Path
from typing import Any, Final

import apsw

from memoranda.identity.merkle import NodeList, frontier_at, leaf_hash
from memoranda.ledger.anchor import ScopeHead, read_head
from memoranda.ledger.checkpoint import Checkpoint
from memoranda.ledger.entry import body_digest, entry_bytes, entry_hash, genesis, read_entry
from memoranda.ledger.signed_note import SignedNote
from memoranda.stores.shorthand import BODY, ENTRY, packed, unpacked
from memoranda.stores.sqlite.connection import place

DROP: Final = (
    "DROP TRIGGER entries_stay",
    "DROP TRIGGER entries_remain",
    "DROP TRIGGER bodies_stay",
)
EDIT: Final = "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), ?, ?) AS BLOB)"

_JOURNALS: Final = "SELECT number, scope, origin FROM journals ORDER BY scope = '', number"
_ENTRIES: Final = """
SELECT e.place, e.entry, b.salt, b.body FROM entries e LEFT JOIN bodies b USING (place)
WHERE e.place >= ? AND e.place < ? ORDER BY e.place
"""

_EMPTY_INDEX: Final = (
    "DELETE FROM postings",
    "DELETE FROM segments",
    "DELETE FROM documents",
    "DELETE FROM threads",
    "UPDATE journals SET indexed = 0, documents = 0, length = 0",
)
"""An index that has no words yet is made anew from the journal, by whoever opens it next."""


def edit(file: Path, old: str, new: str) -> None:
    """Put one word in the place of another, in every body; nothing else is touched."""
    connection = apsw.Connection(str(file))
    try:
        for statement in DROP:
            connection.execute(statement)
        connection.execute(EDIT, (old, new))
    finally:
        connection.close()


def rehash(file: Path) -> None:
    """Make every hash of the file anew, so that it agrees with itself: for small journals."""
    connection = apsw.Connection(str(file))
    try:
        with connection:
            trees: dict[str, NodeList] = {}
            journals: list[Any] = connection.execute(_JOURNALS).fetchall()
            for number, _, origin in journals:  # the directory, which names the others, comes last
                trees[origin] = _rehash_journal(connection, number, origin, trees)
                _remake_checkpoints(connection, number, origin, trees[origin])
            for statement in _EMPTY_INDEX:
                connection.execute(statement)
    finally:
        connection.close()


def _rehash_journal(
    connection: apsw.Connection, number: int, origin: str, trees: dict[str, NodeList]
) -> NodeList:
    tree, last = NodeList(), genesis(origin)
    between = (place(number, 0), place(number + 1, 0))
    rows: list[Any] = connection.execute(_ENTRIES, between).fetchall()
    for where, stored, salt, shorthand in rows:
        entry = read_entry(unpacked(stored, ENTRY))._replace(previous_entry_hash=last)
        if shorthand is not None:
            body = _body(unpacked(shorthand, BODY), entry.kind, trees)
            entry = entry._replace(body_digest=body_digest(salt, body))
            change = (packed(body, BODY), where)
            connection.execute("UPDATE bodies SET body = ? WHERE place = ?", change)
        raw = entry_bytes(entry)
        change = (packed(raw, ENTRY), where)
        connection.execute("UPDATE entries SET entry = ? WHERE place = ?", change)
        tree.append(leaf_hash(raw))
        last = entry_hash(raw).hex()
    head = (bytes.fromhex(last), number)
    connection.execute("UPDATE journals SET head = ? WHERE number = ?", head)
    return tree


def _body(body: bytes, kind: str, trees: dict[str, NodeList]) -> bytes:
    """A body as it was edited; what the directory says of a journal, said anew."""
    if kind != "checkpoint":
        return body
    head = read_head(body)
    root = frontier_at(head.size, trees[head.origin]).root()
    return ScopeHead(head.scope, head.origin, head.size, root).body


def _remake_checkpoints(
    connection: apsw.Connection, number: int, origin: str, tree: NodeList
) -> None:
    """The checkpoints in the database, anew; signatures can't be made without the key."""
    sizes: list[Any] = connection.execute(
        "SELECT size FROM checkpoints WHERE journal = ?", (number,)
    ).fetchall()
    for (size,) in sizes:
        note = SignedNote(Checkpoint(origin, size, frontier_at(size, tree).root()).text)
        connection.execute(
            "UPDATE checkpoints SET note = ? WHERE journal = ? AND size = ?",
            (str(note), number, size),
        )
