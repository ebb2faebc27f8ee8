"""A provider that recalls from a memory store, whichever it is (D-MEM-3, MEM-INT-3).

Whatever the store does, the app that asks has its time limit and goes on without it (MEM-INT-4,
MEM-INT-5): nothing is caught or waited for here.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memoranda.kernel.errors import InvalidOption
from memoranda.kernel.json import JsonValue
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput
from memoranda.records.store import MemoryStore, check_store

TEXT: Final = "text"
"""The filter key of a store that finds records by what they say."""
FILTER: Final = "filter"
"""The hint that narrows a recall: a filter, under the names of the wire."""


class StoreProvider:
    """Recalls from a MemoryStore, and may keep there what was done.

    A recall returns up to `top_k` records as plain JSON, newest first: those that fit ``filter``
    and the hint ``filter`` of the action. A store that declares the filter key ``text`` is asked
    for what the action is about: the hint ``text``, or else the texts of its input. With
    ``remembers``, each experience becomes a record with these tags.
    """

    def __init__(
        self,
        store: MemoryStore[Any],
        *,
        top_k: int,
        filter: MemoryFilter | None = None,
        remembers: Sequence[str] | None = None,
    ) -> None:
        check_store(store)
        if type(top_k) is not int or top_k < 1:
            raise InvalidOption("top_k", f"{top_k!r} is not a number of records; give 1 or more")
        self._store = store
        self._top_k = top_k
        self._filter = filter or MemoryFilter()
        self._remembers = remembers

    async def recall(self, query: MemoryQuery) -> JsonValue:
        """The records that fit, as plain JSON; UnknownFilterKey for a hint the store can't heed."""
        hints = query.hints or {}
        asked = {
            **self._filter.model_dump(by_alias=True, exclude_unset=True),
            **hints.get(FILTER, {}),
            "limit": self._top_k,
        }
        text = hints.get(TEXT) or " ".join(_texts(query.intent.input))
        if text and TEXT in self._store.capabilities.filter_keys:
            asked[TEXT] = text
        found = await self._store.query(MemoryFilter.model_validate(asked))
        return [record.to_wire() for record in found]

    async def remember(self, experience: MemoryExperience) -> None:
        """Keep what was done as a record, if this provider is to."""
        if self._remembers is not None:
            record = MemoryRecordInput[Any](data=experience.to_wire(), tags=self._remembers)
            await self._store.create(record)


def _texts(value: JsonValue) -> Iterator[str]:
    """Every text in a JSON value, but for the names of its members."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
