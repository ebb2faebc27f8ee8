"""Which characters nobody sees, and which texts are blank because they have no others."""

import re
from typing import Final
from unicodedata import category

_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})

# What is unseen in other categories: fillers, variation selectors, tags, blanks, no characters.
FILLER: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f"
    "\uffa0\ufff0-\ufff8\ufffe\uffff\U000e0000-\U000e0fff]"
)


def is_unseen(character: str) -> bool:
    """Whether nobody sees a character, or it changes where others are seen."""
    if character in "\t\n":
        return False
    return category(character) in _UNSEEN or FILLER.match(character) is not None


def is_blank(text: str) -> bool:
    """Whether there is nothing in a text that can be read: no reason, no statement, no name."""
    return all(one.isspace() or is_unseen(one) for one in text)
