"""The directory: a journal over the journals of a database, so that none can vanish whole.

Each checkpoint of a scope's journal is also an entry of the directory, whose body names the
journal, its size and its root. The directory has a chain, a tree and checkpoints like any other
journal, grows like one, and can be kept by any anchor or witness. A scope that was removed, cut
off or put back is still named there.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from memoranda.identity import canonical_bytes, decode
from memoranda.identity.merkle import HASH_SIZE
from memoranda.kernel.errors import InvalidCheckpoint, InvalidJson
from memoranda.ledger.anchor import Claim
from memoranda.ledger.checkpoint import Checkpoint

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
        """The body of its entry in the directory."""
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
