"""The port to a scope's ledger: units of work that land whole, and reads.

A unit names what it reads and a pure function that decides, from what was read, which entries to
append. A store runs all of it in one transaction: rows, entries, bodies and the head, or nothing.
The function may run more than once and must depend on nothing but its argument.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from enum import Enum
from typing import Final, NamedTuple, Protocol, TypeVar

from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.beside import (
    CYCLE,
    AllErased,
    Beside,
    BesideCounts,
    BesideRows,
    CycleSalt,
    Left,
    Origins,
    StoredItem,
    StoredKeyword,
)
from memoranda.ledger.entry import Kind
from memoranda.ledger.holdings import Holdings
from memoranda.ledger.tree import Block, Blocks
from memoranda.text import TOKENIZER, Query

R = TypeVar("R")


class Everything(Enum):
    """Stands for the objects of a whole scope, which are handed over in portions."""

    ACTIVE = "active"
    KEPT = "kept"
    """Whatever their status, but for what is erased already."""


ACTIVE: Final = Everything.ACTIVE
KEPT: Final = Everything.KEPT


class OfSubject(NamedTuple):
    """Stands for the objects that name a data subject, and are not erased, and for some others."""

    subject: str
    others: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name that leads from the subject to facts about it, as an input of theirs."""
        return f"subject/{self.subject}"


Reads = Sequence[str] | Everything | OfSubject


class Version(NamedTuple):
    """The row of one version of an object: what it is found by, all of it said by its document."""

    id: str
    number: int
    status: str
    created_at: int
    updated_at: int
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    subject: str | None


class Current(NamedTuple):
    """A version with its document: the fields of `Version`, and the body.

    `digests` are those of all versions that have content, by number, and `beside` what else there
    is of the object; both for a unit that erases.
    """

    id: str
    number: int
    status: str
    created_at: int
    updated_at: int
    valid_from: int | None
    valid_to: int | None
    expires_at: int | None
    subject: str | None
    body: bytes
    digests: Sequence[tuple[int, str]] = ()
    beside: Holdings = Holdings()
    entries: Sequence["NamedEntry"] = ()
    """Those under a name, where it stands for them."""
    damaged: Sequence[EntryDamaged] = ()
    """For a unit that erases: what is wrong with the bodies of its versions. If it is that of this
    one, `body` says what its rows say."""
    since: int = -1
    """The entry since which it has been active without a break, where it was selected."""


ENTRIES: Final = "entries"
"""The status of what stands for the entries under a name, in a unit that erases."""


def of_entries(name: str, entries: Sequence["NamedEntry"]) -> Current | None:
    """What stands for the entries under a name, in a unit that erases; None if there are none."""
    if not entries:
        return None
    return Current(name, 0, ENTRIES, 0, 0, None, None, None, None, b"", entries=entries)


RETRIED: Final = ("proposal/", CYCLE)
"""How the names of facts begin that are asked for with a retry key; the id follows."""


def recorded_as(one: Current) -> str:
    """The cycle whose recording goes with the facts under a name; nothing for all others."""
    is_cycle = one.status == ENTRIES and one.id.startswith(CYCLE)
    return one.id.removeprefix(CYCLE) if is_cycle else ""


class Past(NamedTuple):
    """A version that is or was, with the entry that led to it; its body is None once erased."""

    version: Version
    seq: int
    entry: bytes
    body: bytes | None


class Draft(NamedTuple):
    """An entry to be appended.

    When it is about an object, with the version that becomes the newest, the one that it
    replaces, and the tags of either: an object is found by its tags while it is active.
    """

    kind: Kind
    body: bytes
    salt: bytes
    version: Version | None = None
    tags: Sequence[str] = ()
    replaces: Current | None = None
    replaced_tags: Sequence[str] = ()
    inputs: Sequence[str] = ()
    """The ids of what it was made from: what is derived goes when they are erased."""
    erases: bool = False
    """Whether the content of every version before it goes, from rows, bodies and retries."""
    marks: Sequence[str] = ()
    """The names that it is found by, where it is a fact."""
    unmarks: Sequence["Mark"] = ()
    """The marks of entries before it that it takes away."""
    output: str = ""
    """The name that its inputs lead to, where it is a fact."""
    erased: Sequence[int] = ()
    """The entries whose bodies and marks go."""
    actor: str = ""
    """Who acted, where it is not whoever the unit is of."""
    nonce: bytes = b""
    """What its salt was made of, where it is bound to the key of its unit (`ledger.retry`)."""
    is_new: bool = False
    """Whether it is created, be it under the id of an object that was deleted."""


