"""Newer counts more: a weight that any ranking can be multiplied with.

Hyperbolic, not exponential: what is old is worth less, and never nothing. Halves once, after the
time given; after ten times that a tenth is left.
"""

from collections.abc import Iterable

from memoranda.recall.bm25 import Scored
from memoranda.recall.selector import in_order


def freshness(age: int, half_after: int) -> float:
    """1 for what is new or of the future, 1/2 at `half_after`, falling towards 0."""
    if half_after <= 0:
        raise ValueError("half_after is a time in milliseconds, above 0")
    return half_after / (half_after + max(age, 0))


def weighed_by_recency(found: Iterable[Scored], *, at: int, half_after: int) -> list[Scored]:
    """What was found, its scores weighed by how new it is. Confidence and reasons stay.

    Confidence says how well a record fits the question; its age doesn't change that.
    """
    weighed = (
        scored._replace(score=scored.score * freshness(at - scored.created_at, half_after))
        for scored in found
    )
    return in_order(weighed)
