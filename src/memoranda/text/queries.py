"""What a query asks for, and when a document has it: the one rule that every store reproduces.

A query is a list of words. A word has alternatives; each alternative is a few tokens. A document
has a word when it has all tokens of one of its alternatives. Whether a document must have every
word of a query, or any, is the caller's choice.

===========  =====================================  =================================
a word of    asks for                               such as
===========  =====================================  =================================
other        the stem of each of its parts          ``John.Smith`` john and smith
script       or, with a digit, the whole            ``v2.10`` v2.10
             with hyphens, its parts or all as one  ``check-up`` checkup, or check and up
Hangul       the pairs of its noun                  ``이메일을`` 이메 and 메일
             of 4, 6… syllables: every second one   ``고객센터는`` 고객 and 센터
             or its noun of one syllable            ``물은`` 물은, or 물
Katakana     its pairs                              ``タワー`` タワ and ワー
Han,         each pair is a word for itself         ``東京都`` 東京; 京都
Hiragana …   a single one is a word                 ``犬`` 犬
===========  =====================================  =================================

Korean compounds are written with and without spaces, and are mostly made of nouns of two
syllables: so 고객센터 also finds ``고객 센터``. Han and Hiragana have no spaces: a run of them may
be a whole question, of which a document need not have every pair. One or two Hiragana beside Han
or Katakana are grammar (犬が, 食べる) and are not asked for.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Final

from memoranda.text.breaks import TextPiece, fold, pieces
from memoranda.text.stems import noun, single_noun, stem
from memoranda.text.tokens import HYPHENED, as_one_word, pairs, parts_of, whole_of

MAX_QUERY_WORDS: Final = 256
"""Different words of a query that are asked for; `Query.is_cut` says when there were more."""

_COMPOUND: Final = 4
_GRAMMAR: Final = 2

Alternative = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query: as it was written (folded), and its alternatives."""

    text: str = field(compare=False)
    alternatives: tuple[Alternative, ...]

    def is_in(self, tokens: Container[str]) -> bool:
        """Whether a document with these tokens has this word."""
        return any(all(token in tokens for token in needed) for needed in self.alternatives)


@dataclass(frozen=True, slots=True)
class Query:
    """The different words of a query, in their order; and whether there were too many."""

    words: tuple[QueryWord, ...]
    is_cut: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token that can decide about a match, once: the postings that a store must read."""
        needed = (
            token
            for word in self.words
            for alternative in word.alternatives
            for token in alternative
        )
        return tuple(dict.fromkeys(needed))


def query(text: str) -> Query:
    """What a text asks for when it is a query."""
    different: dict[QueryWord, None] = {}
    for word in _query_words(text):
        if len(different) == MAX_QUERY_WORDS and word not in different:
            return Query(tuple(different), is_cut=True)
        different[word] = None
    return Query(tuple(different))


def matches(query: Query, tokens: Container[str], *, every: bool = True) -> bool:
    """Whether a document with these tokens has every word of a query, or any of them.

    A query without words finds nothing: not everything.
    """
    if not query.words:
        return False
    return (all if every else any)(word.is_in(tokens) for word in query.words)


def _query_words(text: str) -> Iterator[QueryWord]:
    for chunk in text.split():
        folded = fold(chunk)
        for joined in HYPHENED.findall(folded) if "-" in folded else ():
            parts = tuple(dict.fromkeys(map(stem, joined.split("-"))))
            yield QueryWord(joined, ((as_one_word(joined),), parts))
        found = pieces(HYPHENED.sub(" ", folded) if "-" in folded else folded)
        for at, (script, word, _, _) in enumerate(found):
            match script:
                case "other":
                    if needed := _needed(word):
                        yield QueryWord(word, (needed,))
                case "hangul":
                    yield QueryWord(word, tuple(_hangul_alternatives(word)))
                case "katakana":
                    yield QueryWord(word, (tuple(dict.fromkeys(pairs(word))) or (word,),))
                case "hiragana" if _is_grammar(found, at):
                    pass
                case _:
                    for pair in pairs(word) if len(word) > 1 else word:
                        yield QueryWord(pair, ((pair,),))


def _needed(word: str) -> Alternative:
    parts = parts_of(word)
    if len(parts) > 1 and (whole := whole_of(word)):
        return (whole,)
    return tuple(dict.fromkeys(map(stem, parts)))


def _hangul_alternatives(run: str) -> Iterator[Alternative]:
    if len(run) > 1:
        name = noun(run)
        is_compound = len(name) >= _COMPOUND and len(name) % 2 == 0
        yield tuple(dict.fromkeys(list(pairs(name))[:: 2 if is_compound else 1]))
    if single := single_noun(run, in_document=False):
        yield (single,)


def _is_grammar(found: list[TextPiece], at: int) -> bool:
    """Whether one or two Hiragana stand beside Han or Katakana: a particle or an inflection."""
    _, word, start, end = found[at]
    return len(word) <= _GRAMMAR and any(
        neighbour.script in ("han", "katakana")
        and (neighbour.end == start or neighbour.start == end)
        for neighbour in found[max(at - 1, 0) : at + 2]
    )
