"""What turns teach, compared with what is known by the rules of `learn` (`lessons`)."""

from collections.abc import Sequence
from typing import Any

from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.learn.lessons import Lessons, Teaching, Told
from memoranda.journeys.turn.cycle import Taught
from memoranda.ledger.unit import Draft
from memoranda.plans.facts import PERSON, ChatMessage
from memoranda.records.table import Note


class TurnLessons:
    """Compares for the turns of one actor in one scope (`journeys.turn.cycle.Teaches`)."""

    def __init__(self, lessons: Lessons, telling: Telling[Any], actor: str) -> None:
        self._lessons = lessons
        self._telling = telling
        self._actor = actor

    async def taught(self, said: Taught) -> Teaching:
        """What the facts of a turn come to: its cycle is their source, its session their thread."""
        message = ChatMessage(said.text, PERSON, said.subject, said.at)
        source, thread = {"uri": f"cycle:{said.cycle_id}"}, f"session:{said.session_ref}"
        told = [Told.of(fact, message, source, thread) for fact in said.facts]
        return await self._lessons.taught(told, Note(self._actor, said.at, None))

    async def tell(self, records: Sequence[Draft]) -> None:
        """Tell the hooks of new records."""
        await self._telling.tell(records)
