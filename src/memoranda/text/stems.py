"""English stems: *customers*, *customer's* and *customer* are one token."""

import re
from functools import cache, lru_cache
from typing import Final, Protocol, cast

_ENGLISH: Final = re.compile("[a-z]+(?:'[a-z]+)*")
_REMEMBERED: Final = 65_536


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the package's name


@lru_cache(maxsize=_REMEMBERED)
def stem(word: str) -> str:
    """The Snowball English stem of a folded word of the letters a to z; else the word without 's.

    Words of other languages in these letters get one too. It is the same in a document and in a
    query, so that each word still finds itself.
    """
    if not _ENGLISH.fullmatch(word):
        return word.removesuffix("'s")
    if not word.endswith(_endings()):
        return word
    # A stemmer keeps the word that it is working on: one of its own for each call makes this
    # safe in threads. Making one is a hundredth of the work.
    return _english()().stemWord(word) or word


@cache
def _endings() -> tuple[str, ...]:
    """All that the stemmer looks for: a word that ends with none of it is its own stem.

    They come from the stemmer's own tables, so that they fit every release; it compares single
    letters without a table. Shorter ones make longer ones superfluous.
    """
    tables = (table for name, table in vars(_english()).items() if name.startswith("a_"))
    endings = {among.s for table in tables for among in table if among.s} | set("yel")
    return tuple(text for text in endings if not any(map(text.endswith, endings - {text})))


@cache
def _english() -> type[_Stemmer]:
    """The pure Python stemmer, imported when first needed: the package loads forty languages.

    Never `snowballstemmer.stemmer`: it takes PyStemmer where that is installed, whose version
    and stems may be others, and an index must not depend on what else is installed.
    """
    from snowballstemmer.english_stemmer import (  # type: ignore[import-untyped]  # noqa: PLC0415
        EnglishStemmer,
    )

    return cast("type[_Stemmer]", EnglishStemmer)


# ------------------------------------------------------------------------------------------------
# Korean particles and endings: what stands behind a noun and is no part of it.
#
# No dictionary: a list of endings, and the rules of sound that say after which syllable each may
# stand (을 after a consonant, 를 after a vowel): 마을 is a village, not 마 with a particle. Where
# a noun itself ends like a particle (고양이), less than the noun remains: it is still found, with
# a few others beside. Verbs are not conjugated, but for 하다, 되다, 시키다 and 이다 behind a noun.

_FIRST: Final = 0xAC00
_FINALS: Final = 28
_SYLLABLES: Final = 11_172
_RIEUL: Final = 8
LONGEST_ENDING: Final = 8
"""Syllables of the longest ending: none below has as many."""

_PARTICLES_REMEMBERED: Final = 4_096


def _ending_in(*finals: tuple[int, int]) -> str:
    """The syllables whose final consonant is from one to another (0 is none), for a pattern."""
    starts = range(_FIRST, _FIRST + _SYLLABLES, _FINALS)
    return "".join(
        chr(start + first) if first == last else f"{chr(start + first)}-{chr(start + last)}"
        for start in starts
        for first, last in finals
    )


_VOWEL: Final = f"(?<=[{_ending_in((0, 0))}])"
_CONSONANT: Final = f"(?<=[{_ending_in((1, _FINALS - 1))}])"
_VOWEL_OR_RIEUL: Final = f"(?<=[{_ending_in((0, 0), (_RIEUL, _RIEUL))}])"
_OTHER_CONSONANT: Final = f"(?<=[{_ending_in((1, _RIEUL - 1), (_RIEUL + 1, _FINALS - 1))}])"

