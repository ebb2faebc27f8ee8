"""Selectors: whoever picks memory for a question, by whatever means (seed 001, section 6).

A selector may be any algorithm over any store, and need not give the same twice. It says what it
picked, why and how sure it is; who asked, when and at which world is written down beside it
(`trace`), and whether the originals are what they should be is verified by others. What it can't
do it says: a note makes the outcome degraded, an exception makes it failed, and neither is ever
an empty list.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from inspect import isclass
from math import isfinite
from typing import Any, Final, Literal, NamedTuple, Protocol

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter, InvalidJson
from memoranda.kernel.json import MAX_INTEGER, check, storable
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.text.frame import Count, estimate

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
        if self.filter != EVERYTHING:
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
    if not isinstance(query, str) or not query.strip():
        raise InvalidFilter("query", "the question must be a text that is not blank")
    if not storable(query):
        raise InvalidFilter("query", "it can't be stored")


def check_top_k(top_k: int) -> None:
    """Refuse what is not a number of results, or too many of them; there is no default."""
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


class ModelUsed(NamedTuple):
    """The model that a selection was made with, and how many records had no vector of it yet."""

    model: str
    without: int


class Selection(NamedTuple):
    """What a selector picked, the best first."""

    chosen: Sequence[Chosen]
    below: Sequence[Below] = ()
    notes: Sequence[str] = ()
    """What could not be done as asked; with any, the outcome is degraded."""
    model: ModelUsed | None = None
    """What model it asked, if any."""


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

    async def ranked(
        self,
        mode: RankingMode,
        request: Request,
        limit: int,
        below: int = 0,
        *,
        with_model: bool = True,
    ) -> Selection:
        """The records that fit the question, in the order of a mode.

        `CONTEXT` asks the model as well, if there is one, unless `with_model` says otherwise.
        """
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


# ------------------------------------------------------------------------------------------------
# What a selector may say: anybody's code says it, so it is looked at before it is believed.
#
# What is no selector is refused, as whoever asks gave it. What is no selection makes the recall
# fail: that is the selector's doing, and is on record. Whether what it names is there is for
# the journal to say (`journeys.recall.resolution`).

LONGEST_NAME: Final = 512
LONGEST_TEXT: Final = 65_536
"""Of a reason or a note: the words of a long question stand in the reasons of the shipped ones."""


class NoSelection(ValueError):
    """What a selector answered is no selection; says why."""


def check_selector(selector: Selector) -> None:
    """Refuse with InvalidFilter what can't select, or can't be named in a trace."""
    name, actor = getattr(selector, "name", None), getattr(selector, "actor", None)
    if isclass(selector) or not callable(getattr(selector, "select", None)):
        raise InvalidFilter("selector", "it is the name of one, or an object that can select")
    if not _is_text(name, LONGEST_NAME):
        raise InvalidFilter("selector", "its name is a text")
    if actor is None:
        return
    if not isinstance(actor, ActorRef):
        raise InvalidFilter("selector", "its actor is an ActorRef, or None")
    try:
        check(actor.model_dump())
    except InvalidJson as refused:
        raise InvalidFilter("selector", f"its actor can't be written down: {refused.why}") from None


def well_formed(given: Any) -> Selection:
    """A selection by value, whatever kinds of sequences it was made of; else NoSelection (R-4)."""
    if not isinstance(given, Selection):
        raise NoSelection(f"it answered with no Selection, but a {type(given).__name__}")
    return Selection(
        [_chosen(value) for value in _few(given.chosen, "what it picked")],
        [_below(value) for value in _few(given.below, "what it left out")],
        [_note(value) for value in _few(given.notes, "its notes")],
        given.model if isinstance(given.model, ModelUsed) else None,
    )


def _few(given: Any, what: str) -> Sequence[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise NoSelection(f"{what} is a list, not a {type(given).__name__}")
    found = list(given)
    if len(found) > MOST:
        raise NoSelection(f"{what} is more than {MOST:,}")
    return found


def _chosen(chosen: Any) -> Chosen:
    if not isinstance(chosen, Chosen):
        raise NoSelection(f"a {type(chosen).__name__} is no Chosen")
    name = chosen.id if chosen.world is None else chosen.world
    if (chosen.id is None) == (chosen.world is None) or not _is_text(name, LONGEST_NAME):
        raise NoSelection("it picked something that it does not name: an id, or a world")
    if not _is_text(chosen.reason, LONGEST_TEXT):
        raise NoSelection(f"it gave no reason for {name}, or none that can be written down")
    if not (_is_number(chosen.confidence) and 0 <= chosen.confidence <= 1):
        raise NoSelection(f"its confidence in {name} is {chosen.confidence!r}")
    if chosen.score is not None and not _is_number(chosen.score):
        raise NoSelection(f"its score of {name} is {chosen.score!r}")
    return chosen


def _below(below: Any) -> Below:
    if not (
        isinstance(below, Below) and _is_text(below.id, LONGEST_NAME) and _is_number(below.score)
    ):
        raise NoSelection("what it left out has a name and a score")
    return below


def _note(value: Any) -> str:
    if not _is_text(value, LONGEST_TEXT):
        raise NoSelection("a note is a text")
    return str(value)


def _is_text(given: Any, longest: int) -> bool:
    return (
        isinstance(given, str) and bool(given.strip()) and len(given) <= longest and storable(given)
    )


def _is_number(given: Any) -> bool:
    return isinstance(given, float | int) and not isinstance(given, bool) and isfinite(given)


# ------------------------------------------------------------------------------------------------
# The order of results: always total and stable.


def place_of(scored: Scored) -> tuple[float, int]:
    """What results are ordered by: the highest score, then the newest entry.

    The number of an entry is the record's alone, so the order is total; and it stands in every
    posting, so that of fifty thousand equal ones no record need be read to tell the newest.
    """
    return -scored.score, -scored.seq


def in_order(found: Iterable[Scored], limit: int | None = None) -> list[Scored]:
    """The best first; at most so many."""
    if limit is None:
        return sorted(found, key=place_of)
    return nsmallest(limit, found, key=place_of)


# ------------------------------------------------------------------------------------------------
# How much of what was found fits into a budget of tokens, as `text.frame.estimate` estimates them.

__all__ = ["Count", "estimate", "fits"]


def fits(texts: Iterable[str], budget: int, count: Count = estimate) -> int:
    """How many of the first texts take no more than a budget together.

    It ends at the first that does not fit, even if a shorter one follows: what is better ranked is
    never left out for what is worse. A larger budget never fits fewer. Nothing beyond is counted.
    """
    if type(budget) is not int or budget < 0:
        raise InvalidFilter("$.tokenBudget", "a budget is a whole number of tokens, from 0")
    fitting, left = 0, budget
    for text in texts:
        tokens = count(text)
        if type(tokens) is not int or tokens < 0:
            raise InvalidFilter("$.tokenBudget", f"a text can't take {tokens!r} tokens")
        left -= tokens
        if left < 0:
            break
        fitting += 1
    return fitting
