"""A unit of work, and the values that it is made of.

A unit names what it reads and a pure function that decides, from what was read, which entries to
append. A store runs all of it in one transaction: rows, entries, bodies and the head, or nothing.
The function may run more than once and must depend on nothing but its argument.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from typing import Any, Final, NamedTuple

from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.given import RetryKey
from memoranda.ledger.attachments import CYCLE, AllErased, Attachment, AttachmentCounts, Holdings
from memoranda.ledger.entry import Kind
from memoranda.ledger.passages import WrittenBody


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


new_version: Final[Callable[[tuple[Any, ...]], Version]] = partial(tuple.__new__, Version)
"""A version of all its fields, as one tuple: that takes a third of the time, in every write."""


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
    holdings: Holdings = Holdings()
    damaged: Sequence[EntryDamaged] = ()
    """For a unit that erases: what is wrong with the bodies of its versions. If it is that of this
    one, `body` says what its rows say."""
    since: int = -1
    """The entry since which it has been active without a break, where it was selected."""


new_current: Final[Callable[[tuple[Any, ...]], Current]] = partial(tuple.__new__, Current)
"""A version with its document, of all its fields; see `new_version`."""


class NamedFacts(NamedTuple):
    """The facts under a name (its `id`) that have a body, as a unit that erases reads them."""

    id: str
    entries: Sequence["NamedEntry"]
    holdings: Holdings = Holdings()


Found = Current | NamedFacts
"""What a unit that erases finds; any other unit finds objects only."""


RETRIED: Final = ("proposal/", CYCLE)
"""How the names of facts begin that are asked for with a retry key; the id follows."""


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
    first: WrittenBody | None = None
    """How its body was written, if it still is that one: a store need not shorten it again."""


new_draft: Final[Callable[[tuple[Any, ...]], Draft]] = partial(tuple.__new__, Draft)
"""A draft of all its fields; see `new_version`."""


class Mark(NamedTuple):
    """A name, and the number of an entry that is found by it."""

    name: str
    seq: int


class KnownSubject(NamedTuple):
    """A person that objects are about, and how many are, in whatever status."""

    subject: str
    objects: int


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


NOTICE: Final = "notices"
"""The name by which a unit expects the newest of the entries about the memory as a whole: that the
policies are still those that it was checked by. No fact has it: a fact's is a word and an id."""


class EntryPlace(NamedTuple):
    """Where an entry stands: its number, and its hash."""

    seq: int
    entry_hash: bytes


new_place: Final[Callable[[tuple[int, bytes]], EntryPlace]] = partial(tuple.__new__, EntryPlace)
"""A place of its fields; see `new_version`."""


class Unit(NamedTuple):
    """A unit of work: what it reads, and what follows from it."""

    actor: str
    at: int
    decide: Callable[[Sequence[Any]], Sequence[Draft]]
    """It is given a `Current`, or None, for each id that the unit reads; and after these, if the
    unit erases, the `NamedFacts` under the same names."""
    reads: Reads = ()
    key: RetryKey | None = None
    about: str = ""
    """The id that a retry with the same key gets."""
    is_erasing: bool = False
    """Whether what was made from the objects that it reads, however indirectly, is read too, and
    for each the digests of its versions and what else is held of them."""
    tokenizer: str | None = None
    """Whose the word index is once this has landed; None leaves that as it is."""
    expects: Sequence[Expected] = ()
    """MarkMoved, and nothing is written, where it is not so when the unit runs."""
    attachments: Sequence[Attachment] = ()
    """What lands with its entries, or not at all."""
    reads_rows: bool = False
    """Whether it only asks how what it reads stands: then a `Current` may come without its body."""
    is_dry: bool = False
    """Whether it only looks: it decides on nothing, and also where nothing can be written."""
    is_short: bool = False
    """Whether it decides on an entry or two, of few bytes: a store may run it without a thread."""


def recorded_in(unit: Unit, found: Sequence[Found]) -> list[str]:
    """The cycle of each, whose recording and items go with it and are counted with it.

    None of them for a unit that takes all that is attached to entries: that is counted as a whole.
    """
    if takes_all(unit):
        return [""] * len(found)
    are_cycles = [isinstance(there, NamedFacts) and there.id.startswith(CYCLE) for there in found]
    return [
        there.id.removeprefix(CYCLE) if is_cycle else ""
        for there, is_cycle in zip(found, are_cycles, strict=True)
    ]


def takes_all(unit: Unit) -> bool:
    """Whether a unit takes all that is attached to the entries of a journal."""
    return any(isinstance(attachment, AllErased) for attachment in unit.attachments)


class Committed(NamedTuple):
    """What a unit came to: its places, in order. On a retry, those of the first time."""

    places: list[EntryPlace]
    about: str
    fresh: bool = True
    erased_attachments: AttachmentCounts | None = None
    """What went of all that had landed with entries, or would go, where the unit asked so."""


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
