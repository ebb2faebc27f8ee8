"""Copies keep marks, there and back; what else facts promise is in the contract of ledgers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.snapshot import ENTRIES, ROWS
from memoranda.ledger.unit import Expected, Mark
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.ledger.opening import (
    all_derivations,
    all_marks,
    erase,
    fact,
    object_,
    seqs,
    write,
)
from memoranda.testkit.strategies import FrozenClock
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer

_SCOPES = count()


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[LedgerDatabase]:
    database, lease = await acquire(url, FrozenClock())
    assert not isinstance(database, DictDatabase)
    try:
        yield database
    finally:
        await release(lease)


@pytest.fixture
async def ledger(tmp_path: Path) -> AsyncIterator[FilteredLedger]:
    async with opened(f"sqlite:///{tmp_path}/facts.db") as database:
        yield await database.ledger("facts", "origin of facts", 0)


async def copied(source: FilteredLedger, target: LedgerDatabase, scope: str) -> None:
    async with (
        source.snapshot() as snapshot,
        target.adoption(scope, (await source.head()).origin, 1) as adoption,
    ):
        async for entries in snapshot.rows(ENTRIES):
            await adoption.entries(entries)
        async for rows in snapshot.rows(ROWS):
            await adoption.rows(rows)


@pytest.mark.backend("sqlite")
@pytest.mark.backend("postgres")
async def test_copies_keep_marks_there_and_back(
    ledger: FilteredLedger, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    await write(ledger, object_("record"))
    for n in range(600):
        drafts = [fact(f"proposal/{n}", f"open/{n}", inputs=["record"], output=f"proposal/{n}")]
        if n % 3 == 2:
            taken = [Mark(f"open/{n - 1}", n), Mark("open/0", 1), Mark("open/0", 2)]
            drafts = [fact(f"decision/{n}", kind="decision", unmarks=taken)]
        await write(ledger, *drafts)
    await erase(ledger, ["proposal/4"])
    expected = await all_marks(ledger), await all_derivations(ledger), await ledger.head()
    scope = f"copy-{next(_SCOPES)}"
    postgres = (await make_roles(postgres_server, postgres_url)).app
    there, back = f"sqlite:///{tmp_path}/there.db", f"sqlite:///{tmp_path}/back.db"

    for source, target in ((None, there), (there, postgres), (postgres, back)):
        async with opened(source or there) as before, opened(target) as after:
            old = ledger if source is None else await before.ledger(scope, "", 0)
            await copied(old, after, scope)
            new = await after.ledger(scope, "", 0)
            found = await all_marks(new), await all_derivations(new), await new.head()
            assert found == expected
            assert seqs(await new.marked("proposal/4")) == [601]
            assert await new.marked("open/0") == []
            assert await write_and_forget(new)


async def write_and_forget(ledger: FilteredLedger) -> bool:
    """What arrived can be rested on; nothing of the attempt is left."""
    newest = (await ledger.marked("proposal/4", newest_first=True, limit=1))[0].seq
    with pytest.raises(MarkMoved):
        await write(ledger, fact("a"), expects=[Expected("proposal/4", newest - 1)])
    done = await write(ledger, expects=[Expected("proposal/4", newest)])
    return done.places == []
