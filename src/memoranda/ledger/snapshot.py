"""A ledger at one moment: what of it can be read, and as which values."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from memoranda.ledger.attachments import Attachment, CycleSalt, Left, StoredItem, StoredKeyword
from memoranda.ledger.unit import Head, Mark, StoredEntry, Version
from memoranda.text import TOKENIZER

R = TypeVar("R")


class StoredRow(NamedTuple):
    """A version's row as it is stored, and its body, if that is there."""

    version: Version
    seq: int
    since: int
    """The entry since which the object has been active without a break; else its own."""
    is_newest: bool
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


# ----------------------------------------------------------------- what recall keeps

_LAYOUT: Final = 2
"""How postings, documents and threads are laid out: one higher with every change of that."""


INDEX_FORM: Final = f"{TOKENIZER} layout={_LAYOUT}"
"""How a word index is built today: its tokenizer, with all that goes into that, and its layout.

It is stored with the index; one that was built otherwise is stale.
"""


REBUILDING: Final = "(being made anew)"
"""Stands for how a word index is built that is not whole yet."""


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


class Numbers(Protocol):
    """Whole numbers in a row: an array, or a sequence."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, place: int, /) -> Any: ...


class StoredWords(NamedTuple):
    """Postings of some tokens in the word index, those of one token after those of another.

    Each names the entry of a version that has the token. A kind is the count, and in its low byte
    the class of the length, as the index has them.
    """

    tokens: Sequence[str]
    sizes: Numbers
    """How many postings there are of each token; 0 where they can't be read."""
    seqs: Numbers
    kinds: Numbers


class StoredDocument(NamedTuple):
    """What recall knows of an object that can be found, besides its words.

    `said_at` is when it was said (`derive.said_at`): where nobody says so, its creation. Thread
    and speaker are empty where it has none.
    """

    seq: int
    said_at: int
    thread: str
    speaker: str
    """The tokens of whoever says it, joined by spaces."""
    length: int
    """The class of its length (`text.tokens.class_of`)."""
    is_question: bool


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


# ------------------------------------------------------------------------ the port


class Table(NamedTuple, Generic[R]):
    """The name of what a snapshot has rows of, each an `R`."""

    name: str


# In the order of their keys:
ENTRIES: Final[Table[StoredEntry]] = Table("entries")
NODES: Final[Table[StoredNodeHash]] = Table("nodes")
ROWS: Final[Table[StoredRow]] = Table("rows")
"""Every version's row with its body, by id and number."""

# In any order:
TAGS: Final[Table[StoredTag]] = Table("tags")
MARKS: Final[Table[Mark]] = Table("marks")
DERIVATIONS: Final[Table[StoredTag]] = Table("derivations")
"""What was made from what (`rows.derivation`)."""
WORDS: Final[Table[StoredWords]] = Table("words")
DOCUMENTS: Final[Table[StoredDocument]] = Table("documents")
THREADS: Final[Table[StoredTag]] = Table("threads")
"""Which entries are in which thread (`words.thread_tag`)."""
VECTORS: Final[Table[StoredVector]] = Table("vectors")
ITEMS: Final[Table[StoredItem]] = Table("items")
"""Every item of all sessions, and every origin of an item that is not there."""
KEYWORDS: Final[Table[StoredKeyword]] = Table("keywords")
LEFT: Final[Table[Left]] = Table("left")
"""Every session, recording and retry."""
SALTS: Final[Table[CycleSalt]] = Table("salts")
ATTACHMENTS: Final[Table[Attachment]] = Table("attachments")
"""All that landed with the entries, as what lands elsewhere. ItemDamaged or BodyUnreadable for
what can't be read."""


class LedgerSnapshot(Protocol):
    """A ledger at one moment, in chunks: whoever reads it all never has it all in memory.

    Bodies that can't be unpacked are marked (`codec.Unreadable`), not raised.
    """

    async def head(self) -> Head:
        """The end of the journal."""
        ...

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        ...

    def rows(self, table: Table[R]) -> AsyncGenerator[Sequence[R], None]:
        """Every row of a table."""
        ...
