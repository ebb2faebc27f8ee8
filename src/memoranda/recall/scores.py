"""What a record has of a question, added up: a score, and the probability that it is the answer.

Where records stand in threads, eight numbers are added with fixed weights (`IN_THREADS`): how much
of the question stands in the record or around it, who says it, when, how long it is, whether it is
a question itself or follows one that has the words, and how near it is in meaning.

Where they stand alone (`ALONE`), words and meaning share the question. Words count as a part of the
best, and the less the fewer of the question's words any record has: of short facts, which say
things in words of their own, the best has one by chance. Meaning fills the part of the question
that a record's words leave open, and counts more where words can't be trusted. A question is near
other questions because of its form, and a very short text is near anything: that is taken off.
Without a model nothing but words counts, and the order is that of full text.

Weights were fitted so that exp(score) is proportional to the probability that a record holds what
was asked (`python -m bench.evaluate fit`, docs/evaluation.md). So a record's share of that, among
all that were found and `NOTHING`, is its confidence: nothing more is calibrated.

Scores are rounded before anything is ordered by them, so that the order is the same everywhere.
"""

from typing import Any, Final, NamedTuple

from memoranda.recall.arrays import NDArray, np
from memoranda.recall.bm25 import logarithm

Numbers = NDArray[Any]

STEPS: Final = float(1 << 20)
"""Scores are whole multiples of one part in so many."""


class Evidence(NamedTuple):
    """What is known of some records and a question: arrays with a place for every record."""

    own: Numbers
    """What the question's words weigh in the record itself, as a part of what they could."""
    around: Numbers
    """The same with each word where it weighs most: in the record, or near it in its thread."""
    said_by: Numbers
    """1 where the question names who says it."""
    in_time: Numbers
    """1 where it was said at the time that the question names."""
    length: Numbers
    """Tokens."""
    is_question: Numbers
    """1 where it ends as a question does."""
    answers: Numbers
    """`own` of the record before it, where that is a question."""
    alike: Numbers
    """How near it is in meaning, or what stands next to it: in deviations from the mean."""


class ThreadWeights(NamedTuple):
    """What each number counts where records stand in threads."""

    relative: float
    """`around`, as a part of the best."""
    root: float
    """The root of `around`: the first words tell the most."""
    said_by: float
    in_time: float
    length: float
    """For each doubling."""
    is_question: float
    answers: float
    alike: float


IN_THREADS: Final = ThreadWeights(
    relative=3.4,
    root=5.6,
    said_by=2.6,
    in_time=4.7,
    length=0.67,
    is_question=-0.55,
    answers=3.3,
    alike=0.77,
)


class AloneWeights(NamedTuple):
    """What counts where records stand alone."""

    words: float
    """`own`, as a part of the best, where words can be trusted."""
    alike: float
    """One deviation, for the part of the question that words don't cover."""
    untrusted: float
    """The same once more, where words can't be trusted at all."""
    is_question: float
    length: float


ALONE: Final = AloneWeights(words=7.0, alike=0.9, untrusted=1.5, is_question=-0.9, length=1.1)

TRUSTED: Final = 1 / 3
"""The part of a question that the best record has, from which on words can be trusted."""

COVERED: Final = 1.9
"""A record that has each word once reaches about 1 / `COVERED` of what BM25 could give it."""

NOTHING: Final = 10.5
"""The score of the answer not being there at all, where records stand alone."""

NOTHING_BY_WORDS: Final = 4.0
"""The same without a model, where words alone make the score."""

NOTHING_IN_THREADS: Final = 8.5
"""The same where records stand in threads."""

TYPICAL: Final = 550
"""Records in a scope, about, where that was measured."""

IN_A_CROWD: Final = 2.0
IN_A_FEW: Final = 0.3
"""How `nothing` rises with the logarithm of how many more records there are, and falls with less.

Among more of them, more are near the question by chance.
"""

SHARPER: Final = 1.2
"""What scores in threads count for confidence without a model, whose part they lack."""

