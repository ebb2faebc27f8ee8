"""A reasoning phase on a server: what is read in it is noted here, what is recalled stands there.

The server knows a phase by its name alone. Each recall in it carries that name, and so does the
proposal, which rests on all of them and closes it (M-2, M-3). That nothing was read past a recall
is checked where the code runs that lies in the phase.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from memoranda.app.memory import Memory
from memoranda.journeys.govern.objects import Remembered
from memoranda.journeys.intent import names
from memoranda.journeys.intent.requests import ABSENT, Run, Submitted, Trace, request_of
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.reasoning import Phase, Reasoning
from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.json import JsonValue
from memoranda.records.model import StoredMemoryRecord

T = TypeVar("T")


class RemoteReasoning(Reasoning[T]):
    """One reasoning phase on a server: recall in it, then propose or act through it."""

    def __init__(self, phase: Phase[T], branch: str, memory: Memory[T]) -> None:
        async def recall(query: str, **asked: Any) -> Recalled[T]:
            return await memory.recall(query, **{"branch": branch, **asked})

        super().__init__(phase, branch, cast("Any", None), recall, memory.journal.original)
        self._memory = memory

    @property
    def actor(self) -> ActorRef:
        """Who reasons, and proposes."""
        return self._memory.actor

    async def propose(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Propose an action with all that was recalled, and close the phase (M-2, M-3)."""
        async with self._phase.submitting(
            request_of(action, input, reason, paths, self.actor, hints)
        ):
            return await self._memory.worlds.propose(
                action, input, reason=reason, branch=self.branch, paths=paths, hints=hints,
                idempotency_key=idempotency_key, **self._rests_on(),
            )  # fmt: skip

    async def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        wait: float = 0.0,
        idempotency_key: str | None = None,
    ) -> Run:
        """The same, and run it once it is approved."""
        async with self._phase.submitting(
            request_of(action, input, reason, paths, self.actor, hints)
        ):
            return await self._memory.act(
                action, input, reason=reason, wait=wait, branch=self.branch, paths=paths,
                hints=hints, idempotency_key=idempotency_key, **self._rests_on(),
            )  # fmt: skip

    def _rests_on(self) -> dict[str, Any]:
        """All recalls of the phase, by its name; a phase without any is unknown to the server."""
        return {"reasoning_id": self.id} if self.recalled else {"memory": ()}


def memory_in(result: object) -> Iterable[str]:
    """The memory that an answer shows, as a phase notes what was read."""
    match result:
        case Recalled():
            return [item.source for item in result.selected_items]
        case Remembered() | StoredMemoryRecord():
            return [result.id]
        case Original():
            return [result.source]
        case Run(execution_key=str(key)):
            return [names.execution(key)]
        case list() | tuple():
            return [id for one in result for id in memory_in(one)]
        case _:
            return ()
