"""Where words are: UAX #29, but for scripts that it cuts where a search should not.

UAX #29 makes each Han character a word, and `USB케이블을` a single one. So runs of Hangul, Han,
Hiragana, Katakana and of the scripts of South East Asia are cut out first, each a word of its
script; what is between them is cut by UAX #29 (apsw's, written in C). Emoji and flags are words.
"""

import re
from typing import Final, Literal, NamedTuple
from unicodedata import combining, normalize

import apsw.unicode

from memoranda.text.stems import is_ending

# ------------------------------------------------------------------------------------------------
# One form for texts that people read as the same: case, width and composition are folded away.
#
# NFKC, not NFC alone: full-width letters and digits, half-width `ｶﾞ`, the ligature of `ﬁle` and the
# unit `㎏` are typed by keyboards and pasted from PDFs, and nobody who searches for `file` or `kg`
# would think of them. NFC is contained in it, so that NFD input finds NFC text.
#
# Not folded: accents (`résumé` is not `resume`), Hiragana with Katakana, traditional with
# simplified Han. Each is a judgement about a language, not about a form.

MAX_MARKS: Final = 30
"""Combining marks in a row that are kept: the limit of Unicode's stream-safe text (UAX #15).

Normalizing takes the square of their number, so that a page of them would take minutes."""

# Default_Ignorable_Code_Point: unseen inside words (a soft hyphen, joiners, variation selectors,
# directions, fillers, tags). Without U+200B, which ends a word; and with the tones of emoji.
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U0001f3fb-\U0001f3ff\U000e0000-\U000e0fff]+"
)
# A Korean letter that stands alone is what was meant: NFKC would make the laugh and the tear of
# ㅋㅠ the syllable 큐. The half-width ones become the usual ones.
_LONE_LETTERS: Final = re.compile("([\u3131-\u318e\uffa1-\uffdc]+)")
_HALF_WIDTH: Final = {
    0xFFA1 + offset: letter
    for first, letters in (
        (0, "ㄱㄲㄳㄴㄵㄶㄷㄸㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅃㅄㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"),
        (0x21, "ㅏㅐㅑㅒㅓㅔ"),
        (0x29, "ㅕㅖㅗㅘㅙㅚ"),
        (0x31, "ㅛㅜㅝㅞㅟㅠ"),
        (0x39, "ㅡㅢㅣ"),
    )
    for offset, letter in enumerate(letters, first)
}
_MANY_MARKS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MAX_MARKS + 1},}}")


def fold(text: str) -> str:
    """The text as it is compared: NFKC, case folded, without what is unseen; folding is final.

    1. what is unseen goes, and marks beyond MAX_MARKS in a row go
    2. compatibility and canonical forms are one (NFKC), but for Korean letters that stand alone
    3. case is folded, which may decompose: so NFKC once more
    4. a typographic apostrophe is an apostrophe
    """
    if text.isascii():  # nothing of the rest can apply
        return text.lower()
    # 1.
    text = _MANY_MARKS.sub(_fewer_marks, _UNSEEN.sub("", text))
    # 2. to 4.
    if _LONE_LETTERS.search(text):
        between = _LONE_LETTERS.split(text)
        between[::2] = map(_folded, between[::2])
        return "".join(between).translate(_HALF_WIDTH)
    return _folded(text)


def _folded(text: str) -> str:
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return folded.replace("\u2019", "'").replace("\u02bc", "'")


def _fewer_marks(found: re.Match[str]) -> str:
    kept = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if combining(character) else 0
        if marks <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


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


class TextPiece(NamedTuple):
    """A word and its script; where its run, or what is between two runs, starts and ends."""

    script: Script
    text: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """The words of a text, folded, in their order."""
    return [word for chunk in text.split() for _, word, _, _ in pieces(fold(chunk))]


def pieces(folded: str) -> list[TextPiece]:
    """The words of a folded chunk (white space ends every word), in their order.

    A Korean ending behind a word of another script (``USB는``, ``고객(VIP)은``) is left out.
    """
    found: list[TextPiece] = []
    end = 0
    for run in () if folded.isascii() else _RUN.finditer(folded):
        start = run.start()
        if start > end:
            found += _between(folded, end, start)
        end = run.end()
        script: Script = run.lastgroup  # type: ignore[assignment]  # the groups are the scripts
        if script == "hangul" and _behind_a_word(folded, start) and is_ending(run[0]):
            continue
        found.append(TextPiece(script, run[0], start, end))
    if end < len(folded):
        found += _between(folded, end, len(folded))
    return found


def _between(folded: str, start: int, end: int) -> list[TextPiece]:
    """The words of UAX #29 in what is between two runs, each cut to MAX_WORD."""
    between = folded[start:end]
    if between.isascii() and between.isalnum():  # one word for UAX #29 too (WB5, WB8 to WB10)
        return [TextPiece("other", between[:MAX_WORD], start, end)]
    if PUNCTUATION.fullmatch(between):
        return []
    found = apsw.unicode.word_iter(between, emoji=True, regional_indicator=True)
    return [TextPiece("other", word[:MAX_WORD], start, end) for word in found]


def _behind_a_word(folded: str, start: int) -> bool:
    """Whether a word ends before this place, with at most one mark between: no space."""
    if not start or (before := folded[start - 1]).isspace():
        return False
    return before.isalnum() or (start > 1 and folded[start - 2].isalnum())


# ------------------------------------------------------------------------------------------------
# Where sentences are: UAX #29 within each line, and a few dots that end none.
#
# UAX #29 (apsw's) knows ``3.14`` and the full stops of other scripts; it ends a sentence behind
# ``Dr.`` and behind the number of a list, which this puts together again.

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
