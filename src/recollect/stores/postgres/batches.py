"""Many rows in one transaction, in few statements: columns travel as arrays.

Rows are locked, and written, in the order of their ids, so that two batches never wait for each
other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from psycopg.types.numeric import Int8

from recollect.kernel.errors import RecordExists, RecordNotFound
from recollect.stores.postgres.connection import Connection
from recollect.stores.table import Change, Edit, NewRow, Note, Row

T = TypeVar("T")

ROWS_PER_STATEMENT: Final = 1_000

_INSERT: Final = """
INSERT INTO recollect.records AS r
  (scope, id, version, created_at, updated_at, body, actor, reason)
SELECT %s, n.id, 1, n.created_at, n.updated_at, n.body, %s, %s
FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bytea[])
  AS n (id, created_at, updated_at, body)
ON CONFLICT (scope, id) DO UPDATE SET
  version = r.version + 1, created_at = excluded.created_at, updated_at = excluded.updated_at,
  body = excluded.body, actor = excluded.actor, reason = excluded.reason
  WHERE r.body IS NULL
RETURNING r.id
"""
_TAG: Final = """
INSERT INTO recollect.record_tags (scope, tag, created_at, id)
SELECT %s, recollect.tag_key(n.tag), n.created_at, n.id
FROM unnest(%s::text[], %s::bigint[], %s::text[]) AS n (tag, created_at, id)
"""
_UNTAG: Final = """
DELETE FROM recollect.record_tags t
USING unnest(%s::text[], %s::bigint[], %s::text[]) AS n (tag, created_at, id)
WHERE t.scope = %s AND t.tag = recollect.tag_key(n.tag)
  AND t.created_at = n.created_at AND t.id = n.id
"""
_LOCK: Final = """
SELECT r.id, r.version, r.created_at, r.updated_at, r.body FROM recollect.records r
WHERE r.scope = %s AND r.id = ANY (%s::text[]) AND r.body IS NOT NULL
ORDER BY r.id
FOR UPDATE
"""
_EDIT: Final = """
UPDATE recollect.records r
SET version = n.version, updated_at = n.updated_at, body = n.body, actor = %s, reason = %s
FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bytea[])
  AS n (id, version, updated_at, body)
WHERE r.scope = %s AND r.id = n.id
"""
_REMOVE: Final = """
UPDATE recollect.records r
SET body = NULL, updated_at = %s, actor = %s, reason = %s
FROM unnest(%s::text[]) AS n (id)
WHERE r.scope = %s AND r.id = n.id
"""


async def insert_all(
    connection: Connection, scope: str, rows: Sequence[NewRow], note: Note
) -> None:
    """Store new rows; RecordExists if an id is in use, or comes twice."""
    seen: set[str] = set()
    for row in rows:
        if row.id in seen:
            raise RecordExists(row.id)
        seen.add(row.id)
    for part in _parts(sorted(rows, key=lambda row: row.id)):
        values = (
            *(scope, note.actor, note.reason, [row.id for row in part]),
            [Int8(row.created_at) for row in part],
            [Int8(row.updated_at) for row in part],
            [row.body for row in part],
        )
        stored = await connection.execute(_INSERT, values, prepare=True)
        if stored.rowcount < len(part):
            new = {id for (id,) in await stored.fetchall()}
            raise RecordExists(next(row.id for row in part if row.id not in new))
        await _tag(connection, scope, [(tag, row) for row in part for tag in row.tags])


async def edit_all(
    connection: Connection, scope: str, edits: Sequence[Edit], note: Note
) -> list[Change]:
    """Lock rows in the order of their ids, edit them in the order given, write each once."""
    ids = sorted({edit.id for edit in edits})
    edited = {row.id: _Edited(row) for row in await _locked(connection, scope, ids)}
    changes = []
    for edit in edits:
        if edit.id not in edited:
            raise RecordNotFound(edit.id)
        changes.append(edited[edit.id].change(edit, note.at))
    for part in _parts([edited[id] for id in ids]):
        values = (
            *(note.actor, note.reason, [each.row.id for each in part]),
            [Int8(each.row.version) for each in part],
            [Int8(each.row.updated_at) for each in part],
            [each.row.body for each in part],
            scope,
        )
        await connection.execute(_EDIT, values, prepare=True)
        await _untag(connection, scope, [(tag, each.row) for each in part for tag in each.gone])
        await _tag(connection, scope, [(tag, each.row) for each in part for tag in each.new])
    return changes


async def remove_all(
    connection: Connection, scope: str, ids: Sequence[str], note: Note, expected: int | None
) -> list[Row]:
    """Lock rows in the order of their ids, empty them, and return what they were."""
    found = {row.id: row for row in await _locked(connection, scope, sorted(ids))}
    removed = [found[id] for id in ids if id in found]
    for row in removed:
        row.check_version(expected)
    for part in _parts(removed):
        values = (Int8(note.at), note.actor, note.reason, [row.id for row in part], scope)
        await connection.execute(_REMOVE, values, prepare=True)
        await _untag(connection, scope, [(tag, row) for row in part for tag in row.tags()])
    return removed


@dataclass(slots=True)
class _Edited:
    """A row after the edits so far, and the tags that it lost and gained by them all."""

    row: Row
    gone: set[str] = field(default_factory=set)
    new: set[str] = field(default_factory=set)

    def change(self, edit: Edit, at: int) -> Change:
        change, edited = self.row.edited(edit, at)
        self.row = change.after
        gone, new = self.gone | edited.tags_gone, self.new | edited.tags_new
        self.gone, self.new = gone - edited.tags_new, new - edited.tags_gone
        return change


async def _locked(connection: Connection, scope: str, ids: Sequence[str]) -> list[Row]:
    """The rows that are there, which nobody else can change until the transaction ends."""
    found = await connection.execute(_LOCK, (scope, list(ids)), prepare=True, binary=True)
    return [Row._make(row) for row in await found.fetchall()]


async def _tag(
    connection: Connection, scope: str, tagged: Sequence[tuple[str, NewRow | Row]]
) -> None:
    if tagged:
        await connection.execute(_TAG, (scope, *_columns(tagged)), prepare=True)


async def _untag(connection: Connection, scope: str, tagged: Sequence[tuple[str, Row]]) -> None:
    if tagged:
        await connection.execute(_UNTAG, (*_columns(tagged), scope), prepare=True)


def _columns(
    tagged: Sequence[tuple[str, NewRow | Row]],
) -> tuple[list[str], list[Int8], list[str]]:
    return (
        [tag for tag, _ in tagged],
        [Int8(row.created_at) for _, row in tagged],
        [row.id for _, row in tagged],
    )


def _parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), ROWS_PER_STATEMENT):
        yield items[start : start + ROWS_PER_STATEMENT]
