"""Where words are: UAX #29, but for scripts that it cuts where a search should not.

UAX #29 makes each Han character a word, and `USB케이블을` a single one. So runs of Hangul, Han,
Hiragana, Katakana and of the scripts of South East Asia are cut out first, each a word of its
script; what is between them is cut by UAX #29 (apsw's, written in C). Emoji and flags are words.
"""

import re
from typing import Final, Literal, NamedTuple

import apsw.unicode

from memoranda.text.folding import fold
from memoranda.text.korean import is_ending

MAX_WORD: Final = 64
"""Code points of a word that count: a digest in hexadecimal is whole, a base64 blob is cut."""

Script = Literal["hangul", "han", "hiragana", "katakana", "unspaced", "other"]

_RUN: Final = re.compile(
    "(?P<hangul>[\uac00-\ud7a3]+)"
    "|(?P<han>[\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd]+)"
    "|(?P<hiragana>[\u3041-\u3096\u309d-\u309f][\u3041-\u3096\u3099\u309a\u309d-\u309f\u30fc]*)"
    "|(?P<katakana>[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]"
    "[\u3099\u309a\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]*)"
    # Thai and Lao, Myanmar, Khmer: letters, marks and digits
    "|(?P<unspaced>[\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf\u1000-\u1049"
    "\u1050-\u109f\u1780-\u17d3\u17dc-\u17e9]+)"
)
# Common and no word: not worth a call of apsw.
PUNCTUATION: Final = re.compile("[!-/:-@[-`{-~\u00b7\u2013-\u201d\u3001\u3002\u3008-\u3011]+")


class Piece(NamedTuple):
    """A word and its script; where its run, or what is between two runs, starts and ends."""

    script: Script
    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """The words of a text, folded, in their order."""
    return [word for chunk in text.split() for _, word, _, _ in pieces(fold(chunk))]


def pieces(folded: str) -> list[Piece]:
    """The words of a folded chunk (white space ends every word), in their order.

    A Korean ending behind a word of another script (``USB는``, ``고객(VIP)은``) is left out.
    """
    found: list[Piece] = []
    end = 0
    for run in () if folded.isascii() else _RUN.finditer(folded):
        start = run.start()
        if start > end:
            found += _between(folded, end, start)
        end = run.end()
        script: Script = run.lastgroup  # type: ignore[assignment]  # the groups are the scripts
        if script == "hangul" and _behind_a_word(folded, start) and is_ending(run[0]):
            continue
        found.append(Piece(script, run[0], start, end))
    if end < len(folded):
        found += _between(folded, end, len(folded))
    return found


def _between(folded: str, start: int, end: int) -> list[Piece]:
    """The words of UAX #29 in what is between two runs, each cut to MAX_WORD."""
    between = folded[start:end]
    if between.isascii() and between.isalnum():  # one word for UAX #29 too (WB5, WB8 to WB10)
        return [Piece("other", between[:MAX_WORD], start, end)]
    if PUNCTUATION.fullmatch(between):
        return []
    found = apsw.unicode.word_iter(between, emoji=True, regional_indicator=True)
    return [Piece("other", word[:MAX_WORD], start, end) for word in found]


def _behind_a_word(folded: str, start: int) -> bool:
    """Whether a word ends before this place, with at most one mark between: no space."""
    if not start or (before := folded[start - 1]).isspace():
        return False
    return before.isalnum() or (start > 1 and folded[start - 2].isalnum())
