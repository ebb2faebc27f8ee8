"""New rows in few statements.

Each statement gives other threads a turn, and waiting to have one's own back costs more than an
insert. So the creates that share a commit share their statements too, and a batch of a thousand
rows takes some fifty of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

import apsw

from recollect.kernel.errors import RecordExists
from recollect.stores.sqlite.keys import first_outcome, remember
from recollect.stores.table import Inserted, NewRow, Note, RetryKey

V = TypeVar("V")

_BLOCKS: Final = (64, 8, 1)
"""Rows to a statement: as many of the largest as fit, then of the next."""

# An id in use makes the version null, which the table refuses: the statement fails as a whole.
_INSERT: Final = """
INSERT INTO records (scope, id, version, created_at, updated_at, body, actor, reason)
VALUES {rows}
ON CONFLICT (scope, id) DO UPDATE SET
  version = CASE WHEN body IS NULL THEN version + 1 END,
  created_at = excluded.created_at, updated_at = excluded.updated_at,
  body = excluded.body, actor = excluded.actor, reason = excluded.reason
"""
_TAG: Final = "INSERT INTO record_tags (scope, tag, created_at, id) VALUES {rows}"
_INSERTS: Final = {
    size: _INSERT.format(rows=", ".join(["(?, ?, 1, ?, ?, ?, ?, ?)"] * size)) for size in _BLOCKS
}
_TAGS: Final = {size: _TAG.format(rows=", ".join(["(?, ?, ?, ?)"] * size)) for size in _BLOCKS}
_IN_USE: Final = "SELECT 1 FROM records WHERE scope = ? AND id = ? AND body IS NOT NULL"


class Create(NamedTuple):
    """One call of `RecordTable.insert`."""

    scope: str
    rows: Sequence[NewRow]
    note: Note
    key: RetryKey | None


def insert_new(connection: apsw.Connection, creates: Sequence[Create]) -> list[Inserted]:
    """Store the rows of several calls; RecordExists if an id is in use."""
    outcomes: list[Inserted] = []
    fresh: list[Create] = []
    for create in creates:
        first = first_outcome(connection, create.scope, create.key)
        if first is not None:
            outcomes.append(Inserted([first], fresh=False))
            continue
        remember(connection, create.scope, create.key, create.rows[0].id, create.note.at)
        outcomes.append(Inserted([row.id for row in create.rows]))
        fresh.append(create)
    _insert_rows(connection, fresh)
    index_tags(
        connection,
        [
            (create.scope, tag, row.created_at, row.id)
            for create in fresh
            for row in create.rows
            for tag in row.tags
        ],
    )
    return outcomes


def index_tags(connection: apsw.Connection, tags: Iterable[tuple[str, str, int, str]]) -> None:
    """Enter tags into their index: scope, tag, time of creation, id."""
    for block in _blocks(sorted(tags)):
        connection.execute(_TAGS[len(block)], [value for entry in block for value in entry])


def _insert_rows(connection: apsw.Connection, creates: Sequence[Create]) -> None:
    rows = [
        (scope, row.id, row.created_at, row.updated_at, row.body, note.actor, note.reason)
        for scope, new, note, _ in creates
        for row in new
    ]
    for block in _blocks(rows):
        try:
            connection.execute(_INSERTS[len(block)], [value for row in block for value in row])
        except apsw.ConstraintError:
            raise RecordExists(_first_in_use(connection, block)) from None


def _first_in_use(connection: apsw.Connection, rows: Sequence[tuple[object, ...]]) -> str:
    """The first id that is stored already, or that stands among these twice."""
    seen = set()
    for scope, id, *_ in rows:
        if (scope, id) in seen or connection.execute(_IN_USE, (scope, id)).fetchall():
            return str(id)
        seen.add((scope, id))
    raise LookupError("a constraint failed and no id is in use")


def _blocks(rows: Sequence[V]) -> Iterator[Sequence[V]]:
    start = 0
    for size in _BLOCKS:
        while len(rows) - start >= size:
            yield rows[start : start + size]
            start += size
