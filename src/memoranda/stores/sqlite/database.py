"""A SQLite database: the journals of its scopes."""

from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from memoranda.kernel.errors import ScopeNotFound
from memoranda.ledger.anchor import NewNote, NotedHead
from memoranda.ledger.entry import genesis
from memoranda.ledger.lease import DueJob
from memoranda.ledger.tree import Block, Blocks
from memoranda.plans.items import check_session_ref
from memoranda.stores.sqlite.adoption import SqliteAdoption
from memoranda.stores.sqlite.file import SqliteFile
from memoranda.stores.sqlite.heads import hashes, heads, keep_notes
from memoranda.stores.sqlite.items import SqliteItems
from memoranda.stores.sqlite.ledger import SqliteLedger
from memoranda.stores.statements import Statement

_JOURNAL: Final = "SELECT number FROM journals WHERE scope = ?"
_SCOPES: Final = "SELECT scope FROM journals WHERE scope <> '' ORDER BY scope"
_ORIGINS: Final = "SELECT scope, origin FROM journals ORDER BY scope"
_OPEN_JOURNAL: Final = """
INSERT INTO journals (scope, origin, opened_at, size, head, head_at) VALUES (?, ?, ?, 0, ?, ?)
ON CONFLICT (scope) DO NOTHING
"""
_DUE_JOBS: Final = """
SELECT j.scope, l.name FROM leases l JOIN journals j ON j.number = l.journal
WHERE l.due <= ? AND l.until <= ? AND l.name IN (SELECT value FROM json_each(?))
ORDER BY l.due LIMIT ?
"""
_first: Final = itemgetter(0)


class SqliteDatabase(SqliteFile):
    """The journals in one file."""

    async def ledger(self, scope: str, origin: str, now: int) -> SqliteLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        found = await self.existing(scope)
        if found is None:
            opened = (scope, origin, now, bytes.fromhex(genesis(origin)), now)
            await self.write(lambda c: c.execute(_OPEN_JOURNAL, opened).fetchall())
            found = await self.existing(scope)
            assert found is not None  # noqa: S101 - no journal ever goes
        return found

    async def existing(self, scope: str) -> SqliteLedger | None:
        """The ledger of one scope; None if it has no journal, and none is made."""
        found = await self.rows(_JOURNAL, (scope,), _first)
        if not found:
            return None
        ledger = SqliteLedger(self, found[0])
        self.merger.note(found[0], await ledger.words.tail())
        return ledger

    async def items(self, scope: str, session_ref: str) -> SqliteItems:
        """The items of one session; ScopeNotFound if nothing was written to its scope."""
        checked = check_session_ref(session_ref)
        found = await self.rows(_JOURNAL, (scope,), _first)
        if not found:
            raise ScopeNotFound(self.name, scope)
        return SqliteItems(self, found[0], checked)

    def adoption(self, scope: str, origin: str, now: int) -> SqliteAdoption:
        """Takes over the journal of this scope from another database, which has it alone."""
        self.check_writable()
        return SqliteAdoption(self.connect, self.name, (scope, origin, now), self.bodies)

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        return dict(await self.rows(_ORIGINS, (), tuple))

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to here, sorted."""
        return await self.rows(_SCOPES, (), _first)

    async def due_jobs(self, names: Collection[str], now: int, limit: int) -> list[DueJob]:
        """Jobs of these names that are due by then and that nobody holds, in all scopes."""
        asked = (now, now, sorted(names), limit)
        return await self.rows(_DUE_JOBS, asked, DueJob._make)

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        """The heads of these scopes' journals; those that have none are left out."""
        return await self.read(lambda connection: heads(connection, scopes))

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        return await self.read(lambda connection: hashes(connection, blocks))

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        await self.write(lambda connection: keep_notes(connection, notes))

    async def ask_any(self, statement: Statement, /, *, writes: bool, **values: Any) -> list[Any]:
        """The rows of one statement about no journal, which is a transaction of its own."""
        bound = statement.of_sqlite(values)
        if not writes:
            return await self.rows(statement.sqlite, bound, tuple)
        return await self.write(lambda c: c.execute(statement.sqlite, bound).fetchall())
