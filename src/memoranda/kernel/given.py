"""What callers hand in, checked by its kind: what is of another kind is refused by its name."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.json import MAX_INTEGER


def check_kind(
    option: str, given: object, kind: type[Any] | tuple[type[Any], ...], it_is: str
) -> None:
    """Refuse with InvalidOption what is not of a kind; `it_is` says in words what is."""
    if not isinstance(given, kind):
        raise InvalidOption(option, f"it is {it_is}, not of the type {type(given).__name__}")


def check_has(option: str, given: object, *members: str) -> None:
    """Refuse what is given for a port and lacks something of it; None stands for nothing."""
    missing = [one for one in members if given is not None and not hasattr(given, one)]
    if missing:
        kind = type(given).__name__
        raise InvalidOption(option, f"a value of the type {kind} has no {', '.join(missing)}")


def check_texts(option: str, given: object) -> None:
    """Refuse what is no list of texts; a text itself is none."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidOption(
            option, f"it is a list of texts, not of the type {type(given).__name__}"
        )
    for one in given:
        if not isinstance(one, str):
            raise InvalidOption(option, f"one of them is of the type {type(one).__name__}, no text")


def check_lines(option: str, given: object) -> None:
    """Refuse what has no lines, or documents, to go through."""
    check_kind(option, given, Iterable, "a text, bytes, or a list of documents")


def check_callable(option: str, given: object) -> None:
    """Refuse what can't be called; None stands for nobody."""
    if given is not None and not callable(given):
        raise InvalidOption(option, f"a value of the type {type(given).__name__} can't be called")


def check_seconds(option: str, given: object) -> None:
    """Refuse what is no number of seconds from 0."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not (given == inf or 0 <= given <= MAX_INTEGER):  # type: ignore[operator]
        raise InvalidOption(option, "it is a number of seconds, from 0")
