"""What a document is found by: its tokens, each with the number of times it occurs.

============  ==============================  ====================================
a word of     is indexed by                   such as
============  ==============================  ====================================
other script  the stem of each of its parts   ``John.Smith's`` john, smith
              and, with a digit, the whole    ``v2.10`` v2, 10, v2.10
Hangul        its pairs of syllables          ``고객에게`` 고객, 객에, 에게
              and a noun of one syllable      ``물은`` 물은, 물
Han           its pairs, and each character   ``東京都`` 東京, 京都, 東, 京, 都
Kana, Thai…   its pairs, or its one letter    ``タワー`` タワ, ワー
============  ==============================  ====================================

The kinds need no prefix to stay apart: a token of Hangul, Han, Kana or Thai has one or two
letters and no other word has any; a whole has a joint inside (``v2.10``), where parts are cut. A
stem (``custom``) is told from no plain word: every word of English letters is a stem here.

A token has 1 to 64 code points, no white space and no U+0000. A document has as many tokens as
it has words, pairs and Han characters: at most two for each code point of its folded text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from typing import Final

from memoranda.kernel.json import JsonValue
from memoranda.text.breaks import MAX_WORD, pieces
from memoranda.text.folding import fold
from memoranda.text.korean import single_noun
from memoranda.text.stems import stem
from memoranda.text.values import texts

_REMEMBERED: Final = 65_536

# What UAX #29 lets stand inside a word (MidLetter, MidNum, MidNumLet, ExtendNumLet), and an
# apostrophe that is not one of the English endings: l'homme, o'reilly, but customer's and don't.
_JOINTS: Final = "._,;:\u00b7\u0387\u055d\u055f\u060c\u060d\u066c\u07f8\u2027\u203f\u2040\u2054"
_JOINT: Final = re.compile(rf"[{_JOINTS}]+|'(?!(?:s|t|d|m|re|ve|ll)$)")
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Terms:
    """A document's distinct tokens with their counts, and its length: the sum of the counts.

    The length is in tokens, not in words: it is what a count is weighed against (BM25), and a
    word of Korean has more tokens than one of English.
    """

    counts: Mapping[str, int]
    length: int


def terms(text: str) -> Terms:
    """The tokens of a text."""
    found: list[str] = []
    for chunk in text.split():
        if len(chunk) > MAX_WORD:
            found += chunk_tokens(chunk)
        elif chunk.isdecimal() and chunk.isascii():
            found.append(chunk)  # its own token; to remember it would take the room of words
        else:
            found += _remembered(chunk)
    return Terms(Counter(found), len(found))


def terms_of(value: JsonValue) -> Terms:
    """The tokens of a JSON value: of its strings, numbers and names (`values`)."""
    return terms("\n".join(texts(value)))


def chunk_tokens(chunk: str) -> list[str]:
    """The tokens of a chunk, each as often as it occurs; white space ends every word."""
    found: list[str] = []
    for script, word, _, _ in pieces(fold(chunk)):
        if script == "other":
            found += _word_tokens(word)
            continue
        found += pairs(word)
        if script == "han":
            found += word
        elif script == "hangul":
            found += single_noun(word, in_document=True) or ()
        elif len(word) == 1:
            found.append(word)
    return found


@lru_cache(maxsize=_REMEMBERED)
def _remembered(chunk: str) -> tuple[str, ...]:
    """The same as `chunk_tokens`, for what recurs: most of a text does, with its punctuation."""
    return tuple(chunk_tokens(chunk))


def pairs(run: str) -> Iterable[str]:
    """Each two neighbours of a run, in their order."""
    return map(add, run, run[1:])


def _word_tokens(word: str) -> Iterable[str]:
    parts = parts_of(word)
    if len(parts) == 1:
        return (stem(parts[0]),)
    whole = whole_of(word)
    return dict.fromkeys([*map(stem, parts), *([whole] if whole else [])])


def parts_of(word: str) -> list[str]:
    """What a word is made of: ``john.smith`` of john and smith."""
    return [part for part in _JOINT.split(word) if part]


def whole_of(word: str) -> str | None:
    """The whole of a word of several parts with a digit, without joints at its ends; else None.

    3.14 is not 3 and 14 somewhere; but john.smith is as good as John Smith.
    """
    return word.strip(f"{_JOINTS}'").removesuffix("'s") if _DIGIT.search(word) else None
