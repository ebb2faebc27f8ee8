"""What a question asks for: its words that tell something, and the time that it names.

Words of grammar are not asked for: with them, `What did you do when ...` finds every question
ever put. They are a list, below; the frequencies of a scope alone don't tell `when` and `did` from
the words of its subject (measured: docs/evaluation.md). A question of nothing else asks for all of
its words: `the who` is still found.
"""

from dataclasses import dataclass
from typing import Final

from memoranda.recall.dates import Period, period
from memoranda.text import MAX_QUERY_WORDS, QueryWord, query

# Articles, pronouns, prepositions, conjunctions, auxiliaries and the words that ask.
GRAMMAR: Final = frozenset(
    [
        "a",
        "an",
        "the",
        "this",
        "that",
        "these",
        "those",
        "i",
        "me",
        "my",
        "mine",
        "we",
        "us",
        "our",
        "ours",
        "you",
        "your",
        "yours",
        "he",
        "him",
        "his",
        "she",
        "her",
        "hers",
        "it",
        "its",
        "they",
        "them",
        "their",
        "theirs",
        "itself",
        "himself",
        "herself",
        "themselves",
        "myself",
        "yourself",
        "about",
        "above",
        "after",
        "again",
        "at",
        "before",
        "below",
        "between",
        "by",
        "during",
        "for",
        "from",
        "in",
        "into",
        "of",
        "off",
        "on",
        "out",
        "over",
        "than",
        "through",
        "to",
        "under",
        "up",
        "with",
        "while",
        "as",
        "if",
        "so",
        "because",
        "until",
        "and",
        "or",
        "but",
        "nor",
        "not",
        "no",
        "only",
        "just",
        "too",
        "very",
        "am",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "do",
        "does",
        "did",
        "doing",
        "done",
        "have",
        "has",
        "had",
        "having",
        "can",
        "could",
        "may",
        "might",
        "must",
        "shall",
        "should",
        "will",
        "would",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "how",
        "all",
        "any",
        "both",
        "each",
        "few",
        "more",
        "most",
        "other",
        "same",
        "some",
        "such",
        "there",
        "here",
        "then",
        "now",
        "own",
        "what's",
        "who's",
        "where's",
        "how's",
        "when's",
        "it's",
        "that's",
        "there's",
        "i'm",
        "i've",
        "i'd",
        "i'll",
        "you're",
        "you've",
        "he's",
        "she's",
        "we're",
        "we've",
        "they're",
        "they've",
        "isn't",
        "aren't",
        "wasn't",
        "weren't",
        "don't",
        "doesn't",
        "didn't",
        "hasn't",
        "haven't",
        "hadn't",
        "can't",
        "couldn't",
        "won't",
        "wouldn't",
        "shouldn't",
    ]
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """The words that a question asks for, the tokens behind them, the time that it names."""

    words: tuple[QueryWord, ...]
    period: Period | None = None
    is_cut: bool = False
    """Whether it has more different words than are asked for."""

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
    telling = tuple(word for word in found.words if word.text not in GRAMMAR)
    when = None if at is None else period(text, at=at)
    return ParsedQuestion(telling or found.words, when, found.is_cut)
