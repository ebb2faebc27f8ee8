"""What a cycle is run with so that it can be recorded and run again: one time, all of it noted."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from recollect.kernel.clock import Clock
from recollect.ledger.beside import Origins
from recollect.plans.items import ItemSearch, RetrievedItem
from recollect.plans.models import Model, Prompt, Settings


class OneTime:
    """The time of a cycle: read once, when it is first asked for, and the same from then on.

    So the items, the session and the entry of a cycle are of one time, and a replay has it too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._now: int | None = None

    def now_ms(self) -> int:
        """The time of the cycle."""
        if self._now is None:
            self._now = self._clock.now_ms()
        return self._now


class NotedModel:
    """A model whose answers are noted, in the order of the calls."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.answers: list[str] = []

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The whole answer."""
        answer = await self._model.complete(prompt, settings)
        self.answers.append(answer)
        return answer

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same answer in pieces; it is noted when it has ended."""
        pieces = []
        async with aclosing(self._model.stream(prompt, settings)) as stream:
            async for piece in stream:
                pieces.append(piece)
                yield piece
        self.answers.append("".join(pieces))


class NotedItems:
    """The items of a session, where it is noted which cycles had stored what is found.

    A cycle is made from these: when one of them is erased, it goes as well.
    """

    def __init__(self, items: ItemSearch, origins: Origins, session_ref: str) -> None:
        self._items = items
        self._origins = origins
        self._session_ref = session_ref
        self.sources: dict[str, int | None] = {}

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items that are found.

        What is of no cycle was stored past all of them, or erased since it was found: then it is
        not found again.
        """
        found = await self._items.search(query, top_k)
        while found:
            ids = [item.id for item in found]
            origins = await self._origins.of(self._session_ref, ids)
            if sum(one.items for one in origins) < len(ids):
                again = await self._items.search(query, top_k)
                if again != found:
                    found = again
                    continue
            self.sources.update((one.cycle, one.seq) for one in origins)
            break
        return found