class Mark(NamedTuple):
    """A name, and the number of an entry that is found by it."""

    name: str
    seq: int


class NamedEntry(NamedTuple):
    """A fact that is to be erased: its number, its body's digest and type, what it took away."""

    seq: int
    digest: str
    type: str
    unmarks: Sequence[Mark] = ()


class Expected(NamedTuple):
    """What a unit rests on: which entry is the newest of a name; None if there is none."""

    name: str
    seq: int | None


class Place(NamedTuple):
    """Where an entry stands: its number, and its hash."""

    seq: int
    entry_hash: bytes


class Unit(NamedTuple):
    """A unit of work: what it reads, and what follows from it."""

    actor: str
    at: int
    decide: Callable[[Sequence[Current | None]], Sequence[Draft]]
    reads: Reads = ()
    key: RetryKey | None = None
    about: str = ""
    """The id that a retry with the same key is told."""
    is_erasing: bool = False
    """Whether what was made from the objects that it reads, however indirectly, is read too, and
    for each the digests of its versions and what is held beside them."""
    tokenizer: str | None = None
    """Whose the word index is once this has landed; None leaves that as it is."""
    expects: Sequence[Expected] = ()
    """MarkMoved, and nothing is written, where it is not so when the unit runs."""
    beside: Sequence[Beside] = ()
    """What lands with its entries, or not at all."""
    is_dry: bool = False
    """Whether it only looks: it decides on nothing, and also where nothing can be written."""


def recorded_in(unit: Unit, found: Sequence[Current]) -> list[str]:
    """The cycle of each, whose recording and items go with it and are counted with it.

    None of them for a unit that takes all there is beside entries: that is counted as a whole.
    """
    return [""] * len(found) if takes_all(unit) else [recorded_as(one) for one in found]


def takes_all(unit: Unit) -> bool:
    """Whether a unit takes all there is beside the entries of a journal."""
    return any(isinstance(one, AllErased) for one in unit.beside)


class Committed(NamedTuple):
    """What a unit came to: its places, in order. On a retry, those of the first time."""

    places: list[Place]
    about: str
    fresh: bool = True
    erased_beside: BesideCounts | None = None
    """What went of all that had landed beside entries, or would go, where the unit asked so."""


class Head(NamedTuple):
    """The end of a journal: how many entries it has, and the hash of the last."""

    origin: str
    size: int
    entry_hash: bytes


class StoredEntry(NamedTuple):
    """An entry as it is stored; salt and body are None once they are erased."""

    seq: int
    entry: bytes
    salt: bytes | None
    body: bytes | None


class StoredRow(NamedTuple):
    """A version's row as it is stored, and what it stands for, as far as that is there."""

    version: Version
    seq: int
    since: int
    """The entry since which the object has been active without a break; else its own."""
    is_newest: bool
    entry: bytes | None
    body: bytes | None


class StoredNodeHash(NamedTuple):
    """A node of the tree as it is stored."""

    level: int
    number: int
    hash: bytes


class StoredTag(NamedTuple):
    """A row of the index of tags."""

    tag: str
    created_at: int
    id: str
    since: int = 0
    """The entry since which the object has been active without a break."""


_LAYOUT: Final = 1
"""How postings and threads are laid out: one higher with every change of that."""

INDEX_FORM: Final = f"{TOKENIZER} layout={_LAYOUT}"
"""How a word index is built today: its tokenizer, with all that goes into that, and its layout.

It is stored with the index; one that was built otherwise is stale.
"""

REBUILDING: Final = "(being made anew)"
"""Stands for how a word index is built that is not whole yet."""


class StoredWord(NamedTuple):
    """A posting of the word index: a token, the entry of the version that has it, and how.

    `kind` is the count, and in its low byte the class of the length, as the index has them.
    """

    token: str
    seq: int
    kind: int


class StoredThread(NamedTuple):
    """An active object in its thread, by when it was said, and the tokens of its speaker.

    `created_at` is when it was said (`derive.said_at`): where nobody says so, its creation.
    """

    thread: str
    created_at: int
    id: str
    seq: int
    speaker: str


class StoredVector(NamedTuple):
    """A vector as it is stored, and the row of the version that it is said to be of.

    The row's status and whether it is the newest are None where there is no such version.
    """

    seq: int
    model: str
    id: str
    vector: bytes
    status: str | None
    is_newest: bool | None


