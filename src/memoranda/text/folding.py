"""One form for texts that people read as the same: case, width and composition are folded away.

NFKC, not NFC alone: full-width letters and digits, half-width `ｶﾞ`, the ligature of `ﬁle` and the
unit `㎏` are typed by keyboards and pasted from PDFs, and nobody who searches for `file` or `kg`
would think of them. NFC is contained in it, so that NFD input finds NFC text.

Not folded: accents (`résumé` is not `resume`), Hiragana with Katakana, traditional with
simplified Han. Each is a judgement about a language, not about a form.
"""

import re
from typing import Final
from unicodedata import combining, normalize

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
