"""The dict store for items: the definition of matching, run over everything."""

from collections.abc import Sequence

from memoranda.kernel.errors import RecordExists
from memoranda.plans.items import (
    MemoryItem,
    RetrievedItem,
    check_item,
    check_search,
    check_session_ref,
    retrieved,
)
from memoranda.plans.matching import ranked


class DictItems:
    """The items of one session in a dict (`ItemStore`). No call awaits: each is whole."""

    def __init__(self, session_ref: str) -> None:
        self._items: dict[str, MemoryItem] = {}
        self._session_ref = check_session_ref(session_ref)

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, best first (ING-MATCH)."""
        check_search(query, top_k)
        return [retrieved(item) for item in ranked(self._items.values(), query, top_k)]

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing."""
        checked = check_item(item, self._session_ref)
        if self._items.setdefault(checked.id, checked) != checked:
            raise RecordExists(checked.id)
