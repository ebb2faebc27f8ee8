"""Keys: each is for one actor in one scope, with rights; a database keeps only its digest."""

import hmac
import re
from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from memoranda.identity import sha256
from memoranda.journeys.govern.times import Moment, milliseconds_or_none
from memoranda.kernel.access import (
    KeyRows,
    Principal,
    Right,
    StoredKey,
    WriterTrust,
    check_rights,
)
from memoranda.kernel.actors import ActorRef, check_scope, parse_actor
from memoranda.kernel.clock import Clock, Randomness
from memoranda.kernel.errors import InvalidOption, KeyRefused, RecordNotFound
from memoranda.kernel.json import storable
from memoranda.kernel.results import Result, Rows, members

_ID_BYTES: Final = 6
_SECRET_BYTES: Final = 32
_KEY: Final = re.compile(r"mk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_NO_DIGEST: Final = bytes(32)
_LONGEST_NAME: Final = 128
MOST_PER_MINUTE: Final = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class AccessKey(Result):
    """What is known of a key: whose it is, what it may, until when; never the key itself."""

    id: str
    scope: str
    actor: str
    rights: tuple[Right, ...]
    trust: WriterTrust
    """How far it is trusted what comes with it."""
    name: str
    created_at: int
    expires_at: int | None = None
    revoked_at: int | None = None
    per_minute: int | None = None
    """How many requests it may make in a minute; None where the server's own limit holds."""


@dataclass(frozen=True, slots=True, repr=False)
class NewKey(Result):
    """A key that was made just now. It is shown this once, and can't be read again."""

    key: str
    made: AccessKey

    def row(self) -> Mapping[str, object]:
        """What is known of it; a table is no place for a key."""
        return members(self.made)

    def __repr__(self) -> str:
        return f"NewKey({self.made!r})"


class Keys:
    """The keys of one database: made, listed, revoked."""

    def __init__(self, rows: KeyRows, clock: Clock, randomness: Randomness) -> None:
        self._rows = rows
        self._clock = clock
        self._randomness = randomness

    async def create(
        self,
        *,
        scope: str,
        actor: ActorRef | str,
        rights: Collection[str],
        trust: WriterTrust = "unreviewed",
        expires: Moment | None = None,
        per_minute: int | None = None,
        name: str = "",
    ) -> NewKey:
        """Make a key for one actor in one scope; it is in the answer, and nowhere else.

        `rights` are some of read, write, decide, erase and maintain. What is written with a key of
        the trust ``untrusted`` is marked so until somebody approves it, and such a key decides
        nothing: it is for what reads the web, mail, or other people's words. `expires` is from
        when it is refused; `per_minute` how many requests it may make; `name` is for people.
        """
        acts = parse_actor(actor)
        granted = check_rights(rights)
        if trust not in get_args(WriterTrust):
            raise InvalidOption("trust", f"it is one of {', '.join(get_args(WriterTrust))}")
        if trust == "untrusted" and "decide" in granted:
            raise InvalidOption("rights", "what is untrusted decides nothing")
        if not isinstance(name, str) or len(name) > _LONGEST_NAME or not storable(name):
            raise InvalidOption("name", f"it is a text of at most {_LONGEST_NAME} characters")
        if per_minute is not None and not (
            type(per_minute) is int and 1 <= per_minute <= MOST_PER_MINUTE
        ):
            raise InvalidOption("per_minute", f"it is a number from 1 to {MOST_PER_MINUTE}")
        now, until = self._clock.now_ms(), milliseconds_or_none(expires)
        if until is not None and until <= now:
            raise InvalidOption("expires", "the time is past: the key would never be good")
        id = self._randomness.take(_ID_BYTES).hex()
        secret = urlsafe_b64encode(self._randomness.take(_SECRET_BYTES)).rstrip(b"=").decode()
        stored = StoredKey(
            id=id,
            digest=sha256(secret.encode()),
            scope=check_scope(scope),
            actor=str(acts),
            rights=" ".join(sorted(granted)),
            trust=trust,
            name=name,
            per_minute=per_minute,
            created_at=now,
            expires_at=until,
            revoked_at=None,
        )
        await self._rows.add_key(stored)
        return NewKey(f"mk_{id}_{secret}", _shown(stored))

    async def list(self) -> Rows[AccessKey]:
        """Every key that was ever made, the oldest first; of none of them the key itself."""
        return Rows(map(_shown, await self._rows.keys()))

    async def revoke(self, id: str) -> AccessKey:
        """Let a key be good for nothing from now on; servers know within a second.

        RecordNotFound for an id that no key has. One that was revoked before stays as it is.
        """
        if not isinstance(id, str) or not storable(id):
            raise RecordNotFound(str(id))
        await self._rows.revoke_key(id, self._clock.now_ms())
        found = await self._rows.key(id)
        if found is None:
            raise RecordNotFound(id)
        return _shown(found)


def key_id(key: str) -> str:
    """The id in a key; KeyRefused for a text that is no key."""
    found = _KEY.fullmatch(key)
    if found is None:
        raise KeyRefused
    return found[1]


def principal_of(key: str, stored: StoredKey | None, now: int) -> Principal:
    """Whom a key stands for; KeyRefused if it is unknown, wrong, expired or revoked.

    It takes as long for one that is unknown as for one that is wrong.
    """
    secret = key.rpartition(f"mk_{key_id(key)}_")[2]
    expected = _NO_DIGEST if stored is None else stored.digest
    is_right = hmac.compare_digest(sha256(secret.encode()), expected)
    if stored is None or not is_right or stored.revoked_at is not None:
        raise KeyRefused
    if stored.expires_at is not None and stored.expires_at <= now:
        raise KeyRefused
    rights = check_rights(stored.rights.split())
    return Principal(stored.actor, stored.scope, rights, stored.id, stored.per_minute, stored.trust)


def _shown(stored: StoredKey) -> AccessKey:
    return AccessKey(
        stored.id,
        stored.scope,
        stored.actor,
        tuple(sorted(check_rights(stored.rights.split()))),
        stored.trust,
        stored.name,
        stored.created_at,
        stored.expires_at,
        stored.revoked_at,
        stored.per_minute,
    )
