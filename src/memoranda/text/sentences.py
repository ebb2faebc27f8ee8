"""Where sentences are: UAX #29 within each line, and a few dots that end none.

UAX #29 (apsw's) knows ``3.14`` and the full stops of other scripts; it ends a sentence behind
``Dr.`` and behind the number of a list, which this puts together again.
"""

import re
from typing import Final

import apsw.unicode

_ENDS_NONE: Final = re.compile(
    r"(?:^|[\s(\"'“])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|No|Nr|Fig|vs|cf|approx|Inc|Ltd|Co|[A-Z])\.$"
    r"|(?:^|[\s(])(?:e\.g|i\.e)\.$"
    r"|^[(\[]?\d{1,3}[.)\]]$"
)

_LONGEST: Final = 8  # what ends no sentence, with what stands before it


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without white space around them; none is empty.

    The end of a line ends a sentence too: so items of lists and headings are for themselves.
    """
    found: list[str] = []
    for line in text.splitlines():
        waiting: list[str] = []
        for piece in apsw.unicode.sentence_iter(line):
            waiting.append(piece)
            bare = piece.strip()
            if not _ENDS_NONE.search(bare, max(0, len(bare) - _LONGEST)):
                found.append("".join(waiting).strip())
                waiting = []
        found.append("".join(waiting).strip())
    return [sentence for sentence in found if sentence]
