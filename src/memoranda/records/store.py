"""The contract of a memory store: a small CRUD core and abilities that are declared (D-MEM-1).

`MemoryStore` is what every store has. The seed's optional methods are small protocols of their
own; a store lists those that it keeps in `capabilities`, and a caller looks there, never with
`hasattr`. `memoranda.testkit` proves a store against all of this.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from memoranda.kernel.errors import CapabilityMissing, InvalidOption
from memoranda.records.filter import MemoryFilter, Page
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord

T = TypeVar("T")


class Capability(StrEnum):
    """What a store may declare that it can do."""

    CRUD = "crud"
    CREATE_MANY = "create_many"
    UPDATE_MANY = "update_many"
    DELETE_MANY = "delete_many"
    CONSOLIDATE = "consolidate"
    CLEAR = "clear"
    ANNOTATED = "annotated"
    HOOKS = "hooks"
    STREAMED = "streamed"
    VERSIONED = "versioned"
    PAGED = "paged"
    COUNTED = "counted"
    FORGETS_WHERE = "forgets_where"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store declares: its abilities, and the filter keys of its own."""

    abilities: frozenset[Capability]
    filter_keys: frozenset[str] = frozenset()

    def __contains__(self, capability: Capability) -> bool:
        return capability in self.abilities

    def require(self, capability: Capability) -> None:
        """Refuse, in plain words, a store that does not declare this ability."""
        if capability not in self.abilities:
            raise CapabilityMissing(capability.value)


@dataclass(frozen=True, slots=True)
class MemoryUpdate:
    """One update of a batch: the record's id and the patch.

    With an `expected_version`, of a store that is VERSIONED, a record that has moved on is a
    VersionConflict, and nothing of the batch is done.
    """

    id: str
    patch: Any
    expected_version: int | None = None


class MemoryStore(Protocol[T]):
    """A generic store of memory records; any backend may implement it (D-MEM-1, MEM-CRUD-1)."""

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do beyond the methods here; it declares at least CRUD."""
        ...

    async def create(self, record: MemoryRecordInput[T]) -> str:
        """Store a new record and return its id; RecordExists if the id is in use (MEM-CRUD-4)."""
        ...

    async def get(self, id: str) -> StoredMemoryRecord[T] | None:
        """The record under this id, or None (MEM-CRUD-2)."""
        ...

    async def update(self, id: str, patch: Any) -> None:
        """Merge a patch into a record's data; RecordNotFound without one (MEM-CRUD-3)."""
        ...

    async def delete(self, id: str) -> None:
        """Let get and query no longer return this record; an unknown id is no error."""
        ...

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[T]]:
        """The records that the filter asks for, as `records.filter.select` defines it."""
        ...


def check_store(given: object) -> None:
    """Refuse with InvalidOption what is no MemoryStore: it declares at least CRUD, and has that."""
    kind = type(given).__name__
    declared = getattr(given, "capabilities", None)
    if not isinstance(declared, Capabilities) or Capability.CRUD not in declared:
        why = f"a {kind} declares no CRUD in its capabilities"
        raise InvalidOption("store", f"{why}; give a MemoryStore (docs/testkit.md)")
    for method in ("create", "get", "update", "delete", "query"):
        if not callable(getattr(given, method, None)):
            raise InvalidOption("store", f"a {kind} has no {method}; give a MemoryStore")


class CreatesMany(Protocol[T]):
    """Capability.CREATE_MANY."""

    async def create_many(self, records: Sequence[MemoryRecordInput[T]]) -> list[str]:
        """Store all of the records, or none; their ids in the same order."""
        ...


class UpdatesMany(Protocol):
    """Capability.UPDATE_MANY."""

    async def update_many(self, updates: Sequence[MemoryUpdate]) -> None:
        """Make all of the updates in their order, or none."""
        ...


class DeletesMany(Protocol):
    """Capability.DELETE_MANY."""

    async def delete_many(self, ids: Sequence[str]) -> None:
        """Delete all of these records, or none; unknown ids are no error."""
        ...


class Consolidates(Protocol):
    """Capability.CONSOLIDATE."""

    async def consolidate(self) -> None:
        """Fold what belongs together, in whatever way this store documents."""
        ...


