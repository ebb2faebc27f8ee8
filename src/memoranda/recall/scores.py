"""What a record has of a question, added up: a score, and the probability that it is the answer.

Where records stand in threads, eight numbers are added with fixed weights (`IN_THREADS`): how much
of the question stands in the record or around it, who says it, when, how long it is, whether it is
a question itself or follows one that has the words, and how near it is in meaning. Where they stand
alone, what a record has of the question counts (BM25 as a part of what the question could reach),
and meaning fills what is left: a record that has all words needs no model to be found.

Weights were fitted so that exp(score) is proportional to the probability that a record holds what
was asked (`python -m bench.evaluate fit`, docs/evaluation.md). So a record's share of that, among
all that were found and `NOTHING`, is its confidence: nothing more is calibrated.

Scores are rounded before anything is ordered by them, so that the order is the same everywhere.
"""

from typing import Any, Final, NamedTuple

from memoranda.recall.arrays import NDArray, np

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
    root=6.6,
    said_by=2.6,
    in_time=4.7,
    length=0.56,
    is_question=-0.34,
    answers=3.6,
    alike=0.54,
)

ALONE: Final = 7.0
"""What a record that has all words of the question scores, where records stand alone."""

FILLS: Final = 0.15
"""What one deviation of meaning counts for the part of a question that words don't cover."""

COVERED: Final = 1.9
"""A record that has each word once reaches about 1 / `COVERED` of what BM25 could give it."""

NOTHING: Final = 2.5
"""The score of the answer not being there at all, where records stand alone."""

NOTHING_IN_THREADS: Final = 8.5
"""The same where they stand in threads, whose scores are higher."""

SHARPER: Final = 1.2
"""What scores in threads count for confidence without a model, whose part they lack."""

HIGHEST: Final = 0.99
"""No guess is certain."""

UNHEARD: Final = 0.2
"""What is left of a confidence where the question names somebody whom the scope doesn't know."""

FEWEST: Final = 0.02
MOST_ALIKE: Final = 6.0
_LONGEST: Final = 63


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


def alone(found: Evidence, fills: float = FILLS) -> Numbers:
    """Scores of records that stand alone; without a model, in the order of full text."""
    covered = found.own * COVERED * (1.0 + found.in_time) * (1.0 + found.said_by / 2)
    left = np.maximum(1.0 - covered, 0.0)
    return rounded(ALONE * (covered + fills * left * found.alike))


def deviations(similarities: Numbers) -> Numbers:
    """How far above the mean each is, in standard deviations, from 0 to `MOST_ALIKE`.

    Whatever model it is: how near all texts of a language are to each other is each model's affair.
    """
    if not len(similarities):
        return similarities
    spread = max(float(similarities.std()), FEWEST)
    found: Numbers = (similarities - similarities.mean()) / spread
    clipped: Numbers = np.round(np.clip(found, 0.0, MOST_ALIKE), 3)
    return clipped


def confidences(scores: Numbers, nothing: float = NOTHING, *, is_unheard: bool = False) -> Numbers:
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