HIGHEST: Final = 0.99
"""No guess is certain."""

UNHEARD: Final = 0.2
"""What is left of a confidence where the question names somebody whom the scope doesn't know."""

NARROWEST: Final = 0.02
"""The least of a standard deviation."""

FEW: Final = 8
MOST_ALIKE: Final = 6.0
_LONGEST: Final = 63
_LONG_ENOUGH: Final = 23


def in_threads(found: Evidence, weights: ThreadWeights = IN_THREADS) -> Numbers:
    """Scores of records that stand in threads."""
    best = found.around.max(initial=0.0)
    relative = found.around / best if best > 0 else found.around
    return rounded(
        relative * weights.relative
        + np.sqrt(found.around) * weights.root
        + found.said_by * weights.said_by
        + found.in_time * weights.in_time
        + np.log2(1.0 + np.minimum(found.length, _LONGEST)) * weights.length
        + found.is_question * weights.is_question
        + found.answers * weights.answers
        + found.alike * weights.alike
    )


def alone(found: Evidence, weights: AloneWeights = ALONE) -> Numbers:
    """Scores of records that stand alone; without a model, in the order of full text."""
    own = found.own * (1.0 + found.in_time) * (1.0 + found.said_by / 2)
    best = float(own.max(initial=0.0))
    trust = min(best / TRUSTED, 1.0)
    words = weights.words * trust * (own / best if best > 0 else own)
    if not found.alike.any():
        return rounded(words)
    left = np.maximum(1.0 - own * COVERED, 0.0)
    deviation = weights.alike + weights.untrusted * (1.0 - trust)
    return rounded(
        words
        + found.alike * left * (deviation + found.is_question * weights.is_question)
        + np.log2(1.0 + np.minimum(found.length, _LONG_ENOUGH)) * weights.length
    )


def nothing_among(documents: int, nothing: float) -> float:
    """The score of the answer not being there, among so many records."""
    more = logarithm(max(documents, 1)) - logarithm(TYPICAL)
    return nothing + more * (IN_A_CROWD if more > 0 else IN_A_FEW)


class Unrelated(NamedTuple):
    """How near a question is to texts that have nothing to do with it, to some model."""

    mean: float
    spread: float


def deviations(
    similarities: Numbers, unrelated: Unrelated | None = None, among: Numbers | None = None
) -> Numbers:
    """How far above the mean each is, in standard deviations, from 0 to `MOST_ALIKE`.

    The mean is that of `among`, of which these are some; of themselves, if it is not given.

    Whatever model it is: how near all texts of a language are to each other is each model's affair.
    Of two texts one is above their mean, whatever they are: where the model says how near unrelated
    texts are, that counts like `FEW` texts more.
    """
    every = similarities if among is None else among
    if not len(similarities) or not len(every):
        return similarities
    number, mean = len(every), float(every.mean())
    variance = float(every.var())
    if unrelated is not None:
        own = number / (number + FEW)
        mean = mean * own + unrelated.mean * (1 - own)
        variance = variance * own + unrelated.spread**2 * (1 - own)
    found: Numbers = (similarities - mean) / max(variance**0.5, NARROWEST)
    clipped: Numbers = np.round(np.clip(found, 0.0, MOST_ALIKE), 3)
    return clipped


def confidences(scores: Numbers, nothing: float, *, is_unheard: bool = False) -> Numbers:
    """The probability of each to hold what was asked: its share of all, `nothing` among them."""
    if not len(scores):
        return scores
    highest = max(float(scores.max()), nothing)
    shares = np.exp(scores - highest)
    found = shares / (shares.sum() + np.exp(nothing - highest))
    sure: Numbers = np.minimum(found * (UNHEARD if is_unheard else 1.0), HIGHEST)
    return np.round(sure, 6)


def rounded(scores: Numbers) -> Numbers:
    found: Numbers = np.rint(scores * STEPS) / STEPS
    return found
