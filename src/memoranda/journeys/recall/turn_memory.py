"""Governed memory for turns: recalled like any other, as the step RecallMemory takes it."""

from typing import Any

from memoranda.journeys.intent import names
from memoranda.journeys.recall.reasoning import Recalling
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.kernel.clock import format_time
from memoranda.ledger.unit import Expected
from memoranda.plans.steps.context import MemoryAnswer, RecalledMemory


class TurnMemory:
    """Recalls for the turns of one actor in one scope (`journeys.turn.cycle.Recalls`)."""

    def __init__(self, recalling: Recalling[Any]) -> None:
        self._recalling = recalling

    async def recall(
        self, query: str, top_k: int, about: str | None
    ) -> tuple[MemoryAnswer, Expected]:
        """What a recall came to, and the entry of its trace."""
        found = await self._recalling.recall(query, top_k=top_k, about=about)
        return _answer(found), Expected(names.trace(found.trace_id), found.seq)


def _answer(found: Recalled[Any]) -> MemoryAnswer:
    notes = found.notes if found.error is None else [found.error, *found.notes]
    memories = [_memory(item) for item in found.selected_items]
    return MemoryAnswer(found.trace_id, found.outcome, memories, notes)


def _memory(item: Item[Any]) -> RecalledMemory:
    return RecalledMemory(
        id=item.id,
        text=item.text,
        timestamp=format_time(item.created_at),
        trust=item.trust,
        verified=item.verified,
    )
