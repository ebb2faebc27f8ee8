"""A confidence in a word."""

from typing import Final, Literal

Sureness = Literal["likely", "maybe", "weak"]

LIKELY: Final = 0.5
MAYBE: Final = 0.2


def sureness(confidence: float) -> Sureness:
    """`likely` from one half, `maybe` from one fifth, `weak` below."""
    if confidence >= LIKELY:
        return "likely"
    return "maybe" if confidence >= MAYBE else "weak"
