"""Finding the items of a session in PostgreSQL, in one trip."""

from typing import Any, Final

from memoranda.kernel.errors import ItemDamaged
from memoranda.kernel.json import MAX_INTEGER
from memoranda.plans.items import (
    RetrievedItem,
    first_of_each,
)
from memoranda.stores.items import StoredItems, asked
from memoranda.stores.statements import Statement, Texts

_SEARCH: Final = Statement(
    "",
    "SELECT id, body FROM memoranda.search_items("
    ":journal, :origin, :session, :grams, :folded, :marked, :before, :most)",
)
_MORE: Final = 4


class PostgresItems(StoredItems):
    """The items of one session."""

    async def _found(self, query: str, top_k: int) -> list[RetrievedItem]:
        grams, folded, marked, before = asked(query)
        values: dict[str, Any] = {"grams": Texts(grams), "before": Texts(before)}
        values |= {"session": self._session_ref, "folded": folded, "marked": marked}
        most = min(top_k, MAX_INTEGER)
        while True:
            items = await self._rows.rows(self._made, _SEARCH, most=most, **values)
            distinct = first_of_each(items)
            if len(items) < most or len(distinct) >= top_k:
                return distinct[:top_k]
            most *= _MORE  # some said the same as others

    def _made(self, row: Any) -> RetrievedItem:
        id, body = row
        if body is None:
            raise ItemDamaged(str(id), "its keywords are there, and it is not")
        return self._retrieved(id, body)
