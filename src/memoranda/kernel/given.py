"""What callers hand in, checked by its kind: what is of another kind is refused by its name."""

import re
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Final, NamedTuple
from unicodedata import category

from memoranda.kernel.errors import IdempotencyConflict, InvalidFilter, InvalidOption
from memoranda.kernel.json import MAX_INTEGER


def check_kind(
    option: str, given: object, kind: type[Any] | tuple[type[Any], ...], it_is: str
) -> None:
    """Refuse with InvalidOption what is not of a kind; `it_is` says in words what is."""
    if not isinstance(given, kind):
        raise InvalidOption(option, f"it is {it_is}, not of the type {type(given).__name__}")


def check_has(option: str, given: object, *members: str) -> None:
    """Refuse a value for a port that lacks a member of it; None is accepted."""
    missing = [member for member in members if given is not None and not hasattr(given, member)]
    if missing:
        kind = type(given).__name__
        raise InvalidOption(option, f"a value of the type {kind} has no {', '.join(missing)}")


def check_texts(option: str, given: object) -> None:
    """Refuse what is not a list of texts, such as a single text."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidOption(
            option, f"it is a list of texts, not of the type {type(given).__name__}"
        )
    for value in given:
        if not isinstance(value, str):
            raise InvalidOption(
                option, f"one of them is of the type {type(value).__name__}, no text"
            )


def check_lines(option: str, given: object) -> None:
    """Refuse what has no lines, or documents, to go through."""
    check_kind(option, given, Iterable, "a text, bytes, or a list of documents")


def check_callable(option: str, given: object) -> None:
    """Refuse what can't be called; None is accepted."""
    if given is not None and not callable(given):
        raise InvalidOption(option, f"a value of the type {type(given).__name__} can't be called")


def check_seconds(option: str, given: object) -> None:
    """Refuse what is not a number of seconds from 0."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not (given == inf or 0 <= given <= MAX_INTEGER):  # type: ignore[operator]
        raise InvalidOption(option, "it is a number of seconds, from 0")


# ------------------------------------------------------------------------------------------------
# Which characters nobody sees, and which texts are blank because they have no others.

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

# What is unseen in other categories: fillers, variation selectors, tags, blanks, no characters.
FILLER: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f"
    "\uffa0\ufff0-\ufff8\ufffe\uffff\U000e0000-\U000e0fff]"
)


def check_number(name: str, given: object) -> None:
    """Refuse what can't be the number of an entry, nor count any."""
    if type(given) is not int or not 0 <= given <= MAX_INTEGER:
        raise InvalidFilter(name, "give the number of an entry, from 0")


def is_unseen(character: str) -> bool:
    """Whether nobody sees a character, or it changes where others are seen."""
    if character in "\t\n":
        return False
    return category(character) in _UNSEEN or FILLER.match(character) is not None


def is_blank(text: str) -> bool:
    """Whether there is nothing in a text that can be read: no reason, no statement, no name."""
    return all(character.isspace() or is_unseen(character) for character in text)


# ------------------------------------------------------------------------------------------------
# A retry after an unknown outcome: the same key and the same request write nothing twice.


class RetryKey(NamedTuple):
    """An idempotency key and the digest of the request that it stands for."""

    key: str
    fingerprint: bytes

    def check_same(self, fingerprint: bytes) -> None:
        """Refuse a key that stood for another request before."""
        if fingerprint != self.fingerprint:
            raise IdempotencyConflict(self.key)
