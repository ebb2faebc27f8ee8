"""The words that a text is about, weighed on our own tokens; no model, no dictionary of nouns.

A word weighs more the more often it occurs (its forms count as one: *tickets* and *ticket*,
이메일을 and 이메일로), if it has digits or is a name or an acronym, if it stands early, and if the
user's own words hold it too. Weights are whole numbers: the same text has the same keywords
everywhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple
from unicodedata import normalize

from memoranda.plans.stop_words import STOP_WORDS
from memoranda.text.breaks import pieces
from memoranda.text.folding import fold
from memoranda.text.korean import is_ending, noun, single_noun
from memoranda.text.stems import stem

LONGEST: Final = 64
"""Characters of a word that can be a keyword: what is longer is a digest or a blob."""

_SPELLED_WITH_MARKS: Final = re.compile(r"[A-Za-z]\w*(?:\+\+|#)", re.ASCII)
# A date or a time: one word, however many numbers it is made of.
_MOMENT: Final = re.compile(
    r"(?<!\d)(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    r"|\d{1,2}:\d{2}(?::\d{2})?)(?!\d)",
    re.ASCII,
)
_DAY: Final = re.compile("[월화수목금토일]요일")
_AROUND: Final = "\"'`*_()[]{}<>.,;:!?…“”\u2018\u2019「」『』、。"
_SHORTEST_ENGLISH: Final = 3
_SHORTEST: Final = 2
_LONGEST_HAN_WORD: Final = 4
_LONGEST_UNSPACED_WORD: Final = 16
_SHORTEST_PLURAL: Final = 5
# Endings of Korean verbs that no noun is left behind of: the word is a verb or an adjective.
_VERB: Final = re.compile(
    r"(?:니다|니까|세요|어요|아요|여요|해요|네요|까요|게요|에요|예요|았다|었다|였다|는다|지만|면서|는데|어서|아서"
    r"|려고|도록|거나|든지|어야|아야|어도|아도|았던|었던|으면|으며)$"
)
_PLURAL_OF_NONE: Final = ("ss", "us", "is", "as", "os")


class Word(NamedTuple):
    """A word as it is spelled, what its forms have in common, and whether it stands out."""

    spelled: str
    form: str
    stands_out: bool


@dataclass(slots=True)
class Weighed:
    """All forms of one word in a text: how it is to be spelled, how much it weighs, where it is."""

    spelled: str
    place: int
    count: int = 0
    bonus: int = 0
    places: list[int] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """What it weighs."""
        return _FOR_EACH * min(self.count, _MOST_COUNTED) + self.bonus


_FOR_EACH: Final = 4
_MOST_COUNTED: Final = 5
_FOR_DIGITS_OR_A_NAME: Final = 8
_FOR_AN_EARLY_SENTENCE: Final = 3
_FOR_THE_USERS_WORD: Final = 4
_FOR_LENGTH: Final = 3


def weighed(sentences: Sequence[str], asked: Sequence[str] = ()) -> dict[str, Weighed]:
    """The words of some sentences by their forms, each weighed; `asked` is what the user said.

    The user's words are there as well, behind the others: an answer is about what was asked.
    """
    found: dict[str, Weighed] = {}
    place = 0
    for number, sentence in enumerate(sentences):
        for word in words_of(sentence):
            one = found.setdefault(word.form, Weighed(word.spelled, place))
            if not one.count:
                one.bonus = max(0, _FOR_AN_EARLY_SENTENCE - number) + _for_spelling(word)
            elif len(word.spelled) < len(one.spelled):
                one.spelled = word.spelled  # the shortest form is found in the others
            one.count += 1
            one.places.append(number)
            place += 1
    for sentence in asked:
        for word in words_of(sentence):
            one = found.setdefault(word.form, Weighed(word.spelled, place))
            if not one.count:
                one.count, one.bonus = 1, _for_spelling(word)
            elif one.places:
                one.bonus += _FOR_THE_USERS_WORD if one.count else 0
            place += 1
    return found


def by_weight(words: Iterable[Weighed]) -> list[Weighed]:
    """The heaviest first; of equal ones the first in the text."""
    return sorted(words, key=lambda one: (-one.weight, one.place))


def words_of(sentence: str) -> Iterator[Word]:
    """The words of a sentence that say what it is about, in their order."""
    for number, chunk in enumerate(normalize("NFC", sentence).split()):
        bare = chunk.strip(_AROUND)
        if _SPELLED_WITH_MARKS.fullmatch(bare):
            yield Word(bare, fold(bare), stands_out=True)
            continue
        start = 0
        for moment in _MOMENT.finditer(chunk):
            yield from _of_chunk(chunk[start : moment.start()], is_first=number == 0)
            yield Word(moment[0], moment[0], stands_out=True)
            start = moment.end()
        if start and is_ending(chunk[start:].strip(_AROUND)):
            continue  # a particle behind it, as in 15:00에
        yield from _of_chunk(chunk[start:], is_first=number == 0)


def _of_chunk(chunk: str, *, is_first: bool) -> Iterator[Word]:
    """The words of what stands between spaces, dates and times."""
    folded = fold(chunk)
    cursor, counted = 0, ""
    for script, text, start, _ in pieces(folded):
        cursor = max(cursor, start)
        at = folded.find(text, cursor)
        spelled = chunk[at : at + len(text)] if len(folded) == len(chunk) else text
        if script == "hangul" and counted and at == cursor:
            yield Word(both := counted + _counter(text), both, stands_out=True)
            cursor, counted = at + len(text), ""
            continue
        cursor, counted = at + len(text), text if text.isdecimal() else ""
        match script:
            case "other":
                yield from _other(spelled, text, is_first=is_first)
            case "hangul":
                yield from _hangul(text)
            case "han" if len(text) > _LONGEST_HAN_WORD:
                for one, next_ in pairwise(text):
                    yield Word(one + next_, one + next_, stands_out=False)
            case "han" | "katakana" if len(text) >= _SHORTEST:
                yield Word(text, text, stands_out=False)
            case "unspaced" if _SHORTEST <= len(text) <= _LONGEST_UNSPACED_WORD:
                yield Word(text, text, stands_out=False)


def _other(spelled: str, folded: str, *, is_first: bool) -> Iterator[Word]:
    plain = folded.removesuffix("'s")
    if plain in STOP_WORDS or folded in STOP_WORDS or len(plain) > LONGEST:
        return
    has_digit = any(one.isdigit() for one in plain)
    is_name = spelled[:1].isupper() and (not is_first or spelled[1:2].isupper())
    if len(plain) < (_SHORTEST if has_digit or is_name else _SHORTEST_ENGLISH):
        return
    written = spelled[: len(plain)] if is_name else spelled[: len(plain)].lower()
    yield Word(_singular(written), stem(plain), has_digit or is_name)


def _hangul(run: str) -> Iterator[Word]:
    name = noun(run)
    if len(name) < _SHORTEST or len(name) > LONGEST or {run, name} & STOP_WORDS:
        return
    if name == run and _VERB.search(run):
        return
    if not run.endswith("이") and single_noun(run, in_document=False):
        return  # a syllable with a particle, such as 일에: too short to say anything
    yield Word(name, name, stands_out=_DAY.fullmatch(name) is not None)


def _counter(run: str) -> str:
    """What is counted, right behind a number: the 시 of 3시에 and of 3시입니다."""
    if single := single_noun(run, in_document=True):
        return single
    return run[0] if is_ending(run[1:]) else noun(run)


def _singular(spelled: str) -> str:
    """A plural without its s: so it is found in both forms. Names are left as they are."""
    if len(spelled) < _SHORTEST_PLURAL or not spelled.endswith("s") or not spelled.islower():
        return spelled
    if spelled.endswith(_PLURAL_OF_NONE) or stem(spelled[:-1]) != stem(spelled):
        return spelled
    return spelled[:-1]


def _for_spelling(word: Word) -> int:
    length = len(word.spelled) * (1 if word.spelled.isascii() else 2)
    return (_FOR_DIGITS_OR_A_NAME if word.stands_out else 0) + min(length // _FOR_LENGTH, 3)
