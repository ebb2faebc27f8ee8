r"""Text that may be quoted to a model: all of it can be seen, and nothing in it is a frame.

What can't be seen (directions, zero widths, tags, fillers, control characters) is written out as
``{U+202E}``; single joiners and variation selectors, which emoji and Persian words have, are left
out. What reads like a line of the frame (`frame`) is marred: a bracket before its word, or before
letters that look like it, becomes a parenthesis.
"""

import re
from collections.abc import Sequence
from typing import Final
from unicodedata import category, normalize

from memoranda.kernel.unseen import FILLER, is_unseen

WORD: Final = "memory"
"""How every line of a frame begins, behind its bracket."""

_MOST_SHOWN: Final = 3


def quotable(text: str) -> str:
    """A text whose only line ends are newlines, in which all can be seen and nothing is a frame."""
    return _marred(_visible(_LINE_END.sub("\n", text)))


# ------------------------------------------------------------------------- unseen

_LINE_END: Final = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Letters and digits that are no fillers are seen, and so is most of ASCII; the rest is looked at.
_PERHAPS_UNSEEN: Final = re.compile(rf"[^\w\t\n -~]|{FILLER.pattern}")
_PASSING: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")


def _visible(text: str) -> str:
    """The text with what is unseen written out, a run of it as one."""
    if not _PERHAPS_UNSEEN.search(text):
        return text
    pieces: list[str] = []
    run: list[str] = []
    for character in f"{text}\n":  # the newline ends a run
        if is_unseen(character):
            run.append(character)
            continue
        if run:
            is_passing = len(run) == 1 and run[0] in _PASSING and bool(pieces)
            pieces.append("" if is_passing else _written_out(run))
            run = []
        pieces.append(character)
    return "".join(pieces[:-1])


def _written_out(run: Sequence[str]) -> str:
    shown = " ".join(f"U+{ord(character):04X}" for character in run[:_MOST_SHOWN])
    more = len(run) - _MOST_SHOWN
    return f"{{{shown}}}" if more <= 0 else f"{{{shown} and {more} more}}"


# -------------------------------------------------------------------- look-alikes

# Letters that look like those of the word in most fonts, and that NFKD does not make into them.
_LOOKS_LIKE: Final = {
    "m": "\u043c\u039c\u041c\u03fa\u1d0d\u2c99\u2c98",
    "e": "\u0435\u0415\u0395\u04bd\u0454\u1d07\u025b\u212e",
    "o": "0\u043e\u041e\u039f\u03bf\u03c3\u0585\u1d0f\u09e6\u0ce6\u2c9f\u2c9e\u00f8\u00d8",
    "r": "\u0433\u1d26\uab47\uab48\u0280\u027c",
    "y": "\u0443\u0423\u03b3\u03a5\u04af\u04ae\u10e7\u028f\u1eff\u0263\u2ca9",
}
_LETTERS: Final = {ord(like): letter for letter, likes in _LOOKS_LIKE.items() for like in likes}
_BETWEEN: Final = re.compile(r"[^\w\n]|_")
_LIKE_BRACKETS: Final = frozenset("<\u2039\u00ab\u02c2\uff1c\ufe64\u23a1\u23a3\u2308\u230a")


def _marred(text: str) -> str:
    """The text with a parenthesis for each bracket before the frame's word."""
    if WORD not in _skeleton(text):
        return text
    letters, places = _placed(text)
    characters = list(text)
    for found in re.finditer(WORD, letters):
        at = places[found.start()] - 1
        while at >= 0 and not characters[at].isalnum() and characters[at] != "\n":
            if category(characters[at]) == "Ps" or characters[at] in _LIKE_BRACKETS:
                characters[at] = "("
            at -= 1
    return "".join(characters)


def _skeleton(text: str) -> str:
    """The letters of a text as they look, without what stands between."""
    folded = normalize("NFKD", text).translate(_LETTERS).casefold()
    return _BETWEEN.sub("", folded).translate(_LETTERS)


def _placed(text: str) -> tuple[str, list[int]]:
    """The same, and where each letter stood."""
    looks = [_skeleton(character) for character in text]
    places = [place for place, letters in enumerate(looks) for _ in letters]
    return "".join(looks), places
