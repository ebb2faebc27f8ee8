"""How well a scope is found, measured with questions whose answers somebody knows.

Each question is asked as anybody asks, and leaves its trace: an evaluation is on record, too.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.errors import InvalidFilter
from memoranda.kernel.results import Result
from memoranda.recall.figures import AT, Figures, Graded, figures
from memoranda.recall.selector import check_query
from memoranda.text import fold


class KnownAnswer(NamedTuple):
    """A question, and the ids or texts of the records that answer it: none, if nothing does."""

    question: str
    answers: Sequence[str] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Evaluated(Result):
    """What the questions came to, and which of them found no answer among the first ten."""

    figures: Figures
    missed: Sequence[str]

    def wire_members(self) -> Mapping[str, object]:
        """The figures by their names, and the questions that were missed."""
        return {**self.figures.document(), "missed": list(self.missed)}


async def evaluate(
    recall: Callable[[str, int], Awaitable[Recalled[Any]]], questions: Sequence[KnownAnswer]
) -> Evaluated:
    """Ask every question, and count what of its answers is found.

    An answer is named by its id or by its text; of texts, case and white space don't count.
    """
    if not isinstance(questions, Sequence) or not questions:
        raise InvalidFilter("questions", "a list of questions is wanted, at least one")
    for asked in questions:
        if not isinstance(asked, KnownAnswer):
            raise InvalidFilter("questions", "each is a KnownAnswer: a question and its answers")
        check_query(asked.question)
    graded, missed = list[Graded](), list[str]()
    for question, answers in questions:
        found = await recall(question, AT[-1])
        wanted = frozenset(map(_folded, answers))
        names = [_name(wanted, item.id, item.text) for item in found]
        graded.append(Graded(wanted, names, [item.confidence for item in found]))
        if wanted and wanted.isdisjoint(names[:_LOOKED_AT]):
            missed.append(question)
    return Evaluated(figures(graded), missed)


_LOOKED_AT = 10


def _name(wanted: frozenset[str], id: str | None, text: str) -> str:
    """What a record is called: its text, where that is asked for; else its id."""
    said = _folded(text)
    return said if said in wanted else _folded(id or "")


def _folded(text: str) -> str:
    return " ".join(fold(text).split())
