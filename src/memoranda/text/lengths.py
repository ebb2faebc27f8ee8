"""How long a document is, in one byte: part of the definition of every ranking.

An index keeps a document's length beside each of its words. In one byte it is exact up to 63
tokens; from there on each doubling has sixteen steps, and a length counts as the step that it has
reached. BM25 is computed from that, in memory as in a store, so that both agree to the last bit;
against a length, a sixteenth changes a weight by less than one part in forty.

A count beside it is a byte too: a token that occurs more often weighs nothing more.
"""

from typing import Final

EXACT: Final = 64
"""Lengths below this are their own class."""

STEPS: Final = 16
"""Classes of each doubling above it."""

CLASSES: Final = 256
MOST: Final = 255
"""Occurrences of a token that count."""

_STEP_BITS: Final = STEPS.bit_length() - 1
_EXACT_BITS: Final = EXACT.bit_length() - 1


def class_of(length: int) -> int:
    """The class of a length in tokens."""
    if length < EXACT:
        return max(length, 0)
    doubling = length.bit_length() - 1
    step = (length >> (doubling - _STEP_BITS)) - STEPS
    return min(EXACT + (doubling - _EXACT_BITS) * STEPS + step, CLASSES - 1)


def _shortest(number: int) -> int:
    if number < EXACT:
        return number
    doubling, step = divmod(number - EXACT, STEPS)
    return (STEPS + step) << (doubling + _EXACT_BITS - _STEP_BITS)


LENGTHS: Final = tuple(map(_shortest, range(CLASSES)))
"""What each class counts as: the shortest length in it."""


def kind_of(count: int, length: int) -> int:
    """A count and a length as a posting has them: two bytes, the class of the length the lower."""
    return min(count, MOST) << 8 | class_of(length)