class Clears(Protocol):
    """Capability.CLEAR."""

    async def clear(self) -> None:
        """Delete every record of this handle's scope."""
        ...


class Annotated(Protocol):
    """Capability.ANNOTATED: tags and meta change by a call of their own, never by a patch."""

    async def annotate(
        self,
        id: str,
        *,
        tags: Sequence[str] | None = ...,
        meta: dict[str, Any] | None = ...,
    ) -> None:
        """Replace a record's tags, its meta, or both; what is not named stays; None removes."""
        ...


class Streamed(Protocol[T]):
    """Capability.STREAMED."""

    def stream(self, filter: MemoryFilter) -> AsyncGenerator[StoredMemoryRecord[T], None]:
        """What `query` would return when the stream starts, without holding it all in memory.

        Close it (`aclose`, or `contextlib.aclosing`) when you leave it early.
        """
        ...


class Paged(Protocol[T]):
    """Capability.PAGED."""

    async def page(
        self, filter: MemoryFilter, *, cursor: str | None = None
    ) -> Page[StoredMemoryRecord[T]]:
        """What `query` would return, and in `next` the cursor of what follows.

        With that cursor and the same filter the next page begins, whatever was written meanwhile:
        what is there all the time comes exactly once. InvalidFilter for a cursor of another
        filter.
        """
        ...


class Counted(Protocol):
    """Capability.COUNTED: what there is, without the records."""

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what `query` would return."""
        ...

    async def count(self, filter: MemoryFilter) -> int:
        """How many records `query` would return."""
        ...

    async def tags(self, prefix: str = "") -> dict[str, int]:
        """The tags that begin so, by code point, each with how many records have it."""
        ...


class ForgetsWhere(Protocol):
    """Capability.FORGETS_WHERE."""

    async def forget_where(self, filter: MemoryFilter, *, reason: str) -> int:
        """Delete what `query` would return, all of it or nothing; how many they were."""
        ...


class Versioned(Protocol[T]):
    """Capability.VERSIONED: the same methods, with optimistic concurrency and safe retries.

    With an `idempotency_key`, a retry after an unknown outcome returns what the first call
    returned and writes nothing; the same key with another request is an IdempotencyConflict.
    With `expected_version`, a record that has moved on is a VersionConflict.
    """

    async def version(self, id: str) -> int | None:
        """The version of the record under this id, counted from 1, or None."""
        ...

    async def create(
        self,
        record: MemoryRecordInput[T],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> str:
        """As MemoryStore.create; with the id of a deleted record it is its next version."""
        ...

    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """As MemoryStore.update."""
        ...

    async def delete(
        self,
        id: str,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """As MemoryStore.delete; without a reason it records 'deleted by caller'."""
        ...


# ------------------------------------------------------------------------------------------------
# Hooks: what a user wants to hear of, after it happened (MEM-HOOK-1, MEM-HOOK-3).
#
# They are called for every change of a record through the handle that they were given to: by its
# verbs, by its `records`, and by an operation that it approves. For them, what is put away or
# erased is deleted, and what is reinstated is created.
#
# A hook may be a plain function, which runs on a thread, or an async one. It runs after the write
# has landed and gets values of its own, so that nothing it does reaches the store or the caller's
# result. One that raises, or takes longer than `time_limit` seconds, is reported to `on_failure`
# and logged; the operation goes on as if it were not there (MEM-HOOK-2).

HookAnswer = Awaitable[None] | None


@dataclass(frozen=True, slots=True)
class HookFailure:
    """A hook that failed: which one (`on_created`), about which record, and how."""

    hook: str
    record_id: str | None
    error: BaseException


@dataclass(frozen=True, kw_only=True)
class MemoryHooks(Generic[T]):
    """The four hooks of the seed, each optional, and who is called when one fails."""

    on_created: Callable[[StoredMemoryRecord[T]], HookAnswer] | None = None
    on_updated: Callable[[str, T, T], HookAnswer] | None = None
    on_deleted: Callable[[str, StoredMemoryRecord[T]], HookAnswer] | None = None
    on_queried: Callable[[MemoryFilter, list[StoredMemoryRecord[T]]], HookAnswer] | None = None
    on_failure: Callable[[HookFailure], HookAnswer] | None = None
    time_limit: float = 5.0
