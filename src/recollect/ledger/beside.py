"""What lands beside the entries of a unit, in the same transaction: all of it, or nothing.

An agent's turn ends in one unit of work: the fact that says what it came to, and beside it the
items, the session and the recording that it leaves. None of these is an entry. They are rows of
their own, found by no search of the journal, and a store writes them where it writes the entries.
"""

from collections.abc import Sequence
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
    """The id of the session that stands there; None if there is none."""


class SessionAside(NamedTuple):
    """A session that was put aside, the newest of its name: so it comes from another database."""

    name: str
    at: int
    body: bytes


class SessionFilePending(NamedTuple):
    """A session is in a temporary file, which becomes its file once the unit has landed.

    Whoever finds such a file looks here for its token: if it is there, the unit has landed.
    """

    file: str
    """Stands for the session's file: what was pending for it before is done."""
    token: str


class Recorded(NamedTuple):
    """What a cycle was given, what its steps gave and what the model answered."""

    cycle: str
    body: bytes
    """A document, as canonical JSON."""


class AllErased(NamedTuple):
    """Every row that ever landed beside the entries of this journal goes."""

    is_dry_run: bool = False
    """Whether they are only counted."""


Beside = NewItem | SessionSaved | SessionAside | SessionFilePending | Recorded | AllErased


class BesideCounts(NamedTuple):
    """How many rows of each kind went with a unit, or would go."""

    items: int = 0
    sessions: int = 0
    recordings: int = 0


class KeptSession(NamedTuple):
    """A session that was put aside: when, and its document."""

    at: int
    body: bytes


class BesideRows(Protocol):
    """What landed beside the entries of one journal."""

    async def session(self, name: str) -> bytes | None:
        """The document of the session of a name."""
        ...

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        """Put the session of a name aside, in one transaction; the oldest beyond `keep` go."""
        ...

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        """Those that were put aside, the newest first."""
        ...

    async def has_landed(self, token: str) -> bool:
        """Whether the unit landed that a temporary file was written for."""
        ...

    async def recording(self, cycle: str) -> bytes | None:
        """What was recorded of a cycle."""
        ...
