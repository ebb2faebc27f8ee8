"""One list of several: what two selectors find together.

No rule that sees only the lists can promise to be as good as the better of them: it doesn't know
which that is. What is promised here, and tested:

========================  =====================================================================
`fused`                   what no list scores lower and one scores higher stands higher; a list
                          without results changes nothing; a lead in the first list of more than
                          the weight of all others divided by its own, as a part of its best
                          score, is never overturned: with weights 0.7 and 0.3, a lead of 3/7
`interleaved`             the first n times k hold the first k of each of the n lists: at n*k it
                          finds no less than the better one at k
`reciprocal`              only ranks count (usual: k = 60); a list that is worse drags the better
                          one down, the more the more weight it has
========================  =====================================================================

So the list that is known to be better comes first, with more weight.
"""

from collections.abc import Mapping, Sequence
from typing import Final

Ranking = Sequence[tuple[str, float]]
"""Ids with their scores, the best first."""

MAIN: Final = 0.7
OTHER: Final = 0.3
RECIPROCAL_K: Final = 60


def fused(lists: Sequence[Ranking], weights: Sequence[float] = (MAIN, OTHER)) -> Ranking:
    """Ids by the weighed sum of their scores, each as a part of the best score of its list."""
    total: dict[str, float] = {}
    for ranking, weight in zip(lists, weights, strict=True):
        best = max((score for _, score in ranking), default=0.0)
        for id, score in ranking if best > 0 else ():
            total[id] = total.get(id, 0.0) + weight * max(score, 0.0) / best
    return _sorted(total)


def reciprocal(
    lists: Sequence[Ranking], weights: Sequence[float] = (1.0, 1.0), *, k: int = RECIPROCAL_K
) -> Ranking:
    """Ids by the weighed sum of 1 / (k + rank) (Cormack, Clarke and Büttcher 2009)."""
    total: dict[str, float] = {}
    for ranking, weight in zip(lists, weights, strict=True):
        for rank, (id, _) in enumerate(ranking, 1):
            total[id] = total.get(id, 0.0) + weight / (k + rank)
    return _sorted(total)


def interleaved(lists: Sequence[Ranking]) -> list[str]:
    """The first of each list, then the second of each, each id once."""
    longest = max(map(len, lists), default=0)
    turns = (one[turn][0] for turn in range(longest) for one in lists if turn < len(one))
    return list(dict.fromkeys(turns))


def _sorted(total: Mapping[str, float]) -> Ranking:
    return sorted(total.items(), key=lambda one: (-one[1], one[0]))
