"""Who asks, and what they may: a principal is an actor in a scope with rights.

A door makes one of a key, and never of what a request says of itself.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, get_args

from memoranda.kernel.errors import IdentityRefused, InvalidOption, RightMissing

Right = Literal["read", "write", "decide", "erase", "maintain"]
"""What an operation may need: to read memory, recall included; to write it, and to propose and run
actions; to decide about what others propose or say; to erase; to see to the scope itself."""

RIGHTS: Final[tuple[Right, ...]] = get_args(Right)


WriterTrust = Literal["untrusted", "unreviewed"]
"""How far it is trusted what somebody states: who writes approves of nothing by that."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever asks through a door: one actor, in one scope, with these rights."""

    actor: str
    scope: str
    rights: frozenset[Right]
    key_id: str | None = None
    """The key that it was made of; None for whoever is let in without."""
    per_minute: int | None = None
    """How many requests a minute its key may make; None where the server's own limit holds."""
    trust: WriterTrust = "unreviewed"
    """How far it is trusted what it writes."""

    def check_right(self, operation: str, right: Right) -> None:
        """Refuse with RightMissing what needs another right."""
        if right not in self.rights:
            raise RightMissing(operation, right)

    def check_identity(self, *, scope: str | None = None, actor: str | None = None) -> None:
        """Refuse with IdentityRefused a request that names another scope or actor."""
        if scope is not None and scope != self.scope:
            raise IdentityRefused("scope")
        if actor is not None and actor != self.actor:
            raise IdentityRefused("actor")


class StoredKey(NamedTuple):
    """A key as a database has it: never the key itself."""

    id: str
    digest: bytes
    scope: str
    actor: str
    rights: str
    """Their names, with spaces between them."""
    trust: WriterTrust
    name: str
    per_minute: int | None
    created_at: int
    expires_at: int | None
    revoked_at: int | None


class KeyRows(Protocol):
    """The keys of one database."""

    async def add_key(self, key: StoredKey) -> None:
        """Keep a new key."""
        ...

    async def key(self, id: str) -> StoredKey | None:
        """The key of this id."""
        ...

    async def keys(self) -> list[StoredKey]:
        """All keys, revoked ones too, the oldest first."""
        ...

    async def has_keys(self) -> bool:
        """Whether there ever was a key."""
        ...

    async def revoke_key(self, id: str, at: int) -> bool:
        """Note that a key is no longer good; False if there is none, or it was so before."""
        ...

    async def take_requests(self, id: str, minute: int, count: int, limit: int) -> bool:
        """Count requests of a key in a minute, whoever else counts; False beyond the limit."""
        ...


def check_rights(given: Collection[str]) -> frozenset[Right]:
    """The rights of these names; InvalidOption for none, or for one that there is not."""
    known = ", ".join(RIGHTS)
    if isinstance(given, str) or not isinstance(given, Collection) or not given:
        raise InvalidOption("rights", f"name some of {known}")
    for name in given:
        if name not in RIGHTS:
            raise InvalidOption("rights", f"there is no {name!r}; name some of {known}")
    return frozenset(right for right in RIGHTS if right in given)
