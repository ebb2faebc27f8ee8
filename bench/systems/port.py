"""The port: what every system is asked to do, in its own best way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bench.workload import Item, Patch


class System(Protocol):
    """A store under measurement. Whatever a caller of it would prepare, it prepares inside."""

    async def create(self, item: Item) -> str:
        """Store one record durably; the key to find it by."""
        ...

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """Store many records at once; their keys in the same order."""
        ...

    async def get(self, key: str) -> object:
        """The record under this key, decoded; None without one."""
        ...

    async def update(self, key: str, patch: Patch) -> None:
        """Change one record durably."""
        ...

    async def delete(self, key: str, item: Item) -> None:
        """Delete one record durably."""
        ...

    async def query(self, tag: str) -> Sequence[object]:
        """The newest ten records with this tag, decoded."""
        ...

    async def bytes_on_disk(self) -> int:
        """What the records take on disk, indexes included and journals folded in."""
        ...


@runtime_checkable
class Settles(Protocol):
    """A system that leaves work for its spare time, which must not fall into another's turn."""

    async def settle(self) -> None:
        """Wait until nothing is left."""
        ...


@dataclass(slots=True)
class Contender:
    """A system by its name, with the keys of the records that it holds, by their number."""

    name: str
    system: System
    keys: list[str]
