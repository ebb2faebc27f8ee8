"""The journals of many scopes at once, as their checkpoints need them (`ledger.anchor`)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from time import sleep
from typing import Any, Final, NamedTuple

import apsw

from memoranda.identity.merkle import leaf_hash
from memoranda.ledger.anchor import NewNote, NotedHead
from memoranda.ledger.tree import BLOCK, Block, Blocks
from memoranda.stores.shorthand import ENTRY, unpacked
from memoranda.stores.sqlite.append import LEAVES, NODES
from memoranda.stores.sqlite.connection import place

_HEADS: Final = """
SELECT j.scope, j.origin, j.size, (SELECT max(c.size) FROM checkpoints c WHERE c.journal = j.number)
FROM journals j WHERE j.scope = ?
"""
_JOURNAL: Final = "SELECT number FROM journals WHERE scope = ?"
_KEEP_NOTE: Final = """
INSERT INTO checkpoints (journal, size, note, at)
SELECT number, ?, ?, ? FROM journals WHERE scope = ? AND origin = ?
ON CONFLICT (journal, size) DO UPDATE SET note = excluded.note, at = excluded.at
"""


class BlockRead(NamedTuple):
    """How a block of a journal's tree is read: a statement, and what a row of it becomes."""

    sql: str
    parameters: Sequence[int]
    made: Callable[[Any], bytes]


def block_read(journal: int, block: Block) -> BlockRead:
    """How a block is read: leaves follow from the entries, everything above is stored."""
    start, end = block.number * BLOCK, (block.number + 1) * BLOCK
    if block.level == 0:
        return BlockRead(LEAVES, (place(journal, start), place(journal, end)), _leaf)
    return BlockRead(NODES, (journal, block.level, start, end), _node)


def heads(connection: apsw.Connection, scopes: Collection[str]) -> list[NotedHead]:
    """The heads of these scopes' journals; those that have none are left out."""
    rows = connection.executemany(_HEADS, [(scope,) for scope in scopes])
    return [NotedHead._make(row) for row in rows]


def hashes(
    connection: apsw.Connection, blocks: Mapping[str, Collection[Block]]
) -> dict[str, Blocks]:
    found: dict[str, Blocks] = {}
    for scope, wanted in blocks.items():
        rows: list[Any] = connection.execute(_JOURNAL, (scope,)).fetchall()
        for (journal,) in rows:
            found[scope] = {block: _hashes(connection, journal, block) for block in wanted}
        sleep(0)  # lets the event loop have its turn
    return found


def keep_notes(connection: apsw.Connection, notes: Sequence[NewNote]) -> None:
    """Keep notes, each with the journal of its scope and origin."""
    rows = [(note.size, note.note, note.at, note.scope, note.origin) for note in notes]
    connection.executemany(_KEEP_NOTE, rows).fetchall()


def _hashes(connection: apsw.Connection, journal: int, block: Block) -> list[bytes]:
    read = block_read(journal, block)
    return [read.made(row) for row in connection.execute(read.sql, read.parameters)]


def _leaf(row: Any) -> bytes:
    return leaf_hash(unpacked(row[0], ENTRY))


def _node(row: Any) -> bytes:
    return bytes(row[0])
