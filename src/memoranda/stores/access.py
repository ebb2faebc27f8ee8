"""The keys of a database: rows that belong to no journal, read when somebody comes to a door."""

from typing import Any, Final, Protocol

from memoranda.kernel.access import StoredKey
from memoranda.stores.statements import Statement, shared

_ADD: Final = shared("""
INSERT INTO {access_keys} (id, digest, scope, actor, rights, trust, name, per_minute,
  created_at, expires_at, revoked_at, minute, requests)
VALUES (:id, :digest, :scope, :actor, :rights, :trust, :name, :per_minute,
  :created_at, :expires_at, :revoked_at, 0, 0)
""")
_KEY: Final = shared("""
SELECT id, digest, scope, actor, rights, trust, name, per_minute, created_at, expires_at, revoked_at
FROM {access_keys} WHERE id = :id
""")
_KEYS: Final = shared("""
SELECT id, digest, scope, actor, rights, trust, name, per_minute, created_at, expires_at, revoked_at
FROM {access_keys} ORDER BY created_at, id
""")
_HAS_KEYS: Final = shared("SELECT 1 FROM {access_keys} LIMIT 1")
_REVOKE: Final = shared("""
UPDATE {access_keys} SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL RETURNING 1
""")
# Each process takes several requests at once. The row is the lock: together they never take more.
_TAKE: Final = shared("""
UPDATE {access_keys} SET
  requests = CASE WHEN minute = :minute THEN requests ELSE 0 END + :count, minute = :minute
WHERE id = :id AND minute <= :minute
  AND CASE WHEN minute = :minute THEN requests ELSE 0 END + :count <= :limit
RETURNING 1
""")


class AsksDatabase(Protocol):
    """A database that is asked something of no journal."""

    async def ask_any(self, statement: Statement, /, *, writes: bool, **values: Any) -> list[Any]:
        """The rows of one statement, which is a transaction of its own."""
        ...


class StoredKeys:
    """The keys of one database (`KeyRows`)."""

    def __init__(self, database: AsksDatabase) -> None:
        self._database = database

    async def add_key(self, key: StoredKey) -> None:
        await self._database.ask_any(_ADD, writes=True, **key._asdict())

    async def key(self, id: str) -> StoredKey | None:
        found = await self._database.ask_any(_KEY, writes=False, id=id)
        return StoredKey._make(found[0]) if found else None

    async def keys(self) -> list[StoredKey]:
        return [StoredKey._make(row) for row in await self._database.ask_any(_KEYS, writes=False)]

    async def has_keys(self) -> bool:
        return bool(await self._database.ask_any(_HAS_KEYS, writes=False))

    async def revoke_key(self, id: str, at: int) -> bool:
        return bool(await self._database.ask_any(_REVOKE, writes=True, id=id, at=at))

    async def take_requests(self, id: str, minute: int, count: int, limit: int) -> bool:
        return bool(
            await self._database.ask_any(
                _TAKE, writes=True, id=id, minute=minute, count=count, limit=limit
            )
        )
