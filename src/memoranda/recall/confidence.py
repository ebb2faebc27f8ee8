"""How sure a selector is: the share of such results that were right, where that was measured.

A score alone is no measure: a question of ten words reaches more than one of two. So a score is
weighed by its share of what the question could reach at most, and

    confidence = evidence^n / (evidence^n + even^n),    evidence = score * score / bound

`even` is the evidence at which as many results were right as wrong, n how sharply that turns. Both
were read off the development conversations and rounded to the cautious side (the table is in
docs/evaluation.md): of the results with confidence p, about the part p was marked as evidence. On
other data it is an estimate that orders the same way: it rises with the score, and is never 1.

How many records there are to choose from counts as well. Where there are more than in the
conversations, `even` grows with the logarithm of their number: to tell one from a million takes
more evidence. Where there are fewer, the odds rise as their number falls: of three records, one in
three may be right before anything is known.
"""

from dataclasses import dataclass
from typing import Final

from memoranda.recall.bm25 import logarithm

HIGHEST: Final = 0.99
"""No guess is certain."""

MEASURED_AT: Final = 600
"""Records in a conversation, about, where it was measured."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where confidence is one half among `MEASURED_AT` records, and how sharply it turns there."""

    even: float
    power: int

    def confidence(self, score: float, bound: float, documents: int) -> float:
        """How sure a score is, given what the question could reach at most, and among how many."""
        if score <= 0 or bound <= 0:
            return 0.0
        more = logarithm(1 + documents) / logarithm(1 + MEASURED_AT)
        even = self.even * max(1.0, more)
        odds = max(1.0, MEASURED_AT / max(documents, 1))
        for _ in range(self.power):  # no pow: its last bit is the C library's
            odds *= score * score / bound / even
        return min(odds / (odds + 1), HIGHEST)
