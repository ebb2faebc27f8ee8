"""The port to a scope's ledger: it runs units of work, and reads."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, NamedTuple, Protocol, TypeVar

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.attachments import Attachment, AttachmentRows, Origins
from memoranda.ledger.lease import Leases
from memoranda.ledger.snapshot import Index, LedgerSnapshot, StoredRow
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import (
    Committed,
    Current,
    Head,
    KnownSubject,
    Mark,
    Past,
    StoredEntry,
    Unit,
)
from memoranda.text import Query

R = TypeVar("R")


class Compacted(NamedTuple):
    """What was stored in fewer bytes: how many bodies, how many bytes less, how far it came."""

    bodies: int
    saved: int
    upto: int
    is_all: bool
    """Whether nothing comes after that, for now."""


class Wanted(NamedTuple):
    """What is to be read of a journal besides the entries that are looked at."""

    leaves: Collection[int]
    blocks: Collection[Block]


class Sight(NamedTuple):
    """Some entries of a journal and all that a verification of them asks for, at one moment."""

    size: int
    entries: Mapping[int, StoredEntry]
    damaged: EntryDamaged | None
    """The first of them that is not what was written."""
    leaves: Mapping[int, bytes]
    """The bytes of the entries that were wanted, and of the last one."""
    hashes: Blocks
    notes: Sequence[str]
    """The newest checkpoints, the largest size first."""
    notices: list[StoredEntry]
    """What `notices` gives: the same list as long as it is the same."""
    named: StoredEntry | EntryDamaged | None
    """The newest entry under the name that was asked for."""


NOTHING_SEEN: Final = Sight(0, {}, None, {}, {}, (), [], None)
"""What a scope shows to which nothing was written yet."""


class Ledger(Protocol):
    """The ledger of one scope.

    Every body that it hands out was compared with the digest in its entry (`stores.compared`):
    EntryDamaged for one that differs, or that is gone and was not erased. Only a snapshot has
    things as they are stored.
    """

    @property
    def attachments(self) -> AttachmentRows:
        """What landed with its entries."""
        ...

    @property
    def origins(self) -> Origins:
        """What leads from its cycles to what they left."""
        ...

    @property
    def leases(self) -> Leases:
        """Who does what in the scope just now, and the jobs that are due."""
        ...

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit in one transaction."""
        ...

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value where it was read."""
        ...

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        ...

    def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, in its order.

        Whatever their status was; without those whose content was erased since.
        """
        ...

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        """The active objects that have every word of a query, or any, newest first.

        With `after`, those that come after what was made at this time and is active since this
        entry.
        Each is made into a value where it was read; what is made into None does not count. It
        finds what `memoranda.text.matches` says of all active objects, the last write included.
        IndexStale if the index is of another tokenizer.
        """
        ...

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        ...

    async def reindex(self) -> None:
        """Make the word index anew, in steps; it is stale until a unit names its tokenizer."""
        ...

    async def active(self, at_most: int) -> int:
        """How many objects are active; counted up to a number."""
        ...

    async def expired(self, at: int, limit: int) -> list[str]:
        """The ids of what is active and has expired by then, the first to expire first."""
        ...

    async def head(self) -> Head:
        """The end of the journal."""
        ...

    async def bytes_at(self, seqs: Collection[int]) -> dict[int, bytes]:
        """The bytes of these entries, by number; those that are not there are left out."""
        ...

    async def entries_at(self, seqs: Collection[int]) -> list[StoredEntry]:
        """These entries with their bodies, by number; those that are not there are left out."""
        ...

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        """The entries that are found by a name, by number, from the one after this number on.

        With `newest_first` backwards, from the newest.
        """
        ...

    async def marks(self, prefix: str, *, after: str = "", limit: int | None = None) -> list[Mark]:
        """The names that begin so, by name, each with its newest entry, from the next name on."""
        ...

    async def newest_marks(self, prefix: str, *, before: str = "", limit: int) -> list[Mark]:
        """The same backwards, from the last name, or from the one before this name."""
        ...

    async def subjects(self, prefix: str, *, after: str = "", limit: int) -> list[KnownSubject]:
        """The people that objects are about, by name, from the next name on."""
        ...

    async def outputs(self, input: str) -> list[str]:
        """What was made from an object or a fact: ids and names, in their order."""
        ...

    async def notices(self) -> list[StoredEntry]:
        """The entries about the memory as a whole (`entry.NOTICES`), the first one first.

        A damaged one is marked (`codec.Unreadable`) and has no content: a database with one opens.
        """
        ...

    async def sight(
        self,
        seqs: Collection[int],
        wanted: Callable[[int, Sequence[str]], Wanted],
        *,
        named: str,
        notes: int,
    ) -> Sight:
        """All that a verification looks at, in one read.

        `wanted` is told the size of the journal and its newest notes, so many of them.
        """
        ...

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        ...

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        ...

    async def scrub(self, *, rewrite: bool = False) -> None:
        """See that what was erased is in no byte of the database.

        StoreUnavailable while somebody else still reads what was before; `rewrite` is the long
        way, where the database has one.
        """
        ...

    async def tidy(self) -> None:
        """Bring the word index forward, and merge it, as is done when nobody writes."""
        ...

    async def compact(self, after: int, *, dry_run: bool = False) -> Compacted:
        """Store some long bodies of executions in fewer bytes, from the entry after this one on.

        They read as before, byte for byte. A database that compresses by itself has nothing to do.
        With `dry_run` it is only seen what would be done.
        """
        ...

    def snapshot(self) -> AbstractAsyncContextManager["LedgerSnapshot"]:
        """All of the ledger as it is now, to be read at leisure while writing goes on."""
        ...


class Adoption(Protocol):
    """A journal of another database on its way into this one: all of it lands, or nothing."""

    async def entries(self, stored: Sequence[StoredEntry]) -> None:
        """Take over the next entries, as they are; InvalidProof if they don't follow."""
        ...

    async def rows(self, rows: Sequence[StoredRow]) -> None:
        """Take over the next rows, when all entries were."""
        ...

    async def attachments(self, attachments: Sequence[Attachment]) -> None:
        """Take over what had landed with the entries."""
        ...

    async def notes(self, notes: Sequence[tuple[int, str]], at: int) -> None:
        """Take over the checkpoints that were kept: sizes and notes."""
        ...


class LedgerTable(Protocol):
    """What units of work go through, so that whoever watches the journal learns of them."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        ...

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit."""
        ...
