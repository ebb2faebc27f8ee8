"""A history: all executions of a scope, replayed one after the other.

This is the regression test that users get for free: a change of code that would alter a world that
was sealed long ago is found before it is in use.
"""

from collections.abc import AsyncGenerator
from typing import Final

from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.replayable import replayable
from memoranda.journeys.intent.replaying import Replay, Replayer
from memoranda.journeys.intent.runtime import Runtime
from memoranda.kernel.errors import WorldNotFound

EXECUTIONS: Final = names.execution("")


class History:
    """What one scope's journal says was run; it reads, and writes nothing."""

    def __init__(self, chronicle: Chronicle, runtime: Runtime) -> None:
        """CapabilityMissing for a host that can't be replayed."""
        self._chronicle = chronicle
        self._replayer = Replayer(chronicle, replayable(runtime))

    async def size(self) -> int:
        """How many executions there are."""
        return len(await self._chronicle.named(EXECUTIONS))

    async def replay(self, id: str) -> Replay:
        """Replay one execution, that of a proposal, or the first that reached a world."""
        if await self._chronicle.is_there(names.proposal(id)):
            id = names.execution_key(id)
            if not await self._chronicle.is_there(names.execution(id)):
                raise WorldNotFound("execution that ended", id)
        if await self._chronicle.is_there(names.execution(id)):
            return await self._replayer.execution(id)
        return await self._replayer.world(id)

    def branch(self, name: str) -> AsyncGenerator[Replay, None]:
        """Replay what moved the head of a branch, the first one first."""
        return self._replayer.branch(name)

    async def whole(self) -> AsyncGenerator[Replay, None]:
        """Replay everything: branch by branch, then what moved no head, such as what failed."""
        done = set()
        for name in await self._chronicle.named(names.BRANCHES):
            async for replay in self.branch(name):
                done.add(replay.execution_key)
                yield replay
        for key in await self._chronicle.named(EXECUTIONS):
            if key not in done:
                yield await self._ended(key)

    async def _ended(self, key: str) -> Replay:
        try:
            return await self._replayer.execution(key)
        except WorldNotFound:
            return Replay(
                key, "not run", why="it has not ended yet: `memoranda worlds resume` goes on"
            )
