"""Who says a text: the name that it begins with."""

import re
from typing import Final

from memoranda.text.tokens import terms

_LABEL: Final = re.compile(r"\s*([^\s:]{1,64}(?: [^\s:]{1,64}){0,3}):\s")
_NOBODY: Final[frozenset[str]] = frozenset()


def speaker_of(text: str) -> frozenset[str]:
    """The tokens of the name that a text begins with: up to four words, a colon, white space."""
    found = _LABEL.match(text)
    return frozenset(terms(found[1]).counts) if found else _NOBODY
