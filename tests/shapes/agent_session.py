"""A conversation shaped like the `Session` of the OpenAI Agents SDK."""

from typing import Any

from memoranda import Memory, MemoryFilter
from memoranda.errors import VersionConflict

SessionItem = dict[str, Any]


class AgentSession:
    """The items of one session, in the order in which they were added."""

    def __init__(self, session_id: str, memory: Memory[Any]) -> None:
        self.session_id = session_id
        self._memory = memory

    async def add_items(self, items: list[SessionItem]) -> None:
        await self._memory.remember_many(items, thread=self.session_id)

    async def get_items(self, limit: int | None = None) -> list[SessionItem]:
        return [one.data for one in reversed(await self._newest(limit))]

    async def pop_item(self) -> SessionItem | None:
        while newest := await self._newest(1):
            (last,) = newest
            try:
                await self._memory.forget(last.id, reason="popped", expected_version=last.version)
            except VersionConflict:
                continue  # somebody else has it
            return last.data  # type: ignore[no-any-return]
        return None

    async def clear_session(self) -> None:
        await self._memory.records.forget_where(
            MemoryFilter(thread=self.session_id), reason="cleared"
        )

    async def _newest(self, limit: int | None) -> Any:
        return await self._memory.list(thread=self.session_id, order_by="entry", limit=limit)
