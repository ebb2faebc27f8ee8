"""The dict store: the reference for records, in memory, gone when it is closed."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from recollect.kernel.errors import RecordExists, RecordNotFound
from recollect.records.filter import MemoryFilter, select
from recollect.records.model import StoredMemoryRecord
from recollect.stores.table import Change, Edit, Inserted, NewRow, Note, RetryKey, Row

R = TypeVar("R")


@dataclass(slots=True)
class DictTable:
    """Rows of one scope in a dict. No call awaits, so each one is a transaction by itself."""

    rows: dict[str, Row] = field(default_factory=dict)
    deleted: dict[str, int] = field(default_factory=dict)
    keys: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    async def insert(
        self, rows: Sequence[NewRow], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use."""
        del note  # who and why is kept by databases; this one forgets everything anyway
        first = self._first_outcome(key)
        if first is not None:
            return Inserted([first], fresh=False)
        seen: set[str] = set()
        for row in rows:
            if row.id in self.rows or row.id in seen:
                raise RecordExists(row.id)
            seen.add(row.id)
        for row in rows:
            version = self.deleted.pop(row.id, 0) + 1
            self.rows[row.id] = Row(row.id, version, row.created_at, row.updated_at, row.body)
        self._remember(key, rows[0].id)
        return Inserted([row.id for row in rows])

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[Change]:
        """Edit rows in the order given."""
        if self._first_outcome(key) is not None:
            return []
        after: dict[str, Row] = {}
        changes: list[Change] = []
        for edit in edits:
            before = after.get(edit.id) or self.rows.get(edit.id)
            if before is None:
                raise RecordNotFound(edit.id)
            change, _ = before.edited(edit, note.at)
            after[edit.id] = change.after
            changes.append(change)
        self.rows.update(after)
        self._remember(key, edits[0].id)
        return changes

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        """Remove rows and return what they were."""
        del note
        if self._first_outcome(key) is not None:
            return []
        removed = [self.rows[id] for id in ids if id in self.rows]
        for row in removed:
            row.check_version(expected_version)
        for row in removed:
            self.deleted[row.id] = row.version
            del self.rows[row.id]
        self._remember(key, ids[0])
        return removed

    async def clear(self, note: Note) -> int:
        """Remove every row."""
        return len(await self.remove(list(self.rows), note)) if self.rows else 0

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value."""
        row = self.rows.get(id)
        return None if row is None else make(row)

    async def select(self, filter: MemoryFilter, make: Callable[[Row], R]) -> list[R]:
        """What the filter asks for, by its definition."""
        found = select(filter, (_judged(row) for row in self.rows.values()))
        return [make(record.data) for record in found]

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows; they are values, so later changes don't reach them."""
        for row in await self.select(filter, Row.itself):
            yield row

    def _first_outcome(self, key: RetryKey | None) -> str | None:
        if key is None or key.key not in self.keys:
            return None
        fingerprint, id = self.keys[key.key]
        key.check_same(fingerprint)
        return id

    def _remember(self, key: RetryKey | None, id: str) -> None:
        if key is not None:
            self.keys[key.key] = (key.fingerprint, id)


class DictDatabase:
    """All scopes of one `dict://`."""

    def __init__(self) -> None:
        self._tables: dict[str, DictTable] = {}

    async def records(self, scope: str, now: int) -> DictTable:
        """The table of one scope, made when it is first asked for."""
        del now
        return self._tables.setdefault(scope, DictTable())

    async def scopes(self) -> list[str]:
        """Every scope that was opened."""
        return sorted(self._tables)

    async def close(self) -> None:
        """Forget everything."""
        self._tables.clear()


def _judged(row: Row) -> StoredMemoryRecord[Row]:
    """The row dressed as a record, so that the filter's own definition can judge it."""
    return StoredMemoryRecord(row.id, row, row.created_at, row.updated_at, tuple(row.tags()))
