"""The directory: a journal over the journals of a database, so that none can vanish whole.

Each checkpoint of a scope's journal is also an entry of the directory, whose body names the
journal, its size and its root. The directory has a chain, a tree and checkpoints like any other
journal, grows like one, and can be kept by any anchor or witness. A scope that was removed, cut
off or put back is still named there.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from memoranda.identity import canonical_bytes, decode
from memoranda.identity.merkle import HASH_SIZE
from memoranda.kernel.errors import InvalidCheckpoint, InvalidJson
from memoranda.ledger.anchor import Claim
from memoranda.ledger.checkpoint import Checkpoint
from memoranda.ledger.tree import Block, Blocks

SCOPE: Final = ""
"""The scope of the directory itself; no user can open one of this name."""

TYPE: Final = "ScopeHead"


@dataclass(frozen=True, slots=True)
class ScopeHead:
    """The size and root that a scope's journal had."""

    scope: str
    origin: str
    size: int
    root: bytes

    @property
    def body(self) -> bytes:
        return canonical_bytes(
            {
                "type": TYPE,
                "scope": self.scope,
                "origin": self.origin,
                "size": self.size,
                "root": self.root.hex(),
            }
        )

    @property
    def claim(self) -> Claim:
        """What the directory claims of the journal, to be settled like any other claim."""
        checkpoint = Checkpoint(self.origin, self.size, self.root)
        return Claim(f"the directory, of {self.scope!r}", checkpoint, "unsigned")


def read_head(body: bytes) -> ScopeHead:
    """The head that an entry of the directory names, or InvalidCheckpoint."""
    try:
        document = decode(body)
    except InvalidJson as refused:
        raise InvalidCheckpoint("a head", refused.why) from None
    match document:
        case {
            "type": "ScopeHead",
            "scope": str(scope),
            "origin": str(origin),
            "size": int(size),
            "root": str(root),
        } if len(root) == 2 * HASH_SIZE:
            with suppress(ValueError):  # not hexadecimal: refused below
                return ScopeHead(scope, origin, size, bytes.fromhex(root))
    raise InvalidCheckpoint("a head", "it does not name a scope, an origin, a size and a root")


def newest_heads(bodies: Iterable[bytes]) -> Mapping[str, ScopeHead]:
    """The last head that a directory names for each origin."""
    heads = {}
    for body in bodies:
        head = read_head(body)
        heads[head.origin] = head
    return heads


# ------------------------------------------------------------------------------------------------
# The port to many journals of one database at once: what their checkpoints need.
#
# A database may have thousands of scopes that were written to since their last checkpoints. They
# are read together and their notes are kept together: a few calls for all, not a few for each.


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
