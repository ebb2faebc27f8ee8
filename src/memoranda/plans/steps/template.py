"""Templates of prompts: a text with two places, ``{text}`` and ``{context}``, each there once.

A brace that is meant as one is written twice. Nothing else can stand in braces, and what is put in
is never read again: no text of a user and no memory can name a place.
"""

import re
from typing import Final

PLACES: Final = ("text", "context")

_PART: Final = re.compile(r"\{\{|\}\}|\{(?P<place>[^{}]*)\}|[{}]")
_BRACES: Final = {"{{": "{", "}}": "}"}


def check_template(template: str) -> str:
    """The template, if it is one; ValueError says what is wrong with it."""
    places = []
    for part in _PART.finditer(template):
        if part[0] in _BRACES:
            continue
        if part["place"] is None:
            raise ValueError(f"a {part[0]} stands alone: write it twice to mean one")
        if part["place"] not in PLACES:
            raise ValueError(f"there is no place {part[0]}: only {{text}} and {{context}}")
        places.append(part["place"])
    for place in PLACES:
        if places.count(place) != 1:
            raise ValueError(f"{{{place}}} must stand in it once")
    return template


def filled(template: str, values: dict[str, str]) -> str:
    """A template that was checked, with its two places filled, in one pass."""
    return _PART.sub(lambda part: _BRACES.get(part[0]) or values[part["place"]], template)
