"""The port under the contract: a table of records of one scope.

The contract is kept once over this port (`journeys.records`); what lies under it keeps rows: a
dict, or a governed ledger. Each call is one transaction: all of it lands, or none of it.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.kernel.errors import VersionConflict
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.records.filter import MemoryFilter, Position

R = TypeVar("R")


class Content(NamedTuple):
    """What a record says, as nobody can change it: data and meta as canonical JSON.

    Data that `is_raw` is no JSON: bytes, as they are.
    """

    data: bytes
    tags: tuple[str, ...] | None
    meta: bytes | None
    is_raw: bool = False

    @property
    def value(self) -> JsonValue | bytes:
        """The data, made anew for whoever asks."""
        return self.data if self.is_raw else decode(self.data)

    @property
    def meta_value(self) -> JsonValue:
        """The meta, likewise."""
        return None if self.meta is None else decode(self.meta)


new_content: Final[Callable[[tuple[Any, ...]], Content]] = partial(tuple.__new__, Content)
"""Content of all its fields, as one tuple: that takes a third of the time, for every record."""


class Row(NamedTuple):
    """A record of a table, or one that is to be stored."""

    id: str
    created_at: int
    updated_at: int
    content: Content
    version: int = 0
    """Nothing, until it is stored."""
    since: int = 0
    """Its place in the order of writing, where it was selected."""
    is_minted: bool = False
    """Whether its id was made for it, and so is in no use."""

    def itself(self) -> "Row":
        """The row as it is, for whoever wants rows of `RecordTable.select`."""
        return self


new_row_of: Final[Callable[[tuple[Any, ...]], Row]] = partial(tuple.__new__, Row)
"""A row of all its fields; see `new_content`."""


class Note(NamedTuple):
    """What is kept with a change: who made it, when, and why."""

    actor: str
    at: int
    reason: str | None


class Edit(NamedTuple):
    """A change of one record: a pure function from its content to the next.

    It runs inside the transaction, between reading and writing, and may refuse by raising.
    """

    id: str
    apply: Callable[[Content], Content]
    expected_version: int | None = None


class Inserted(NamedTuple):
    """The ids that were stored; not fresh when a retry found its first outcome."""

    ids: Sequence[str]
    fresh: bool = True


class RowEdit(NamedTuple):
    """A row before an edit, and its content after."""

    before: Row
    after: Content


def check_version(id: str, version: int, expected: int | None) -> None:
    """Refuse to go on if a record is not at the version that the caller saw."""
    if expected is not None and version != expected:
        raise VersionConflict(id, expected, version)


class RecordTable(Protocol):
    """Rows of one scope. A deleted id keeps its version: created again, it is a later one."""

    @property
    def filter_keys(self) -> frozenset[str]:
        """The keys beyond the seed's that `select` and `stream` answer."""
        ...

    async def insert(
        self, rows: Sequence[Row], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new rows; RecordExists if an id is in use. On a retry, the first ids."""
        ...

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> Iterable[RowEdit]:
        """Edit rows in the order given; RecordNotFound, VersionConflict. Empty on a retry."""
        ...

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> Iterable[Row]:
        """Remove rows and return what they were; unknown ids are passed over. Empty on a retry."""
        ...

    async def clear(self, note: Note, removed: list[Row] | None = None) -> None:
        """Remove every row of the scope; what they were goes into `removed`, if it is given."""
        ...

    async def consolidate(self, note: Note) -> list[Row]:
        """Put away what is an exact duplicate of another row, and return what it was."""
        ...

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The row under this id, made into a value where it was read."""
        ...

    async def select(
        self, filter: MemoryFilter, make: Callable[[Row], R], after: Position | None = None
    ) -> list[R]:
        """What the filter asks for, each row made into a value where it was read.

        With `after`, only what comes after this position in the filter's order.
        """
        ...

    def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        ...

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what the filter asks for, in its order."""
        ...

    async def count(self, filter: MemoryFilter) -> int:
        """How many rows the filter asks for."""
        ...

    async def tags(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, in order, each with how many rows have it."""
        ...

    async def forget_where(self, filter: MemoryFilter, note: Note) -> list[Row]:
        """Remove what the filter asks for, and return what it was; a page is cut out first.

        A row that came to be otherwise meanwhile stays.
        """
        ...
