"""The port under our stores: a table of records of one scope, as rows of canonical bytes.

`Records` keeps the contract once for all databases; a `RecordTable` per database keeps rows.
Each call is one transaction: all of it lands, or none of it.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from recollect.identity import decode
from recollect.kernel.errors import IdempotencyConflict, VersionConflict
from recollect.records.filter import MemoryFilter

R = TypeVar("R")


class Row(NamedTuple):
    """A record as a database returns it; `body` is canonical JSON of data, meta and tags."""

    id: str
    version: int
    created_at: int
    updated_at: int
    body: bytes

    def tags(self) -> frozenset[str]:
        """The tags that its body names."""
        return frozenset(decode(self.body).get("tags") or ())

    def check_version(self, expected: int | None) -> None:
        """Refuse to go on if the record is not at the version that the caller saw."""
        if expected is not None and self.version != expected:
            raise VersionConflict(self.id, expected, self.version)

    def edited(self, edit: "Edit", at: int) -> "tuple[Change, Edited]":
        """The row before and after an edit; time never goes back for a record."""
        self.check_version(edit.expected_version)
        edited = edit.apply(self.body)
        updated_at = max(at, self.updated_at)
        after = Row(self.id, self.version + 1, self.created_at, updated_at, edited.body)
        return Change(self, after), edited

    def itself(self) -> "Row":
        """The row as it is, for whoever wants rows of `RecordTable.select`."""
        return self


@dataclass(frozen=True, slots=True)
class NewRow:
    """A record to be stored; `tags` are what its body says, for the index."""

    id: str
    created_at: int
    updated_at: int
    body: bytes
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Note:
    """What is kept beside a change: who made it, when, and why."""

    actor: str
    at: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class RetryKey:
    """An idempotency key and the digest of the request that it stands for."""

    key: str
    fingerprint: bytes

    def check_same(self, fingerprint: bytes) -> None:
        """Refuse a key that stood for another request before."""
        if fingerprint != self.fingerprint:
            raise IdempotencyConflict(self.key)


@dataclass(frozen=True, slots=True)
class Edited:
    """A body after an edit, and what that changes in the index of tags."""

    body: bytes
    tags_gone: frozenset[str] = frozenset()
    tags_new: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one record: a pure function from its body to the next one.

    It runs inside the transaction, between reading and writing, and may refuse by raising.
    """

    id: str
    apply: Callable[[bytes], Edited]
    expected_version: int | None = None


@dataclass(frozen=True, slots=True)
class Inserted:
    """The ids that were stored; not fresh when a retry found its first outcome."""

    ids: Sequence[str]
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Change:
    """A row before and after an edit."""

    before: Row
    after: Row


class RecordTable(Protocol):
    """Rows of one scope. A deleted id keeps its version: created again, it is the next one."""

    async def insert(
        self, rows: Sequence[NewRow], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use. A key goes with one row."""
        ...

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[Change]:
        """Edit rows in the order given; RecordNotFound, VersionConflict. Empty on a retry."""
        ...

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        """Remove rows and return what they were; unknown ids are passed over. Empty on a retry."""
        ...

    async def clear(self, note: Note) -> int:
        """Remove every row of the scope and return how many there were."""
        ...

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value where it was read."""
        ...

    async def select(self, filter: MemoryFilter, make: Callable[[Row], R]) -> list[R]:
        """What the filter asks for, each row made into a value where it was read."""
        ...

    def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        ...
