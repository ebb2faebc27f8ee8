"""What a question asks for: its words that tell something, and the time that it names.

Words of grammar are not asked for: with them, `What did you do when ...` finds every question
ever put. They are a list, below; the frequencies of a scope alone don't tell `when` and `did` from
the words of its subject (measured: docs/evaluation.md). A question of nothing else asks for all of
its words: `the who` is still found. A word of the list that is written like a name inside a
question is a name: `Where did Will move?`, `May`, `US`, `IT`.
"""

import re
from dataclasses import dataclass
from itertools import product
from typing import Final

from memoranda.recall.dates import Period, period
from memoranda.text import MAX_QUERY_WORDS, QueryWord, fold, query

# Articles, pronouns, prepositions, conjunctions, auxiliaries and the words that ask.
_ENGLISH: Final = """
a an the this that these those i me my mine we us our ours you your yours he him his she her
hers it its they them their theirs itself himself herself themselves myself yourself about above
after again at before below between by during for from in into of off on out over than through
to under up with while as if so because until and or but nor not no only just too very am is are
was were be been being do does did doing done have has had having can could may might must shall
should will would what when where which who whom whose why how all any both each few more most
other same some such there here then now own what's who's where's how's when's it's that's
there's i'm i've i'd i'll you're you've he's she's we're we've they're they've isn't aren't
wasn't weren't don't doesn't didn't hasn't haven't hadn't can't couldn't won't wouldn't
shouldn't
"""
GRAMMAR: Final = frozenset(_ENGLISH.split())

# Korean: the words that ask, with what may stand behind them; pronouns, and verbs without content.
_ASKING: Final = "누구 뭐 무엇 어디 언제 얼마 어떤 어떻게 어느 무슨 몇 왜 누 뭘"
_BEHIND: Final = """
가 를 을 는 은 이 의 에 에게 에게서 한테 에서 로 와 랑 부터 까지 나 도 야 이야 예요 이에요
인가요 인가 인지 일까 일까요 지 죠 니 입니까 요 쯤 쯤이야 든 든지 라도 하고
"""
_KOREAN: Final = """
나 나는 나의 나를 나도 내 내가 저 저는 제 제가 우리 우리는 우리가 우리를 너 너는 네 네가 그 그는
그녀 그녀는 그들 이 이것 저것 그것 것 것은 것이 것을 거 거야 건 게 수 때 때문 때문에 대해 대해서
대한 관한 위해 위한 및 또는 그리고 그런데 그래서 하지만 좀 더 있다 있는 있어 있어요 있나 있나요
있니 있지 있을까 있습니까 있을 없다 없는 없어 없어요 없나 없나요 하다 하는 하나요 하지 하니 해
해요 해야 했어 했어요 했나요 했지 합니까 할까 되다 되는 되나요 돼 돼요 될까 될까요 됩니까 줘
주세요 알려줘 알려 말해줘 이다 인 입니까 인가요
"""
GRAMMAR_KO: Final = frozenset(
    map("".join, product(_ASKING.split(), ["", *_BEHIND.split()]))
) | frozenset(_KOREAN.split())

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?|[.!?:]")
_ENDS: Final = frozenset(".!?:")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """The words that a question asks for, the tokens behind them, the time that it names."""

    words: tuple[QueryWord, ...]
    period: Period | None = None
    is_cut: bool = False
    """Whether it has more different words than are asked for."""
    names: frozenset[str] = frozenset()
    """Its words that are written like names, folded."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """Every token once, in the order of the question: the postings that a store must read."""
        needed = (
            token
            for word in self.words
            for alternative in word.alternatives
            for token in alternative
        )
        return tuple(dict.fromkeys(needed))

    @property
    def notes(self) -> tuple[str, ...]:
        """What of it is not asked for, for whoever reads the result."""
        if not self.is_cut:
            return ()
        return (f"only the first {MAX_QUERY_WORDS} different words of the question were asked for",)


def asked(text: str, *, at: int | None = None) -> ParsedQuestion:
    """What a text asks for. `at` is when it is asked: without it, no time is understood."""
    found = query(text)
    names = names_in(text)
    telling = tuple(word for word in found.words if word.text in names or not is_grammar(word.text))
    when = None if at is None else period(text, at=at)
    return ParsedQuestion(telling or found.words, when, found.is_cut, names)


def is_grammar(word: str) -> bool:
    """Whether a folded word tells nothing of what is asked for."""
    return word in GRAMMAR or word in GRAMMAR_KO


def names_in(text: str) -> frozenset[str]:
    """The words inside a text that are written like names: with a capital letter, folded.

    Not the first word of a sentence, nor `I`; and none at all where most words are written so, as
    in a title or by somebody who shouts.
    """
    names, capitals, others = set(), 0, 0
    is_first = True
    for word in _WORD.findall(text):
        if word in _ENDS:
            is_first = True
            continue
        if not word[0].isupper():
            others += 1
        elif not is_first:
            capitals += 1
            if len(word) > 1 and word[1] not in "'\u2019":
                names.add(fold(word).removesuffix("'s"))
        is_first = False
    return frozenset(names) if capitals <= max(others, 2) else frozenset()
