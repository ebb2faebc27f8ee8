"""A process dies while PostgreSQL commits its turn: who comes next waits for what becomes of it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

import recollect
from recollect.outside.session_files import SessionFile
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import Roles, make_roles
from tests.turn.talking import Answering, talk

pytestmark = [pytest.mark.anyio, pytest.mark.backend("postgres")]

_HELD = 4242
_HOLD_COMMITS = f"""
CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({_HELD}); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER hold AFTER INSERT OR UPDATE ON recollect.session_files
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.hold();
"""
_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@asynccontextmanager
async def commits_held(roles: Roles) -> AsyncIterator[Callable[[], int]]:
    """Inside, nothing of a session in a file is committed to its end; says how many wait."""
    with psycopg.connect(roles.superuser, autocommit=True) as connection:
        connection.execute(_HOLD_COMMITS)
        connection.execute("SELECT pg_advisory_lock(%s)", (_HELD,))

        def waiting() -> int:
            row = connection.execute(_WAITING).fetchone()
            return 0 if row is None else int(row[0])

        yield waiting


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.005)


@pytest.mark.rule("ING-PERSIST")
async def test_a_temporary_file_waits_for_the_commit_that_its_process_did_not_live_to_see(
    postgres_server: PostgresServer, tmp_path: Path
) -> None:
    roles = await make_roles(postgres_server, postgres_server.create_database())
    sessions: Any = partial(SessionFile, tmp_path)
    async with (
        recollect.open(roles.app, scope="late", actor="agent:one") as memory,
        recollect.open(roles.app, scope="late", actor="agent:two") as another,
    ):
        turns = await memory.turns(talk(), model=Answering(), sessions=sessions)
        async with commits_held(roles) as waiting:
            turn = asyncio.create_task(turns.take("What about the invoice?"))
            await until(lambda: waiting() == 1)
            (draft,) = [one.name for one in tmp_path.iterdir()]
            beside = another._turning.scope.table.ledger.beside

            asked = asyncio.create_task(beside.has_landed(draft.rpartition("-")[2]))
            await until(lambda: waiting() == 2 or asked.done())

        assert await asked
        await turn
