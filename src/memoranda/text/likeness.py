"""Whether two statements say the same, or deny each other, by their words alone.

Nothing is understood here. Two statements are *the same* if their words are, folded and without
punctuation; or *nearly* so: at least `NEARLY` of their words, each counted once and by its stem,
are in both and in the same order, and numbers and negation are alike. They *deny* each other where
that holds but for the negation, or where both answer one question of which there is one answer
(`answer_to`).
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from memoranda.text.breaks import fold, pieces, words
from memoranda.text.stems import noun, stem

NEARLY: Final = 0.9
"""The share of words in both, of all words of either, from which on two statements are the same."""

_REMEMBERED: Final = 1_024

_NEGATIONS: Final = re.compile(
    r"not|no|never|none|cannot|nor|neither|without|longer|anymore"
    r"|(?:do|does|did|is|are|was|were|wo|would|ca|could|have|has|had|should|ai)n'?t"
)
_KOREAN_NEGATION: Final = re.compile("^(?:안|못|않|아니|아닙|아닌|없|못하|못해|싫)")
_AUXILIARIES: Final = frozenset(["do", "does", "did", "can", "could", "any", "a", "an", "the"])
_SPELLINGS: Final = {"favourite": "favorite", "colour": "color"}


class _Words(NamedTuple):
    stems: tuple[str, ...]
    """Each once, in the order in which they were first said."""
    numbers: tuple[str, ...]
    is_negated: bool


class Answered(NamedTuple):
    """What a statement answers, where there is only one answer at a time: a question, and that."""

    question: str
    value: str


def is_same(statement: str, other: str) -> bool:
    """Whether two statements say the same, or nearly (`NEARLY`)."""
    if words(statement) == words(other):
        return True
    mine, theirs = _words_of(statement), _words_of(other)
    if (mine.numbers, mine.is_negated) != (theirs.numbers, theirs.is_negated):
        return False
    mine_answers, theirs_answers = answer_to(statement), answer_to(other)
    return mine_answers == theirs_answers and _likeness(mine, theirs) >= NEARLY


def deny_each_other(statement: str, other: str) -> bool:
    """Whether two statements can't both hold, as far as their words tell."""
    mine, theirs = answer_to(statement), answer_to(other)
    if mine is not None and theirs is not None and mine.question == theirs.question:
        return mine.value != theirs.value
    mine_words, their_words = _words_of(statement), _words_of(other)
    return (
        mine_words.is_negated != their_words.is_negated
        and mine_words.numbers == their_words.numbers
        and _likeness(mine_words, their_words) >= NEARLY
    )


def _likeness(mine: _Words, theirs: _Words) -> float:
    """The share of words in both; none where they stand in another order: who lent whom counts."""
    either = {*mine.stems, *theirs.stems}
    shared = [word for word in mine.stems if word in theirs.stems]
    if shared != [word for word in theirs.stems if word in mine.stems]:
        return 0.0
    return len(shared) / len(either) if either else 0.0


@lru_cache(maxsize=_REMEMBERED)
def _words_of(statement: str) -> _Words:
    stems: dict[str, None] = {}
    numbers: list[str] = []
    is_negated = False
    for chunk in fold(statement).split():
        for piece in pieces(chunk):
            text = piece.text
            if _NEGATIONS.fullmatch(text) or (
                piece.script == "hangul" and _KOREAN_NEGATION.search(text) is not None
            ):
                is_negated = True
            elif any(letter.isdigit() for letter in text):
                numbers.append(text)
            elif text not in _AUXILIARIES:
                stems[noun(text) if piece.script == "hangul" else stem(text)] = None
    return _Words(tuple(stems), tuple(numbers), is_negated)


# ------------------------------------------------------------------------------------------------
# Questions that have one answer at a time: a name, a home, an employer, a birthday, a favourite.
#
# A list of forms, English and Korean, of what people say of themselves. What is not in one of them
# answers nothing: two such statements are never taken for opposites, whatever they mean.

_I_AM: Final = r"(?:i am|i'm|im)"
_IS: Final = r"(?:is|are|was|is now)"
_ENDS: Final = (
    r"(?:,? (?:now|these days|at the moment|recently|yesterday|today|(?:last|this|since|for|with|"
    r"and|but|because|so)\b.*))?"
)
_NOUNS: Final = (
    r"name|email|email address|e-mail|phone|phone number|address|job|birthday|age|hometown|"
    r"nationality|employer|boss|timezone|time zone|native language|\w+'s name|"
    r"favou?rite [\w' -]{1,40}?"
)
_ENGLISH: Final = tuple(
    (question, re.compile(form + r"\s*$"))
    for question, form in (
        ("name", rf"my name(?:'s| {_IS}) (?P<value>[\w' -]+?)"),
        ("name", rf"(?:{_I_AM} called|(?:please )?call me) (?P<value>[\w' -]+?)"),
        ("home", rf"(?:i|we) (?:now )?live in (?P<value>[\w' ,-]+?){_ENDS}"),
        ("home", rf"(?:i|i've|i have|we|we've) moved to (?P<value>[\w' ,-]+?){_ENDS}"),
        ("employer", rf"i(?: now)? work (?:at|for) (?P<value>[\w' &-]+?){_ENDS}"),
        ("birthday", r"i was born on (?P<value>[\w' ,./-]+?)"),
        ("age", rf"{_I_AM} (?P<value>\d+)(?: years old| yrs old)?"),
        ("", rf"my (?P<question>{_NOUNS}) {_IS} (?P<value>.+?)"),
    )
)  # fmt: skip
_TASTE: Final = re.compile(
    r"(?:i|we) (?:(?P<adverb>really|absolutely|just|also|still) )?"
    r"(?P<not>don't (?:really )?|do not |no longer |never )?"
    r"(?P<verb>like|love|enjoy|adore|hate|dislike|can't stand) (?P<object>[\w' -]{1,60}?)"
    r"(?: anymore| any more| any longer| a lot| very much)?\s*$"
)
_LIKED: Final = frozenset({"like", "love", "enjoy", "adore"})
_ALLERGY: Final = re.compile(
    rf"{_I_AM} (?P<not>not |no longer )?(?:also )?allergic to (?P<object>[\w' -]+?)\s*$"
)

