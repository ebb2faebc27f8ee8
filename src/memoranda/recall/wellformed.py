"""What a selector may say: anybody's code says it, so it is looked at before it is believed.

What is no selector is refused, as whoever asks gave it. What is no selection makes the recall fail:
that is the selector's doing, and is on record (R-2). Whether what it names is there is for the
journal to say (`journeys.recall.resolving`).
"""

from collections.abc import Iterable, Sequence
from inspect import isclass
from math import isfinite
from typing import Any, Final

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter, InvalidJson
from memoranda.kernel.json import check, storable
from memoranda.recall.selector import MOST, Below, Chosen, Selection, Selector

LONGEST_NAME: Final = 512
LONGEST_TEXT: Final = 65_536
"""Of a reason or a note: the words of a long question stand in the reasons of the shipped ones."""


class NoSelection(ValueError):
    """What a selector answered is no selection; says why."""


def check_selector(selector: Selector) -> None:
    """Refuse with InvalidFilter what can't select, or can't be told of."""
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
        raise InvalidFilter("selector", f"its actor can't be told of: {refused.why}") from None


def well_formed(given: Any) -> Selection:
    """A selection by value, whatever kinds of sequences it was made of; else NoSelection (R-4)."""
    if not isinstance(given, Selection):
        raise NoSelection(f"it answered with no Selection, but a {type(given).__name__}")
    return Selection(
        [_chosen(one) for one in _few(given.chosen, "what it picked")],
        [_below(one) for one in _few(given.below, "what it left out")],
        [_note(one) for one in _few(given.notes, "its notes")],
    )


def _few(given: Any, what: str) -> Sequence[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise NoSelection(f"{what} is a list, not a {type(given).__name__}")
    found = list(given)
    if len(found) > MOST:
        raise NoSelection(f"{what} is more than {MOST:,}")
    return found


def _chosen(one: Any) -> Chosen:
    if not isinstance(one, Chosen):
        raise NoSelection(f"a {type(one).__name__} is no Chosen")
    name = one.id if one.world is None else one.world
    if (one.id is None) == (one.world is None) or not _is_text(name, LONGEST_NAME):
        raise NoSelection("it picked something that it does not name: an id, or a world")
    if not _is_text(one.reason, LONGEST_TEXT):
        raise NoSelection(f"it gave no reason for {name}, or none that can be told")
    if not (_is_number(one.confidence) and 0 <= one.confidence <= 1):
        raise NoSelection(f"its confidence in {name} is {one.confidence!r}")
    if one.score is not None and not _is_number(one.score):
        raise NoSelection(f"its score of {name} is {one.score!r}")
    return one


def _below(one: Any) -> Below:
    if not (isinstance(one, Below) and _is_text(one.id, LONGEST_NAME) and _is_number(one.score)):
        raise NoSelection("what it left out has a name and a score")
    return one


def _note(one: Any) -> str:
    if not _is_text(one, LONGEST_TEXT):
        raise NoSelection("a note is a text")
    return str(one)


def _is_text(given: Any, longest: int) -> bool:
    return (
        isinstance(given, str) and bool(given.strip()) and len(given) <= longest and storable(given)
    )


def _is_number(given: Any) -> bool:
    return isinstance(given, float | int) and not isinstance(given, bool) and isfinite(given)
