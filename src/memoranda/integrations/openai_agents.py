"""The OpenAI Agents SDK's conversation memory: a `Session` over one scope.

The SDK asks for a protocol, so nothing of it is imported here.
"""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from memoranda import Memo, Memory, MemoryFilter
from memoranda.app.crossing import Crossing
from memoranda.errors import InvalidOption, VersionConflict
from memoranda.types import BlockingMemory

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings

R = TypeVar("R")

UNDONE: Final = "taken back by the runner"
CLEARED: Final = "the session was cleared"


class MemorandaSession:
    """A conversation that an agent goes on with; every item is an entry of the journal.

    ::

        async with memoranda.open("memory.db", scope="support", actor="agent:support") as memory:
            session = MemorandaSession("ticket/812", memory)
            await Runner.run(agent, "Hello!", session=session)

    Items are kept as they are, in their order. What the runner takes back, and what is cleared, is
    invalidated: history keeps it, and `memory.erase(subject=session.subject, …)` removes it for
    good. With ``indexed=True`` items are found by their words, also by `Memory.recall`. A blocking
    handle will do, too: then the session may be used from any event loop.
    """

    def __init__(
        self,
        session_id: str,
        memory: Memory[Any] | BlockingMemory[Any],
        *,
        session_settings: "SessionSettings | None" = None,
        indexed: bool = False,
    ) -> None:
        if not isinstance(session_id, str) or not session_id:
            raise InvalidOption("session_id", "a session is named by a text")
        self.session_id = session_id
        self.session_settings = session_settings
        self.subject: Final = f"session:{session_id}"
        self._indexed: Final = indexed
        self._crossing: Final = Crossing(memory)
        self._memory: Final = self._crossing.memory

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """The conversation, the first item first; with a limit, only so many of the last.

        Without one, that of the session's settings counts.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await self._crossing.here(self._items(limit))

    async def add_items(self, items: "Sequence[TResponseInputItem]") -> None:
        """Add items to the conversation, all of them or none."""
        await _outcome(self._crossing.here(self._add(items)))

    async def pop_item(self) -> "TResponseInputItem | None":
        """Take the last item back and return it; None if there is none."""
        return await _outcome(self._crossing.here(self._pop()))

    async def clear_session(self) -> None:
        """Take all items back."""
        await _outcome(self._crossing.here(self._clear()))

    async def _items(self, limit: int | None) -> list[Any]:
        if limit is not None and limit <= 0:
            return []
        found = await self._memory.list(
            tags=[self.subject], limit=limit, order_by="entry", order="desc"
        )
        return [one.data for one in reversed(found)]

    async def _add(self, items: "Sequence[TResponseInputItem]") -> None:
        if not items:
            return
        await self._memory.remember_many(
            [Memo(_plain(item), **_speaker(item)) for item in items],
            tags=[self.subject],
            subject=self.subject,
            thread=self.session_id,
            indexed=self._indexed,
        )

    async def _pop(self) -> Any:
        """Forget the last item; where another one was faster, the one before it."""
        while True:
            newest = await self._memory.list(
                tags=[self.subject], limit=1, order_by="entry", order="desc"
            )
            if not newest:
                return None
            (last,) = newest
            try:
                receipt = await self._memory.forget(
                    last.id, reason=UNDONE, expected_version=last.version
                )
            except VersionConflict:
                continue
            if receipt is not None:
                return last.data

    async def _clear(self) -> None:
        of_it = MemoryFilter(tags=(self.subject,))
        await self._memory.records.forget_where(of_it, reason=CLEARED)


def _plain(item: object) -> Any:
    """An item as JSON: the SDK hands over objects, and models of pydantic."""
    dump = getattr(item, "model_dump", None)
    return item if dump is None else dump(mode="json", exclude_unset=True)


def _speaker(item: object) -> dict[str, Any]:
    role = item.get("role") if isinstance(item, Mapping) else None
    return {"speaker": role} if isinstance(role, str) and role.strip() else {}


async def _outcome(work: Awaitable[R]) -> R:
    """What a change comes to, also for a caller that was cancelled meanwhile.

    It may have landed: whoever is told of a cancellation must not be told before that is known.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as stopped:
            cancelled = stopped
    if cancelled is not None:
        task.exception()  # it is known now; the caller asked for no answer
        raise cancelled
    return task.result()
