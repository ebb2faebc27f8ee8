"""What differs between two values, for people: words of texts, members of JSON."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple

_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")
_MOST: Final = 4_000
"""Longer texts are not compared word by word."""

Mark = Literal["same", "added", "removed"]


class Piece(NamedTuple):
    """A part of a text, and whether the other one has it."""

    mark: Mark
    text: str


class Change(NamedTuple):
    """A member that differs: where it is, what it was and is; None is 'not there'."""

    path: str
    before: Any
    after: Any
    was_there: bool
    is_there: bool


def pieces(before: str, after: str) -> list[Piece]:
    """The text that is, with what went and what came, word by word."""
    if len(before) + len(after) > _MOST:
        return [Piece("removed", before), Piece("added", after)]
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    found: list[Piece] = []
    went = came = ""
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        was, now = "".join(old[i1:i2]), "".join(new[j1:j2])
        # A blank between two changes belongs to both: else every word would stand alone.
        if tag == "equal" and (now.strip() or not (went or came)):
            found += _pieces(went, came)
            found.append(Piece("same", now))
            went = came = ""
        else:
            went, came = went + was, came + now
    return found + _pieces(went, came)


def _pieces(went: str, came: str) -> list[Piece]:
    both: tuple[tuple[Mark, str], ...] = (("removed", went), ("added", came))
    return [Piece(mark, text) for mark, text in both if text]


def changes(before: Any, after: Any, path: str = "") -> Iterator[Change]:
    """The members that differ, in order of their paths; lists are compared whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            where = f"{path}.{name}" if path else name
            if name not in before:
                yield Change(where, None, after[name], was_there=False, is_there=True)
            elif name not in after:
                yield Change(where, before[name], None, was_there=True, is_there=False)
            else:
                yield from changes(before[name], after[name], where)
    elif before != after:
        yield Change(path or "$", before, after, was_there=True, is_there=True)
