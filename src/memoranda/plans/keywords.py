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

from memoranda.text.breaks import fold, pieces
from memoranda.text.stems import is_ending, noun, single_noun, stem

# ------------------------------------------------------------------------------------------------
# Words that say nothing about what a text is about, in English and Korean, folded.

_ENGLISH: Final = """
a able about above across actually after again against ago all almost already also although always
am among an and another any anyone anything are aren't around as ask asked at away back be became
because become been before being below best better between both but by came can can't cannot
certainly come comes could couldn't course definitely did didn't do does doesn't doing don't done
down during each either else enough etc even ever every everyone everything few first for found
from further gave get gets getting give given gives glad go goes going gone good got great had
hadn't happy has hasn't have haven't having he hello help helpful her here here's hers herself hi
him himself his hope how how's however i i'd i'll i'm i've if in indeed instead into is isn't it
it'd it'll it's its itself just keep kind know known last least less let let's like likely little
long look looking looks lot made make makes making many may maybe me might mine more most much
must my myself need needs neither never next no nor not nothing now of off often oh ok okay on
once one only onto or other others otherwise our ours ourselves out over own per perhaps please
possible put quite rather really right said same say says see seem seems seen several shall she
should shouldn't simply since so some someone something sometimes soon still such sure take taken
tell than thank thanks that that's the their theirs them themselves then there there's therefore
these they they'd they'll they're they've thing things think this those though through thus to
together told too toward towards try two under until up upon us use used uses using usually very
via want wanted wants was wasn't way we we'd we'll we're we've welcome well were weren't what
what's whatever when when's where where's whether which while who who's whom whose why will with
within without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself
yourselves
"""
_KOREAN: Final = """
가능 각각 감사 감사합니다 같은 같이 거기 거의 겁니다 것 것은 것을 것이 것입니다 결국 경우 계속
고맙습니다 그 그것 그게 그냥 그대로 그래도 그래서 그러나 그러니까 그러면 그런 그런데 그럼 그렇게
그렇습니다 그렇지만 그리고 그중 기본적 까지 나 나는 나중 내 내가 너무 너의 네 누가 누구 다 다른
다만 다시 다음 당신 당연 대로 대부분 대신 대한 대해 대해서 더 더욱 덜 도움 도움이 동안 되고 되는
두 뒤 드려 드릴 등 따라 따라서 따로 따른 때 때는 때문 때문에 또 또는 또한 뜻 로 를 마다 마치 만약
만일 만큼 많은 많이 말 말씀 매우 먼저 모두 모든 못 무슨 무엇 무엇을 물론 및 바로 밖에 반드시 받은
받을 방금 번 보내 보낸 보다 보통 부터 분 뿐 사실 사용 서로 수 아 아니 아니라 아니면 아니요 아래
아래의 아마 아주 아직 안 안녕 안녕하세요 알려 앞 앞으로 약간 어느 어디 어떤 어떻게 언제 언제나
얼마나 없는 없다 없습니다 없어요 없이 에서 여기 여러 여러분 역시 예 오직 왜 요 우리 위 위의 위한
위해 위해서 유용 으로 은 을 의 이 이것 이게 이는 이런 이렇게 이를 이미 이번 이상 이에 이용 이제
이후 인 일단 있게 있고 있는 있다 있도록 있습니다 있어 있어서 있어요 있으며 있으면 있을 자주 자체
잘 저 저는 저도 저의 저희 전 전혀 정도 정말 제 제가 조금 좀 좋겠습니다 좋습니다 좋아요 좋은 주로
주세요 주시면 중 지금 직접 진짜 질문 차라리 처음 천만에요 최대한 통해 통해서 특히 편 필요 하고
하나 하는 하지만 한 한번 할 함께 항상 해 해당 해도 혹시 혹은 확실 후 훨씬
"""
STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_KOREAN}".split())
"""Left out of keywords and of the weight of sentences; a sentence that is kept keeps them."""


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
            keyword = found.setdefault(word.form, Weighed(word.spelled, place))
            if not keyword.count:
                keyword.bonus = max(0, _FOR_AN_EARLY_SENTENCE - number) + _for_spelling(word)
            elif len(word.spelled) < len(keyword.spelled):
                keyword.spelled = word.spelled  # the shortest form is found in the others
            keyword.count += 1
            keyword.places.append(number)
            place += 1
    for sentence in asked:
        for word in words_of(sentence):
            keyword = found.setdefault(word.form, Weighed(word.spelled, place))
            if not keyword.count:
                keyword.count, keyword.bonus = 1, _for_spelling(word)
            elif keyword.places:
                keyword.bonus += _FOR_THE_USERS_WORD if keyword.count else 0
            place += 1
    return found


def by_weight(words: Iterable[Weighed]) -> list[Weighed]:
    """The heaviest first; of equal ones the first in the text."""
    return sorted(words, key=lambda keyword: (-keyword.weight, keyword.place))


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
    has_digit = any(text.isdigit() for text in plain)
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
