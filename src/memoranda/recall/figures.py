"""How well a recall finds, in figures: of questions whose answers are known.

Recall at k is the part of the records that answer a question which is among the first k found; the
figure is the mean over all questions that have an answer. Calibration compares what a confidence
says with how often it was right: the mean of |said - right| over ten classes of confidence, each
counted by how many are in it.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from memoranda.recall.sureness import MAYBE

AT: Final = (3, 5, 10, 20)
"""Of how many results the figures are."""

_CLASSES: Final = 10


class Graded(NamedTuple):
    """A question that was asked: what answers it, and what was found, the best first."""

    wanted: frozenset[str]
    """Empty where it has no answer."""
    found: Sequence[str]
    confidences: Sequence[float] = ()


class Figures(NamedTuple):
    """What some questions came to. Parts are from 0 to 1."""

    questions: int
    unanswerable: int
    recall: tuple[float, ...]
    """At each of `AT`, of those that have an answer."""
    first: float
    """How often the first result answers."""
    reciprocal: float
    """The mean of 1 / rank of the first result that answers: MRR."""
    said: float
    """The mean confidence of the first result."""
    off_first: float
    """How far confidence is off for the first result: its calibration error."""
    off_all: float
    """The same for the first 20."""
    refused: float
    """Of those without an answer, how often nothing was found, or the first result is weak."""
    empty: int
    """How many of those with an answer found nothing at all."""

    def document(self) -> dict[str, object]:
        """The same for machines; parts are rounded to four digits."""
        parts = {f"recallAt{k}": part for k, part in zip(AT, self.recall, strict=True)}
        named = {
            "precisionAt1": self.first,
            "reciprocalRank": self.reciprocal,
            "saidAt1": self.said,
            "offAt1": self.off_first,
            "offAt1To20": self.off_all,
            "refused": self.refused,
        }
        figures = {name: round(part, 4) for name, part in {**parts, **named}.items()}
        return {
            "questions": self.questions,
            "unanswerable": self.unanswerable,
            **figures,
            "empty": self.empty,
        }


def figures(graded: Sequence[Graded]) -> Figures:
    """What was found, counted."""
    answerable = [one for one in graded if one.wanted]
    others = [one for one in graded if not one.wanted]
    ranks = [_first_right(one) for one in answerable]
    sure = [one.confidences[0] for one in graded if one.confidences]
    return Figures(
        len(graded),
        len(others),
        tuple(_mean([_part(one, k) for one in answerable]) for k in AT),
        _mean([float(rank == 1) for rank in ranks]),
        _mean([1 / rank if rank else 0.0 for rank in ranks]),
        _mean(sure),
        _off(graded, 1),
        _off(graded, AT[-1]),
        _mean([float(not one.found or _first_sure(one) < MAYBE) for one in others]),
        sum(not one.found for one in answerable),
    )


def _part(graded: Graded, k: int) -> float:
    return len(graded.wanted.intersection(graded.found[:k])) / len(graded.wanted)


def _first_right(graded: Graded) -> int:
    """The rank of the first result that answers; 0 if none of the first 20 does."""
    found = enumerate(graded.found[: AT[-1]], 1)
    return next((rank for rank, id in found if id in graded.wanted), 0)


def _first_sure(graded: Graded) -> float:
    return graded.confidences[0] if graded.confidences else 1.0


def _off(graded: Sequence[Graded], ranks: int) -> float:
    """How far confidence is off, over the first so many results of each question."""
    classes: list[list[tuple[float, bool]]] = [[] for _ in range(_CLASSES)]
    for one in graded:
        for id, sure in zip(one.found[:ranks], one.confidences[:ranks], strict=False):
            classes[min(int(sure * _CLASSES), _CLASSES - 1)].append((sure, id in one.wanted))
    total = sum(map(len, classes))
    return sum(
        len(members)
        / total
        * abs(_mean([said for said, _ in members]) - _mean([float(right) for _, right in members]))
        for members in classes
        if members
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# ------------------------------------------------------------------------------------------------
# Figures as a table, for people.

HEADER: Final = ("", "R@3", "R@5", "R@10", "R@20", "P@1", "MRR", "said@1", "ECE@1", "ECE@1-20")


def row(name: str, found: Figures) -> list[str]:
    """The cells of one line."""
    cells = [f"{part:.3f}" for part in (*found.recall, found.first, found.reciprocal)]
    return [name, *cells, *(f"{x:.3f}" for x in (found.said, found.off_first, found.off_all))]
