"""The dict store: the reference for records and items, in memory, gone when it is closed."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from memoranda.kernel.errors import RecordExists, RecordNotFound
from memoranda.kernel.given import RetryKey
from memoranda.records.filter import PLAIN_KEYS, Judged, MemoryFilter, Position, select_by
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.table import (
    Edit,
    Inserted,
    Note,
    Row,
    RowEdit,
    check_version,
)
from memoranda.stores.items import DictItems
from memoranda.text import fold

R = TypeVar("R")


@dataclass(slots=True)
class DictTable:
    """Rows of one scope in a dict. No call awaits, so each one is a transaction by itself."""

    rows: dict[str, Row] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    keys: dict[str, tuple[bytes, list[str]]] = field(default_factory=dict)
    created: int = 0
    filter_keys = PLAIN_KEYS

    async def insert(
        self, rows: Sequence[Row], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use."""
        del note  # who and why is kept by databases; this one forgets everything anyway
        first = self._first_outcome(key)
        if first is not None:
            return Inserted(first, fresh=False)
        seen: set[str] = set()
        for row in rows:
            if row.id in self.rows or row.id in seen:
                raise RecordExists(row.id)
            seen.add(row.id)
        for row in rows:
            version = self.deleted.pop(row.id, 0) + 1
            self.rows[row.id] = row._replace(version=version, since=self.created)
            self.created += 1
        self._remember(key, [row.id for row in rows])
        return Inserted([row.id for row in rows])

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[RowEdit]:
        if self._first_outcome(key) is not None:
            return []
        after: dict[str, Row] = {}
        changes: list[RowEdit] = []
        for edit in edits:
            before = after.get(edit.id) or self.rows.get(edit.id)
            if before is None:
                raise RecordNotFound(edit.id)
            after[edit.id] = _edited(before, edit, note.at)
            changes.append(RowEdit(before, after[edit.id].content))
        self.rows.update(after)
        self._remember(key, [edit.id for edit in edits])
        return changes

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        del note
        if self._first_outcome(key) is not None:
            return []
        removed = [self.rows[id] for id in ids if id in self.rows]
        for kept in removed:
            check_version(kept.id, kept.version, expected_version)
        for id in ids:
            if id in self.deleted:  # its deletion was a version, too
                check_version(id, self.deleted[id] + 1, expected_version)
        for kept in removed:
            self.deleted[kept.id] = kept.version
            del self.rows[kept.id]
        self._remember(key, list(ids))
        return removed

    async def clear(self, note: Note, removed: list[Row] | None = None) -> None:
        """Remove every row; what they were goes into `removed`, if it is given."""
        if self.rows:
            gone = await self.remove(list(self.rows), note)
            if removed is not None:
                removed.extend(gone)

    async def consolidate(self, note: Note) -> list[Row]:
        """Remove what has the same data, tags and meta as an older row, and return what it was."""
        first: dict[object, str] = {}
        for row in self._selected(MemoryFilter(order="asc")):
            value = row.content.value
            said = fold(value) if isinstance(value, str) else row.content.data
            first.setdefault((said, *row.content[1:]), row.id)
        kept = set(first.values())
        same = [id for id in self.rows if id not in kept]
        return await self.remove(same, note) if same else []

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value."""
        kept = self.rows.get(id)
        return None if kept is None else make(kept)

    async def select(
        self, filter: MemoryFilter, make: Callable[[Row], R], after: Position | None = None
    ) -> list[R]:
        return [make(kept) for kept in self._selected(filter, after)]

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows; what lies in the dict is never changed, so later changes don't show."""
        for kept in self._selected(filter):
            yield kept

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what the filter asks for, in its order."""
        return [kept.id for kept in self._selected(filter)]

    async def count(self, filter: MemoryFilter) -> int:
        return len(self._selected(filter))

    async def tags(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, in order, each with how many rows have it."""
        each = (tag for kept in self.rows.values() for tag in set(kept.content.tags or ()))
        return dict(sorted(Counter(tag for tag in each if tag.startswith(prefix)).items()))

    async def forget_where(self, filter: MemoryFilter, note: Note) -> list[Row]:
        """Remove what the filter asks for, and return what it was."""
        ids = await self.ids(filter)
        return await self.remove(ids, note) if ids else []

    def _selected(self, filter: MemoryFilter, after: Position | None = None) -> list[Row]:
        return select_by(filter, self.rows.values(), _judged, after)

    def _first_outcome(self, key: RetryKey | None) -> list[str] | None:
        if key is None or key.key not in self.keys:
            return None
        fingerprint, ids = self.keys[key.key]
        key.check_same(fingerprint)
        return ids

    def _remember(self, key: RetryKey | None, ids: list[str]) -> None:
        if key is not None:
            self.keys[key.key] = (key.fingerprint, ids)


class DictDatabase:
    """All scopes of one `dict://`."""

    def __init__(self) -> None:
        self._tables: dict[str, DictTable] = {}
        self._items: dict[tuple[str, str], DictItems] = {}

    def records(self, scope: str) -> DictTable:
        """The table of one scope, made when it is first asked for."""
        return self._tables.setdefault(scope, DictTable())

    async def items(self, scope: str, session_ref: str) -> DictItems:
        """The items of one session, made when they are first asked for."""
        return self._items.setdefault((scope, session_ref), DictItems(session_ref))

    async def scopes(self) -> list[str]:
        """Every scope that was opened."""
        return sorted(self._tables)

    async def close(self) -> None:
        """Forget everything."""
        self._tables.clear()
        self._items.clear()


def _edited(row: Row, edit: Edit, at: int) -> Row:
    """The record after an edit; time never goes back for a record."""
    check_version(row.id, row.version, edit.expected_version)
    updated_at, content = max(at, row.updated_at), edit.apply(row.content)
    return row._replace(version=row.version + 1, updated_at=updated_at, content=content)


def _judged(row: Row) -> Judged:
    id, created_at, updated_at, content, *_ = row
    record = StoredMemoryRecord(
        id, content.value, created_at, updated_at, content.tags, content.meta_value
    )
    return Judged(record, since=row.since)
