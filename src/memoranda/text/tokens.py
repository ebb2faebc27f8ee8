"""What a document is found by: its tokens, each with the number of times it occurs.

============  ==============================  ====================================
a word of     is indexed by                   such as
============  ==============================  ====================================
other script  the stem of each of its parts   ``John.Smith's`` john, smith
              and, with a digit, the whole    ``v2.10`` v2, 10, v2.10
              and, with hyphens, all as one   ``check-up`` check, up, checkup
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
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain
from operator import add
from typing import Final

import apsw.unicode

from memoranda.kernel.json import JsonValue
from memoranda.text.breaks import MAX_WORD, fold, pieces
from memoranda.text.stems import single_noun, stem

# ------------------------------------------------------------------------------------------------
# What of a JSON value can be searched, and how it is shown.
#
# Searched are its strings and its numbers, and the names of its members: who asks for a discount
# means what is called `max_discount`. A name counts once, however many members have it, and is read
# as its words: `maxDiscount` and `max-discount` as the same two. Names that all records of a kind
# have weigh next to nothing in a ranking. true, false and null are no words: their names are.
#
# Shown is all of it: each name with its value.

_WRITTEN_AS_INTEGER_BELOW: Final = 1e21
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|-")


def texts(value: JsonValue) -> list[str]:
    """The searchable texts of a JSON value, in the order of the document; each name once.

    A number is written the same whether it was just sent (1.0) or read from a store (1). No
    recursion: the depth of a value is no concern here (`kernel.json` limits it to 64).
    """
    found: list[str] = []
    named: set[str] = set()
    waiting: list[Iterator[object]] = [iter((value,))]
    while waiting:
        for member in waiting[-1]:
            if isinstance(member, str):
                found.append(member)
            elif isinstance(member, dict):
                waiting.append(iter(_named_members(member, named)))
                break
            elif isinstance(member, list | tuple):
                waiting.append(iter(member))
                break
            elif isinstance(member, int | float) and not isinstance(member, bool):
                found.append(written(member))
        else:
            waiting.pop()
    return found


def _named_members(members: dict[str, object], named: set[str]) -> list[object]:
    found: list[object] = []
    for name, member in members.items():
        if name not in named:
            named.add(name)
            found.append(_as_words(name))
        found.append(member)
    return found


@lru_cache(maxsize=4_096)
def _as_words(name: str) -> str:
    return _HUMP.sub(" ", name)


def shown(value: JsonValue) -> str:
    """A JSON value for somebody to read: a text as it is, else a line for each value in it.

    Each line has the path to the value before it: ``max_discount: 20``, ``lines[0].price: 3``.
    """
    if isinstance(value, str):
        return value
    lines = []
    for steps, member in _leaves(value):
        said = member if isinstance(member, str) else written(member)
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps())
        lines.append(f"{path.removeprefix('.')}: {said}" if path else said)
    return "\n".join(lines)


Step = str | int
Where = tuple["Where", Step] | tuple[()]
"""The steps to a value, the last one first: each has those before it, and none is copied."""


def _leaves(value: JsonValue) -> Iterator[tuple[Callable[[], list[Step]], object]]:
    """The values that hold no others, each with the steps that lead to it."""
    start: tuple[Where, object] = ((), value)
    waiting = [iter([start])]
    while waiting:
        for where, member in waiting[-1]:
            if isinstance(member, dict) and member:
                waiting.append(iter([((where, name), inner) for name, inner in member.items()]))
                break
            if isinstance(member, list | tuple) and member:
                waiting.append(iter([((where, at), inner) for at, inner in enumerate(member)]))
                break
            yield partial(_steps, where), member
        else:
            waiting.pop()


def _steps(where: Where) -> list[Step]:
    steps = []
    while where:
        where, step = where
        steps.append(step)
    return steps[::-1]


def written(value: object) -> str:
    """A value without a name or a text, as JSON has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case float() if not value.is_integer() or abs(value) >= _WRITTEN_AS_INTEGER_BELOW:
            return repr(value)
        case int() | float():
            return str(int(value))
        case dict():
            return "{}"
        case _:
            return "[]"


_REMEMBERED: Final = 65_536
_LONG_NUMBER: Final = 4

# What UAX #29 lets stand inside a word (MidLetter, MidNum, MidNumLet, ExtendNumLet), and an
# apostrophe that is not one of the English endings: l'homme, o'reilly, but customer's and don't.
_JOINTS: Final = "._,;:\u00b7\u0387\u055d\u055f\u060c\u060d\u066c\u07f8\u2027\u203f\u2040\u2054"
_JOINT: Final = re.compile(rf"[{_JOINTS}]+|'(?!(?:s|t|d|m|re|ve|ll)$)")
_DIGIT: Final = re.compile(r"\d")
HYPHENED: Final = re.compile(r"(?<![\w'-])[a-z]+(?:-[a-z]+){1,2}(?![\w'-])")
"""Two or three words of plain letters with hyphens between: some write them as one."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A document's distinct tokens with their counts, and its length: the sum of the counts.

    The length is in tokens, not in words: it is what a count is weighed against (BM25), and a
    word of Korean has more tokens than one of English.
    """

    counts: Mapping[str, int]
    length: int