_ME: Final = r"(?:저는|나는|난|전|제가|내가)?\s*"
_MY: Final = r"(?:제|내|저의|나의)\s*"
_NOW: Final = r"(?:지금 |현재 |이제 )?"
_IS_KO: Final = (
    r"(?:이?라고 (?:해요|합니다|해|불러 ?줘|불러 ?주세요)|이에요|예요|입니다|이야|야|이다|다)"
)
_LIVE: Final = r"(?:살아요|삽니다|살아|산다|살고 있(?:어요|습니다|어|다))"
_MOVED: Final = r"이사(?:했|왔|갔)(?:어요|습니다|어|다)"
_WORK: Final = r"(?:일해요|일합니다|일해|일한다|일하고 있(?:어요|습니다|어|다)|근무해요|근무합니다)"
_ATTEND: Final = r"(?:다녀요|다닙니다|다녀|다닌다|다니고 있(?:어요|습니다|어|다))"
_NOUNS_KO: Final = "전화번호|이메일|주소|직업|고향|나이|국적"
_KOREAN: Final = tuple(
    (question, re.compile(form + r"\s*$"))
    for question, form in (
        ("name", rf"{_MY}이름은 (?P<value>\S+?){_IS_KO}"),
        ("name", rf"{_ME}(?P<value>[가-힣]{{2,4}}?)이?라고 (?:해요|합니다|해|불러 ?\S+)"),
        ("home", rf"{_ME}{_NOW}(?P<value>[\w ]{{1,20}}?)에서? {_LIVE}"),
        ("home", rf"{_ME}(?:지난\S* )?(?P<value>[\w ]{{1,20}}?)으?로 {_MOVED}"),
        ("employer", rf"{_ME}{_NOW}(?P<value>[\w ]{{1,20}}?)(?:에서 {_WORK}|에 {_ATTEND})"),
        ("birthday", rf"{_MY}생일은 (?P<value>.+?){_IS_KO}"),
        ("age", rf"{_ME}(?P<value>\d+)(?:살|세){_IS_KO}"),
        ("", rf"{_ME}(?:가장|제일) 좋아하는 (?P<question>\S+?)(?:은|는) (?P<value>.+?){_IS_KO}"),
        ("", rf"{_MY}(?P<question>{_NOUNS_KO})(?:은|는) (?P<value>.+?){_IS_KO}"),
    )
)
_TASTE_KO: Final = re.compile(
    rf"{_ME}(?:정말 |아주 |더 이상 |이제 )?(?P<object>[\w ]{{1,20}}?)(?:을|를|이|가|은|는)? ?"
    r"(?:(?P<likes>좋아해요|좋아합니다|좋아해|좋아한다|사랑해요|즐겨요|즐깁니다)"
    r"|(?P<hates>싫어해요|싫어합니다|싫어해|싫어한다|싫어요|싫습니다|싫어"
    r"|안 좋아해요|안 좋아해|안 좋아합니다"
    r"|좋아하지 (?:않아요|않습니다|않아|않는다)))\s*$"
)
_ALLERGY_KO: Final = re.compile(
    rf"{_ME}(?P<object>[\w ]{{1,20}}?) ?알레르기가? (?:(?P<has>있)|(?P<has_none>없))\S*\s*$"
)


@lru_cache(maxsize=_REMEMBERED)
def answer_to(statement: str) -> Answered | None:
    """Which of the questions below a statement answers, and what; None where it answers none."""
    said = " ".join(fold(statement).split()).rstrip(" .!。~")
    said = re.sub(r"^(?:and|but|so|well|yes|no|oh|actually|now)[, ]+(?=i\b|my\b|i')", "", said)
    for form in (_TASTE, _TASTE_KO):
        if (found := form.search(said)) is not None and found.start() == 0:
            return Answered(f"taste of {_plain(found['object'])}", _taste(found))
    for form in (_ALLERGY, _ALLERGY_KO):
        if (found := form.match(said)) is not None:
            members = found.groupdict()
            is_none = members.get("not") or members.get("has_none")
            return Answered(f"allergy to {_plain(found['object'])}", "no" if is_none else "yes")
    for question, form in (*_ENGLISH, *_KOREAN):
        if (found := form.match(said)) is not None:
            asked = question or _plain(found["question"])
            return Answered(_SYNONYMS.get(asked, asked), _plain(found["value"]))
    return None


_SYNONYMS: Final = {
    "나이": "age",
    "e-mail": "email",
    "email address": "email",
    "phone number": "phone",
    "time zone": "timezone",
}


def _taste(found: re.Match[str]) -> str:
    members = found.groupdict()
    if "verb" not in members:
        return "likes" if members["likes"] else "dislikes"
    is_liked = (members["verb"] in _LIKED) != bool(members["not"])
    return "likes" if is_liked else "dislikes"


def _plain(text: str) -> str:
    """A value as it is compared: its words alone, without articles."""
    return " ".join(_SPELLINGS.get(word, word) for word in words(text) if word not in _AUXILIARIES)