class Index(NamedTuple):
    """The word index of a journal: how many of its entries it has, and whose tokens they are.

    It has the words of what was active when the journal had `indexed` entries: `documents` of
    them, with `length` tokens. The entries from there on are its *tail*: whoever searches reads
    their objects themselves. Without any entry it is of no tokenizer yet.
    """

    indexed: int
    tokenizer: str
    documents: int = 0
    length: int = 0
    broken: str | None = None
    """What is wrong with the segments that its postings lie in; None if nothing is."""

    @property
    def is_stale(self) -> bool:
        """Whether it was not built as it is today."""
        return self.tokenizer not in ("", INDEX_FORM)


class Ledger(Protocol):
    """The ledger of one scope.

    Every body that it hands out was compared with the digest in its entry (`stores.compared`):
    EntryDamaged for one that differs, or that is gone and was not erased. Only a snapshot has
    things as they are stored.
    """

    @property
    def beside(self) -> BesideRows:
        """What landed beside its entries."""
        ...

    @property
    def origins(self) -> Origins:
        """What leads from its cycles to what they left."""
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

    async def outputs(self, input: str) -> list[str]:
        """What was made from an object or a fact: ids and names, in their order."""
        ...

    async def notices(self) -> list[StoredEntry]:
        """The entries about the memory as a whole (`entry.NOTICES`), the first one first.

        A damaged one is marked (`codec.Unreadable`) and has no content: a database with one opens.
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

    def snapshot(self) -> AbstractAsyncContextManager["Snapshot"]:
        """All of the ledger as it is now, to be read at leisure while writing goes on."""
        ...


class Snapshot(Protocol):
    """A ledger at one moment, in chunks: whoever reads it all never has it all in memory.

    Bodies that can't be unpacked are marked (`codec.Unreadable`), not raised.
    """

    async def head(self) -> Head:
        """The end of the journal."""
        ...

    def entries(self) -> AsyncGenerator[Sequence[StoredEntry], None]:
        """Every entry with its body, by number."""
        ...

    def nodes(self) -> AsyncGenerator[Sequence[StoredNodeHash], None]:
        """Every node of the tree that is stored, by level and number."""
        ...

    def rows(self) -> AsyncGenerator[Sequence[StoredRow], None]:
        """Every version's row with the entry and the body that it stands for, by id and number."""
        ...

    def tags(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """Every row of the index of tags."""
        ...

    def marks(self) -> AsyncGenerator[Sequence[Mark], None]:
        """Every row of the index of marks."""
        ...

    def derivations(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """What was made from what (`rows.derivation`)."""
        ...

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        ...

    def words(self) -> AsyncGenerator[Sequence[StoredWord], None]:
        """Every posting of the word index, in any order; one that can't be read is of entry -1."""
        ...

    def beside(self) -> AsyncGenerator[Sequence[Beside], None]:
        """All that landed beside the entries, as what lands elsewhere.

        ItemDamaged or BodyUnreadable for what can't be read.
        """
        ...

    def threads(self) -> AsyncGenerator[Sequence[StoredThread], None]:
        """Every row of the index of threads, in any order."""
        ...

    def items(self) -> AsyncGenerator[Sequence[StoredItem], None]:
        """Every item of all sessions, and every origin of one that is not there, in any order."""
        ...

    def keywords(self) -> AsyncGenerator[Sequence[StoredKeyword], None]:
        """Every row of the index of items, in any order."""
        ...

    def left(self) -> AsyncGenerator[Sequence[Left], None]:
        """Every session, recording and retry, in any order."""
        ...

    def salts(self) -> AsyncGenerator[Sequence[CycleSalt], None]:
        """Every salt of a cycle, in any order."""
        ...

    def vectors(self) -> AsyncGenerator[Sequence[StoredVector], None]:
        """Every vector of all models, in any order."""
        ...


class Adoption(Protocol):
    """A journal of another database on its way into this one: all of it lands, or nothing."""

    async def entries(self, stored: Sequence[StoredEntry]) -> None:
        """Take over the next entries, as they are; InvalidProof if they don't follow."""
        ...

    async def rows(self, rows: Sequence[StoredRow]) -> None:
        """Take over the next rows, when all entries were."""
        ...

    async def beside(self, beside: Sequence[Beside]) -> None:
        """Take over what had landed beside the entries."""
        ...

    async def notes(self, notes: Sequence[tuple[int, str]], at: int) -> None:
        """Take over the checkpoints that were kept: sizes and notes."""
        ...
