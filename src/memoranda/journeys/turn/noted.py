"""What a cycle is run with so that it can be recorded and run again: one time, all of it noted."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from memoranda.journeys.turn.bound import check_index, check_items
from memoranda.kernel.clock import Clock
from memoranda.ledger.beside import OriginOf
from memoranda.ledger.unit import Ledger
from memoranda.plans.items import ItemSearch, RetrievedItem
from memoranda.plans.models import Model, Prompt, Settings, identity_of

_Given = tuple[Sequence[str], list[OriginOf]]
"""The ids of items that were found at once, and the cycles that stored them."""


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


CHAT: Final = "chat"
SUMMARISER: Final = "summariser"
"""How models are called among those that memory rests on: who answers, and who sums up."""


class NotedModel:
    """A model whose answers are noted, in the order of the calls, and which one gave them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._role = CHAT
        self.answers: list[str] = []
        self.used: dict[str, set[str]] = {}
        """By role, the identities of the models that answered."""

    def for_summaries(self) -> "NotedModel":
        """The same model, asked for a summary: what it answers is noted with all else."""
        asked = NotedModel(self._model)
        asked._role, asked.answers, asked.used = SUMMARISER, self.answers, self.used
        return asked

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The whole answer."""
        answer = await self._model.complete(prompt, settings)
        self._note(answer, settings)
        return answer

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same answer in pieces; it is noted when it has ended."""
        pieces = []
        async with aclosing(self._model.stream(prompt, settings)) as stream:
            async for piece in stream:
                pieces.append(piece)
                yield piece
        self._note("".join(pieces), settings)

    def _note(self, answer: str, settings: Settings) -> None:
        self.answers.append(answer)
        self.used.setdefault(self._role, set()).add(identity_of(self._model, settings))


class NotedItems:
    """The items of a session, where it is noted which cycles had stored what is found.

    A cycle is made from these: when one of them is erased, it goes as well.
    """

    def __init__(self, items: ItemSearch, ledger: Ledger, session_ref: str) -> None:
        self._items = items
        self._ledger = ledger
        self._origins = ledger.origins
        self._session_ref = session_ref
        self._given: list[_Given] = []

    @property
    def sources(self) -> dict[str, int | None]:
        """The cycles that stored what was found, each with the newest entry of its name."""
        return {one.cycle: one.seq for _, origins in self._given for one in origins}

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items that are found, each compared with the fact of its cycle.

        What is of no cycle was stored past all of them, or erased since it was found: then it is
        not found again.
        """
        await check_index(self._ledger, self._session_ref)
        found = await self._items.search(query, top_k)
        while found:
            ids = [item.id for item in found]
            origins = await self._origins.of(self._session_ref, ids)
            if sum(one.items for one in origins) < len(ids):
                again = await self._items.search(query, top_k)
                if again != found:
                    found = again
                    continue
            await check_items(self._ledger, self._session_ref, found)
            self._given.append((ids, origins))
            break
        return found

    async def have_moved(self) -> bool:
        """Whether the names of the sources have other entries now, and their items are still there.

        So it is where another attempt at such a cycle failed after it had landed. From then on
        `sources` says how it is now. A cycle that was erased has no items any more, and one that
        landed anew has others.
        """
        before = self.sources
        now = [(ids, await self._origins.of(self._session_ref, ids)) for ids, _ in self._given]
        if list(map(_items_of, now)) != list(map(_items_of, self._given)):
            return False
        self._given = now
        return self.sources != before


def _items_of(given: _Given) -> list[tuple[str, int]]:
    """How many of these items each cycle stored, whatever the entries of its name are."""
    return [(one.cycle, one.items) for one in given[1]]
