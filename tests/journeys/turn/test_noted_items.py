"""What a cycle is given is noted by the cycles that it came from, also while these are erased."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from memoranda.journeys.turn.cycle import NotedItems
from memoranda.kernel.errors import ItemDamaged
from memoranda.ledger.attachments import OriginOf, StoredItem
from memoranda.plans.items import RetrievedItem

ITEM = RetrievedItem(
    id="6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a10",
    summary="the refund was paid",
    timestamp="2026-11-16T08:00:00.000Z",
)


class ForgetfulItems:
    """Finds something else each time it is asked, and knows where what it has came from."""

    def __init__(self, *finds: Sequence[RetrievedItem], origins: Sequence[OriginOf] = ()) -> None:
        self._finds = list(finds)
        self._origins = origins
        self.kept: list[StoredItem] = []

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        _ = query, top_k
        return self._finds.pop(0)

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        _ = session_ref, ids
        return list(self._origins)

    @property
    def ledger(self) -> Any:
        """A ledger that has nothing but this."""
        return SimpleNamespace(origins=self)

    async def is_index_whole(self, session_ref: str) -> bool:
        _ = session_ref
        return True

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        _ = session_ref, ids
        return self.kept

    async def salt(self, cycle: str) -> bytes | None:
        _ = cycle
        return None

    async def items(self, cycle: str) -> list[str]:
        _ = cycle
        return []


async def test_the_cycles_of_what_is_found_are_noted() -> None:
    items = ForgetfulItems([ITEM], origins=[OriginOf("c-1", 7, 1)])
    noted = NotedItems(items, items.ledger, "s1")

    assert await noted.search("refund", 3) == [ITEM]
    assert noted.sources == {"c-1": 7}


@pytest.mark.rule("GOV-FORGET")
async def test_what_is_erased_before_its_origin_is_read_is_not_given() -> None:
    items = ForgetfulItems([ITEM], [])
    noted = NotedItems(items, items.ledger, "s1")

    assert await noted.search("refund", 3) == []
    assert noted.sources == {}


@pytest.mark.rule("ING-PARTIAL")
async def test_what_is_of_no_cycle_is_not_given() -> None:
    items = ForgetfulItems([ITEM], [ITEM])
    items.kept = [StoredItem("s1", ITEM.id, b"{}", None, None)]

    with pytest.raises(ItemDamaged) as caught:
        await NotedItems(items, items.ledger, "s1").search("refund", 3)

    assert caught.value.item == ITEM.id
