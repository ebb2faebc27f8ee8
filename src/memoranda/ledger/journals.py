"""The port to many journals of one database at once: what their checkpoints need.

A database may have thousands of scopes that were written to since their last checkpoints. They are
read together and their notes are kept together: a few calls for all, not a few for each.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from memoranda.ledger.tree import Block, Blocks


class NotedHead(NamedTuple):
    """How long the journal of a scope is, and how long it was at its newest kept checkpoint."""

    scope: str
    origin: str
    size: int
    noted: int | None
    """None where no checkpoint is kept."""


class NewNote(NamedTuple):
    """A checkpoint's note that is to be kept with the journal of this scope and origin."""

    scope: str
    origin: str
    size: int
    note: str
    at: int


class Journals(Protocol):
    """The journals of one database; that of the directory is under the scope of no name."""

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        """The heads of these scopes' journals; those that have none are left out."""
        ...

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        """Blocks of the trees of these scopes, as stored or as they follow from the entries."""
        ...

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        """Keep notes in one transaction; one of the same journal and size is replaced.

        One whose scope has no journal of its origin is left out: the database was replaced.
        """
        ...