def terms(text: str) -> Terms:
    """The tokens of a text, each with how often it occurs."""
    found = tokens(text)
    return Terms(Counter(found), len(found))


def terms_of(value: JsonValue) -> Terms:
    """The tokens of a JSON value: of its strings, numbers and names (`texts`)."""
    return terms("\n".join(texts(value)))


def tokens(text: str) -> list[str]:
    """The tokens of a text, each as often as it occurs."""
    return list(chain.from_iterable(map(_TOKENS.__getitem__, text.split())))


def chunk_tokens(chunk: str) -> list[str]:
    """The tokens of a chunk, each as often as it occurs; white space ends every word."""
    if chunk.isascii() and chunk.isdecimal() and len(chunk) <= MAX_WORD:
        return [chunk]
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
    if "-" in chunk:
        found += [as_one_word(joined) for joined in HYPHENED.findall(fold(chunk))]
    return found


def as_one_word(hyphened: str) -> str:
    """The token of words with hyphens between them, written as one: ``check-ups`` is checkup."""
    return stem(hyphened.replace("-", "")[:MAX_WORD])


class _Tokens(dict[str, tuple[str, ...]]):
    """The same as `chunk_tokens`, for what recurs: most of a text does, with its punctuation.

    A dict rather than an `lru_cache`: what that holds, every garbage collection looks at.
    """

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        tokens = tuple(chunk_tokens(chunk))
        if is_worth_remembering(chunk):
            if len(self) >= _REMEMBERED:
                self.clear()
            self[chunk] = tokens
        return tokens


_TOKENS: Final = _Tokens()


def is_worth_remembering(chunk: str) -> bool:
    """Whether a chunk may recur: long ones and long numbers would take the room of words."""
    is_number = chunk.isascii() and chunk.isdecimal() and len(chunk) >= _LONG_NUMBER
    return len(chunk) <= MAX_WORD and not is_number


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


# ------------------------------------------------------------------------------------------------
# How long a document is, in one byte: part of the definition of every ranking.
#
# An index keeps a document's length beside each of its words. In one byte it is exact up to 63
# tokens; from there on each doubling has sixteen steps, and a length counts as the step that it has
# reached. BM25 is computed from that, in memory as in a store, so that both agree to the last bit;
# against a length, a sixteenth changes a weight by less than one part in forty.
#
# A count beside it is a byte too: a token that occurs more often weighs nothing more.

EXACT: Final = 64
"""Lengths below this are their own class."""

STEPS: Final = 16
"""Classes of each doubling above it."""

CLASSES: Final = 256
MOST: Final = 255
"""Occurrences of a token that count."""

_STEP_BITS: Final = STEPS.bit_length() - 1
_EXACT_BITS: Final = EXACT.bit_length() - 1


def class_of(length: int) -> int:
    if length < EXACT:
        return max(length, 0)
    doubling = length.bit_length() - 1
    step = (length >> (doubling - _STEP_BITS)) - STEPS
    return min(EXACT + (doubling - _EXACT_BITS) * STEPS + step, CLASSES - 1)


def _shortest(number: int) -> int:
    if number < EXACT:
        return number
    doubling, step = divmod(number - EXACT, STEPS)
    return (STEPS + step) << (doubling + _EXACT_BITS - _STEP_BITS)


LENGTHS: Final = tuple(map(_shortest, range(CLASSES)))
"""What each class counts as: the shortest length in it."""


def kind_of(count: int, length: int) -> int:
    """A count and a length as a posting has them: two bytes, the class of the length the lower."""
    return min(count, MOST) << 8 | class_of(length)


# ------------------------------------------------------------------------------------------------
# The tokenizer's version: whatever could give the same text other tokens.

VERSION: Final = 3
"""Ours: one higher with every change that gives some text other tokens."""

TOKENIZER: Final = (
    f"memoranda-text/{VERSION}"
    f" words=unicode-{apsw.unicode.unicode_version}"
    f" forms=unicode-{unicodedata.unidata_version}"
    f" stems=snowball-english-{version('snowballstemmer')}"
)
"""Part of the index and of the conformance fingerprint: another string, another index.

Word breaks come from apsw's Unicode, NFKC and case folding from Python's: the two differ.
"""


# ------------------------------------------------------------------------------------------------
# Who says a text: the name that it begins with.

BEGINS_WITH: Final = "~"
"""Stands among the tokens of a speaker whom nobody gave: a text begins with the name."""

_LABEL: Final = re.compile(r"\s*([^\s:]{1,64}(?: [^\s:]{1,64}){0,3}):\s")
_NOBODY: Final[frozenset[str]] = frozenset()


def speaker_of(text: str) -> frozenset[str]:
    """The tokens of the name that a text begins with: up to four words, a colon, white space.

    `BEGINS_WITH` is among them: it may be a title, and no name.
    """
    found = _LABEL.match(text)
    return frozenset([BEGINS_WITH, *terms(found[1]).counts]) if found else _NOBODY
