"""A store shaped like LangGraph's `BaseStore`: namespaces, filters, batches in one transaction."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from memoranda import Memory, MemoryFilter

Namespace = tuple[str, ...]
Value = dict[str, Any] | None


class Item(NamedTuple):
    namespace: Namespace
    key: str
    value: Value
    """None in a batch says that it goes."""


class GraphStore:
    """The id of an item is ``a.b..key``, its tag ``a.b.``: a label has no dot in it."""

    def __init__(self, memory: Memory[Any]) -> None:
        self._memory = memory

    async def put(self, namespace: Namespace, key: str, value: dict[str, Any]) -> None:
        await self.batch([Item(namespace, key, value)])

    async def get(self, namespace: Namespace, key: str) -> Item | None:
        found = await self._memory.get(f"{_path(namespace)}.{key}")
        return None if found is None else Item(namespace, key, found.data)

    async def delete(self, namespace: Namespace, key: str) -> None:
        await self.batch([Item(namespace, key, None)])

    async def search(
        self, prefix: Namespace = (), *, filter: Value = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        where = {"data." + key.replace(".", "\\."): asked for key, asked in (filter or {}).items()}
        asked = MemoryFilter(id_prefix=_path(prefix), where=where, limit=limit, offset=offset)
        found = await self._memory.records.query(asked)
        split = [(one.id.partition(".."), one.data) for one in found]
        return [Item(tuple(path.split(".")), key, value) for (path, _, key), value in split]

    async def batch(self, ops: Sequence[Item]) -> None:
        async with self._memory.batch(reason="an operation of the graph") as batch:
            for namespace, key, value in ops:
                if value is None:
                    batch.forget(f"{_path(namespace)}.{key}")
                else:
                    batch.put(f"{_path(namespace)}.{key}", value, tags=[_path(namespace)])

    async def list_namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        tags = await self._memory.records.tags(_path(prefix))
        return [tuple(tag.rstrip(".").split(".")) for tag in tags]


def _path(namespace: Namespace) -> str:
    return "".join(f"{label}." for label in namespace)
