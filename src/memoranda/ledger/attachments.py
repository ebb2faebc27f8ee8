"""Attachments: what lands with the entries of a unit, in the same transaction.

An agent's turn ends in one unit of work: the fact that says what it came to, and with it the
items, the session and the recording that it leaves. None of these is an entry. They are rows of
their own, found by no search of the journal, and a store writes them where it writes the entries.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

CYCLE: Final = "cycle/"
"""How the names of cycles begin; the id follows. A recording goes with the facts of its cycle."""

SESSION: Final = "session/"
"""How a session is called where it is not the one that was expected; its name follows."""


class NewItem(NamedTuple):
    """An item of a session: the five members of a MemoryItem (ING-WHITELIST).

    One that is stored already is left as it is; another one under its id is refused.
    """

    id: str
    session_ref: str
    timestamp: str
    summary: str
    keywords: Sequence[str]


class SessionSaved(NamedTuple):
    """The session of a name, as it is from now on.

    MarkMoved, and nothing is written, where neither it nor what it replaces stands there: of two
    that began at once, the second one would take the first one's place, and leave its items behind.
    It may stand there itself, where the caller did not hear that it had landed.
    """

    name: str
    session_id: str
    body: bytes
    """Its document, as canonical JSON."""
    replaces: str | None
    """The id of the session that is there; None if there is no session."""
    cycle: str = ""
    """The cycle that saves it, and whose fact has its digest."""


class SessionAside(NamedTuple):
    """A session that was put aside, the newest of its name: so it comes from another database."""

    name: str
    at: int
    body: bytes


class CycleValues(NamedTuple):
    """What a cycle was given, what its steps gave and what the model answered."""

    cycle: str
    body: bytes
    """A document, as canonical JSON."""


class CycleSalt(NamedTuple):
    """What the digests in the fact of a cycle are salted with.

    It stands in no journal and no export, so that nobody can guess from a digest what was said. A
    cycle has one; RecordExists, and nothing is written, where it has another one already.
    """

    cycle: str
    salt: bytes


class ItemOrigin(NamedTuple):
    """Which cycle stored an item: it goes when that cycle is erased.

    RecordExists, and nothing is written, where another cycle stored it.
    """

    session_ref: str
    id: str
    cycle: str
    terms: int = 0
    """How many keywords the index of items has for it."""


class AttachmentCounts(NamedTuple):
    """How many rows of each kind went with a unit, or would go."""

    items: int = 0
    keywords: int = 0
    """What items are found by, one for each item that has it."""
    sessions: int = 0
    recordings: int = 0
    retries: int = 0
    """What calls with an idempotency key came to."""


def _nobody(gone: AttachmentCounts) -> None:
    """Nobody wants to know what went before the unit has landed."""


class AllErased(NamedTuple):
    """Every row that ever landed with the entries of this journal goes."""

    is_dry_run: bool = False
    """Whether they are only counted."""
    tell: Callable[[AttachmentCounts], None] = _nobody
    """Called with how many they are each time that the unit runs, before it decides anything."""


class HeldLease(NamedTuple):
    """A lease that must still be its holder's: LeaseLost, and nothing is written, where it is not.

    Nobody else takes it until the unit has landed.
    """

    name: str
    holder: str


Attachment = (
    NewItem
    | SessionSaved
    | SessionAside
    | CycleValues
    | CycleSalt
    | ItemOrigin
    | AllErased
    | HeldLease
)


class KeptSession(NamedTuple):
    """A session that was put aside: when, and its document."""

    at: int
    body: bytes


class NamedSession(NamedTuple):
    """The session of a name as it stands: its document, and the cycle that saved it."""

    name: str
    body: bytes
    cycle: str


class OriginOf(NamedTuple):
    """A cycle that stored items: the newest entry of its name, and how many of those asked for."""

    cycle: str
    seq: int | None
    items: int


class StoredItem(NamedTuple):
    """An item as it is stored, with the cycle that stored it and that cycle's salt.

    Each is None where it is not there; the body is, where there is an origin and no item.
    """

    session: str
    id: str
    body: bytes | None
    cycle: str | None
    salt: bytes | None


class StoredKeyword(NamedTuple):
    """A keyword of a session in the index of items, and an item that has it; None if none has."""

    session: str
    gram: str
    folded: str
    marked: str
    at: int | None
    id: str | None


class StoredSession(NamedTuple):
    """A session as it is stored, with the cycle that saved it and that cycle's salt, if any."""

    name: str
    session_id: str
    body: bytes
    cycle: str
    salt: bytes | None


class StoredRecording(NamedTuple):
    """A recording as it is stored, with the salt of its cycle, if there is one."""

    cycle: str
    body: bytes
    salt: bytes | None


class StoredRetry(NamedTuple):
    """What a retry is answered with: what it is about, and the entries that the first one wrote."""

    about: str
    seq: int
    entries: int
    at: int
    key_digest: bytes
    fingerprint: bytes
    nonce: bytes
    """With the two before it, what the salt of the first entry was made of (`ledger.retry`)."""


Left = StoredSession | StoredRecording | StoredRetry
"""What is attached to a journal, and is not content of it."""


class AttachmentRows(Protocol):
    """What landed with the entries of one journal."""

    async def session(self, name: str) -> bytes | None:
        """The document of the session of a name."""
        ...

    async def sessions(self, after: str, limit: int) -> list[NamedSession]:
        """The sessions whose names come after this one, by name, at most so many."""
        ...

    async def saved_by(self, name: str) -> str | None:
        """The cycle that saved the session of a name; None if no session has this name."""
        ...

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        """Put the session of a name aside, in one transaction; the oldest beyond `keep` go."""
        ...

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        """Those that were put aside, the newest first."""
        ...

    async def recording(self, cycle: str) -> bytes | None:
        """What was recorded of a cycle."""
        ...


class Origins(Protocol):
    """What leads from the cycles of one journal to what they left."""

    async def salt(self, cycle: str) -> bytes | None:
        """What the digests in the fact of a cycle are salted with."""
        ...

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        """The cycles that stored these items of a session, each once, in their order."""
        ...

    async def items(self, cycle: str) -> list[str]:
        """The ids of the items that a cycle stored and that are still there, in order."""
        ...

    async def is_index_whole(self, session_ref: str) -> bool:
        """Whether the index of a session has as many keywords as its cycles stored."""
        ...

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        """These items of a session as they are stored; those that are not there are left out."""
        ...


# ------------------------------------------------------------------------------------------------
# What a database holds of an object besides its versions: all of it goes when they are erased.
#
# A kind is one field here. A store counts it where it reads an object for a unit that erases; the
# counts of an erasure, its certificate and what the command line shows follow from the fields.


class Holdings(NamedTuple):
    """How many rows there are of each kind, for one object."""

    postings: int = 0
    """Words of it in the index, each with the entry that it is of."""
    retries: int = 0
    """Idempotency keys of the calls that wrote it, among others or alone; each is counted once."""
    derivations: int = 0
    """From what it was made, one for each input."""
    recordings: int = 0
    """What was recorded of a cycle."""
    items: int = 0
    """What a cycle stored in its session."""
    keywords: int = 0
    """What these are found by, one for each item that has it."""
    vectors: int = 0
    """Rows of embeddings of its newest version, one for each model."""


def counted_once(held: Iterable[Collection[bytes]]) -> list[int]:
    """How many each holds that none before it holds: what several share goes once."""
    seen: set[bytes] = set()
    counts = []
    for keys in held:
        new = seen.union(keys)
        counts.append(len(new) - len(seen))
        seen = new
    return counts
