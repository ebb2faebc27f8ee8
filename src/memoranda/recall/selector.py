"""Selectors: whoever picks memory for a question, by whatever means (seed 001, section 6).

A selector may be any algorithm over any store, and need not give the same twice. It says what it
picked, why and how sure it is; who asked, when and at which world is written down beside it
(`trace`), and whether the originals are what they should be is verified by others. What it can't
do it says: a note makes the outcome degraded, an exception makes it failed, and neither is ever
an empty list.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter, InvalidJson
from memoranda.kernel.json import MAX_INTEGER, storable
from memoranda.ledger.unit import Current
from memoranda.recall.fitting import EVERYTHING
from memoranda.recall.ranking import Mode
from memoranda.records.filter import MemoryFilter

MOST: Final = 10_000
"""Of what one selection picks: all of it stands in one entry of the journal."""

Outcome = Literal["found", "empty", "degraded", "failed"]
"""What a selection came to. Degraded: something was found or not, but not by all that was asked."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What memory must be like to be selected. Times are milliseconds; ends are included."""

    min_confidence: float = 0.0
    verified_only: bool = False
    valid_at: int | None = None
    as_of: int | None = None
    """The journal's size: what was known then."""
    filter: MemoryFilter = EVERYTHING
    """Which records may be found; it has no order and no page."""
    token_budget: int | None = None

    def __post_init__(self) -> None:
        sure = self.min_confidence
        if type(sure) not in (int, float) or not 0 <= sure <= 1:
            raise InvalidFilter("min_confidence", "a confidence is a number from 0 to 1")
        try:
            canonical_bytes(self.filter.model_dump(exclude_defaults=True))
        except InvalidJson as refused:
            raise InvalidFilter(refused.where, refused.why) from None
        if type(self.verified_only) is not bool:
            raise InvalidFilter("verified_only", "it is true or false")
        for name in ("as_of", "token_budget"):
            given = getattr(self, name)
            if given is not None and not _is_count(given):
                raise InvalidFilter(name, "it is a whole number from 0")


def check_query(query: str) -> None:
    """Refuse what can't be asked."""
    if not isinstance(query, str) or not query.strip():
        raise InvalidFilter("query", "the question must be a text that is not blank")
    if not storable(query):
        raise InvalidFilter("query", "it can't be stored")


def check_top_k(top_k: int) -> None:
    """Refuse a number of results that is none, or too many to tell of; there is no default."""
    if type(top_k) is not int or not 0 <= top_k <= MOST:
        raise InvalidFilter("top_k", f"it is a whole number from 0 to {MOST:,}")


def check_offset(offset: int, top_k: int) -> None:
    """Refuse to leave out what is no number of results, or so many that nobody would tell of."""
    if type(offset) is not int or not 0 <= offset <= MOST - top_k:
        raise InvalidFilter("offset", f"it is a whole number from 0; with top_k, at most {MOST:,}")


def _is_count(given: object) -> bool:
    return type(given) is int and 0 <= given <= MAX_INTEGER


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: by whom, for what, when, and what may be found."""

    query: str
    top_k: int
    """How many are picked, those that are left out at the front included."""
    at: int
    by: ActorRef
    constraints: Constraints = Constraints()
    accepts: Callable[[Current], bool] = lambda _: True
    """Whether a record may be found, as far as the constraints and its validity say."""
    offset: int = 0
    """So many of the best are left out: they were on a page before."""


class Chosen(NamedTuple):
    """One memory that a selector picked: a record by its id, or a world.

    The reason stands in the trace, which goes when the memory that was picked is erased: so it
    repeats words of the question and of that memory, and of no other.
    """

    reason: str
    confidence: float
    id: str | None = None
    world: str | None = None
    score: float | None = None
    found: Current | None = None
    """The record's version, where it was read already; else its current one is meant."""
    seq: int | None = None
    """The entry that holds it, where it is known."""


class Below(NamedTuple):
    """What was left out just below the line, for whoever asks why."""

    id: str
    score: float


class Selection(NamedTuple):
    """What a selector picked, the best first."""

    chosen: Sequence[Chosen]
    below: Sequence[Below] = ()
    notes: Sequence[str] = ()
    """What could not be done as asked; with any, the outcome is degraded."""


class PastWorld(NamedTuple):
    """A world as a selector sees it: what was done to reach it, and when."""

    world: str
    execution: str
    text: str
    """The action, its input, and why it was proposed."""
    created_at: int
    seq: int


class Nearest(NamedTuple):
    """What is nearest in meaning, the nearest first, and how much has no embedding yet."""

    chosen: Sequence[Chosen]
    missing: int


class Sources(Protocol):
    """What a selector may look at: the memory of one scope, at one moment or as it was."""

    async def ranked(self, mode: Mode, request: Request, limit: int, below: int = 0) -> Selection:
        """The records that fit the question, in the order of a mode."""
        ...

    async def newest(self, request: Request, limit: int) -> Selection:
        """The records that were made last."""
        ...

    async def nearest(self, request: Request, limit: int) -> Nearest:
        """The records nearest in meaning; CapabilityMissing without an embedder."""
        ...

    async def worlds(self, limit: int) -> Sequence[PastWorld]:
        """The worlds that the branch of the handle reached last, the newest first."""
        ...


class Selector(Protocol):
    """Picks memory for a question."""

    @property
    def name(self) -> str:
        """How it is called, such as ``full-text``."""
        ...

    @property
    def actor(self) -> ActorRef | None:
        """Who it is that selects, where that is not whoever asks."""
        ...

    async def select(self, request: Request, sources: Sources, /) -> Selection:
        """What it picks: at most `request.top_k`."""
        ...