# Particles that hardly any two-syllable noun ends with: what they leave may be one syllable, in
# a document and in a query.
_CLEAR: Final = (
    rf"{_CONSONANT}(?:은|이|을)|{_VOWEL}(?:는|가|를)"
    rf"|(?:에게서|에게|한테서|한테|께서|에서|에|까지|부터|처럼|보다|마다|조차|마저|밖에|만큼)(?:는|도|만|의)?"
    rf"|{_OTHER_CONSONANT}으로(?:는|도|만|의|서|써|부터)?|{_VOWEL_OR_RIEUL}로(?:는|도|서|써|부터)"
)
# Many nouns end with these (온도, 결과, 불만, 도로). A document's 물도 is found by 물; a query for
# 온도 is not one for 온.
_CLOUDY: Final = rf"도|만|들|{_VOWEL}(?:와|랑)|{_CONSONANT}(?:과|이랑)|{_VOWEL_OR_RIEUL}로"
# What two syllables or more may be followed by, besides.
_LONGER: Final = (
    rf"(?:{_CONSONANT}과|{_VOWEL}와|만)(?:은|는|도|의|이|을)|의|대로|하고|뿐"
    rf"|{_CONSONANT}이(?:나|며|든지|든|란|라도|라고|라는|라서)"
    rf"|{_VOWEL}(?:나|며|든지|든|란|라도|라고|라는|라서)"
)
_PARTICLE: Final = rf"(?:들)?(?:{_CLEAR}|{_CLOUDY}|{_LONGER})"
_VERB: Final = (
    r"하(?:다|는데|는지|는|고서|고|며|면서|면|지만|지|기(?:를|가|는|도|에|로)?|여|게|도록|려고|려면"
    r"|려는|자|세요|십시오|십니다|셨습니다|셨어요|나요|네요|던|거나|니까|니|였다|였습니다)"
    r"|한다|한|할까요|할까|할게요|할|함(?:은|을|이)?|합니다|합니까|해요|해서|해야|했다|했습니다|했어요|했어"
    r"|했던|했고|했지만|했는지|해"
    r"|되(?:다|는지|는|고|며|면|지|기|어서|어|도록|나요|었다|었습니다|었어요|었던)|된다|된|될|됨"
    r"|됩니다|됩니까|돼요|돼서|돼|됐다|됐습니다|됐어요|됐던"
    r"|시키(?:다|는|고|며|면|지|기)|시킨다|시킨|시킬|시킵니다|시켜서|시켜|시켰다|시켰습니다"
    r"|입니다|입니까|인가요|인가|인지|일까요|일까|인"
    rf"|{_CONSONANT}이(?:다|에요|었다|었습니다|고|지만|지|죠|야)"
    rf"|{_VOWEL}(?:예요|였다|였습니다|죠)"
)


def noun(run: str) -> str:
    """A run of syllables without the longest ending that leaves at least two of them."""
    found = _behind_two().search(run)
    return run[: found.start()] if found else run


def single_noun(run: str, *, in_document: bool) -> str | None:
    """The noun of one syllable that a run of syllables is, alone or with a particle; else None."""
    if len(run) == 1:
        return run
    behind = _behind_one_of_a_document() if in_document else _behind_one()
    return run[0] if behind.search(run) else None


@lru_cache(maxsize=_PARTICLES_REMEMBERED)
def ends_of_nouns(run: str) -> tuple[int, ...]:
    """Where in a run of syllables a noun may end, with nothing but a particle or ending behind it.

    A run may have several such places: 메모리에서 and 메모리 both end in 메모리에서는. As in a
    query, a noun of one syllable ends only before a particle that no noun ends with.
    """
    single = (1,) if _behind_one().search(run) else ()
    starts = range(max(2, len(run) - LONGEST_ENDING), len(run))
    return (*single, *(at for at in starts if _behind().fullmatch(run, at)))


def is_ending(run: str) -> bool:
    """Whether a run of syllables is nothing but an ending, as in ``USB는``."""
    return _alone().fullmatch(run) is not None


# ------------------------------------------------------------------------- patterns
# Each is compiled by the first Korean word that needs it: who writes English never waits.


@cache
def _behind_two() -> re.Pattern[str]:
    return re.compile(rf"(?<=..)(?:{_PARTICLE}|{_VERB})$")


@cache
def _behind() -> re.Pattern[str]:
    return re.compile(rf"(?:{_PARTICLE}|{_VERB})")


@cache
def _behind_one() -> re.Pattern[str]:
    return re.compile(rf"(?<=^.)(?:{_CLEAR})$")


@cache
def _behind_one_of_a_document() -> re.Pattern[str]:
    return re.compile(rf"(?<=^.)(?:{_CLEAR}|{_CLOUDY})$")


@cache
def _alone() -> re.Pattern[str]:
    return re.compile(re.sub(r"\(\?<=\[[가-힣-]+\]\)", "", rf"(?:{_PARTICLE}|{_VERB})"))
