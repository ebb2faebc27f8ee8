"""Leases in either database (`ledger.lease`): one table, one row for each name that is leased.

SQLite judges by the time that its caller says, for all its callers are on one machine. PostgreSQL
judges by its own clock, in functions that lock no more than the row of the lease: nobody who
appends to the journal waits for them, nor they for a long append. A row that somebody else is about
to take is passed over (SKIP LOCKED), not waited for.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.kernel.errors import LeaseLost
from memoranda.ledger.attachments import HeldLease
from memoranda.ledger.lease import JOB, Lease
from memoranda.stores.selection import AFTER_ALL
from memoranda.stores.statements import JournalRows, Procedure, Statement, Texts, ask, shared

_ROW: Final = "name, holder, until, due, attempts, report"
_OWN: Final = "WHERE journal = :journal AND name = :name AND holder = :holder RETURNING 1"

_TAKE: Final = Statement(
    f"""
    INSERT INTO leases AS l (journal, name, holder, until, attempts)
    SELECT :journal, :name, :holder, :now + :for_ms, 1 WHERE :due IS NULL
      OR EXISTS (SELECT 1 FROM leases o WHERE o.journal = :journal AND o.name = :name)
    ON CONFLICT (journal, name) DO UPDATE
    SET holder = excluded.holder, until = excluded.until, attempts = l.attempts + 1
    WHERE l.until <= :now AND (:due IS NULL OR l.due <= :due)
    RETURNING {_ROW}
    """,  # noqa: S608 - ours
    "SELECT * FROM memoranda.take_lease(:journal, :origin, :name, :holder, :for_ms, :due)",
)
_RENEW: Final = Statement(
    f"UPDATE leases SET until = :now + :for_ms {_OWN}",  # noqa: S608 - ours
    "SELECT memoranda.renew_lease(:journal, :origin, :name, :holder, :for_ms)",
)
_END: Final = Statement(
    "UPDATE leases SET holder = '', until = 0, attempts = :attempts, report = :report,"  # noqa: S608
    f" due = CASE WHEN due IS :was_due THEN :due ELSE due END {_OWN}",
    "SELECT memoranda.end_lease("
    ":journal, :origin, :name, :holder, false, :was_due, :due, :attempts, :report)",
)
_RELEASE: Final = Statement(
    f"DELETE FROM leases {_OWN}",  # noqa: S608 - ours
    "SELECT memoranda.end_lease(:journal, :origin, :name, :holder, true, NULL, NULL, 0, '')",
)
_ALL: Final = Statement(
    f"SELECT {_ROW} FROM leases"  # noqa: S608 - ours
    " WHERE journal = :journal AND name >= :prefix AND name < :end ORDER BY name",
    "SELECT * FROM memoranda.leases_of(:journal, :origin, :prefix)",
)
_UNPLAN: Final = Statement(
    "DELETE FROM leases WHERE journal = :journal AND name >= :prefix AND name < :end"
    " AND holder = '' AND name NOT IN (SELECT value FROM json_each(:names))",
    "DELETE FROM memoranda.leases WHERE journal = :journal AND starts_with(name, :prefix)"
    " AND holder = '' AND name <> ALL (:names)",
)
_PLAN: Final = shared("""
INSERT INTO {leases} AS l (journal, name, due) VALUES (:journal, :name, :due)
ON CONFLICT (journal, name) DO UPDATE SET due = excluded.due, attempts = 0 WHERE :anew
""")


_HELD: Final = Statement(
    "SELECT 1 FROM leases WHERE journal = :journal AND name = :name AND holder = :holder",
    "SELECT 1 FROM memoranda.leases l"
    " WHERE l.journal = :journal AND l.name = :name AND l.holder = :holder FOR SHARE",
)


def check_lease(held: HeldLease) -> Procedure[None]:
    """LeaseLost where a lease is not its holder's any more; it stays so until the unit is over."""
    if not (yield ask(_HELD, name=held.name, holder=held.holder)):
        raise LeaseLost(held.name)


class StoredLeases:
    """The leases of one journal (`Leases`)."""

    def __init__(self, journal: JournalRows) -> None:
        self._journal = journal

    async def take(
        self, name: str, holder: str, *, for_ms: int, now: int, due: int | None = None
    ) -> Lease | None:
        """Take a lease that nobody holds, or whose holder died; None if somebody holds it."""
        values = {"name": name, "holder": holder, "for_ms": for_ms, "now": now, "due": due}
        found = await self._asked(_TAKE, values)
        return Lease._make(found[0]) if found else None

    async def renew(self, name: str, holder: str, *, for_ms: int, now: int) -> bool:
        """Hold it for longer; False if it is somebody else's."""
        values = {"name": name, "holder": holder, "for_ms": for_ms, "now": now}
        return bool(await self._asked(_RENEW, values))

    async def end(self, taken: Lease, *, due: int | None, attempts: int, report: str) -> bool:
        """Let go of a job and say when it is due next; False if it was somebody else's by now."""
        values = {
            "name": taken.name,
            "holder": taken.holder,
            "was_due": taken.due,
            "due": due,
            "attempts": attempts,
            "report": report,
        }
        return bool(await self._asked(_END, values))

    async def release(self, name: str, holder: str) -> None:
        """Let go of what is no job: nothing is left of it."""
        await self._asked(_RELEASE, {"name": name, "holder": holder})

    async def plan(self, jobs: Mapping[str, int | None], *, anew: bool = False) -> None:
        """Let these be the jobs; others go unless they are held."""

        def planned() -> Procedure[None]:
            names = Texts(jobs)
            yield ask(_UNPLAN, prefix=JOB, end=JOB + AFTER_ALL, names=names)
            for name, due in jobs.items():
                if due is not None:
                    yield ask(_PLAN, name=name, due=due, anew=anew)

        await self._journal.write(planned)

    async def owe(self, name: str, due: int) -> None:
        """Let a job be due at this time, whether it is there or not."""

        def owed() -> Procedure[None]:
            yield ask(_PLAN, name=name, due=due, anew=True)

        await self._journal.write(owed)

    async def all(self, prefix: str) -> Sequence[Lease]:
        """The leases whose names begin so, by name."""
        end = prefix + AFTER_ALL
        return await self._journal.rows(Lease._make, _ALL, prefix=prefix, end=end)

    async def _asked(self, statement: Statement, values: Mapping[str, object]) -> list[Any]:
        def asked() -> Procedure[list[Any]]:
            rows: list[Any] = yield ask(statement, **values)
            return rows

        return await self._journal.change(asked)
