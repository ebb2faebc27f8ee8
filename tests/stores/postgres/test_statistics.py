"""What the planner keeps of columns shows nothing of memory, whatever was analysed when."""

from typing import Any

import psycopg
import pytest

import memoranda
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles

pytestmark = pytest.mark.anyio

CANARY = "canary5f3a"


@pytest.mark.rule("GOV-FORGET")
async def test_no_statistics_show_what_is_remembered(roles: Roles) -> None:
    async with memoranda.open(roles.app, scope="s", actor="agent:a") as memory:
        await _filled(memory)
        with psycopg.connect(roles.owner, autocommit=True) as connection:
            connection.execute("ANALYZE")
        shown = "SELECT tablename, attname, s::text FROM pg_stats s WHERE schemaname = 'memoranda'"
        told = {
            (str(table), str(name)): str(row) for table, name, row in asked(roles.superuser, shown)
        }
        assert ("versions", "id") in told, "else this shows nothing"
        assert [place for place, row in told.items() if CANARY in row.lower()] == []
        encoded = CANARY.encode().hex()
        assert [place for place, row in told.items() if encoded in row] == []


async def _filled(memory: Any) -> None:
    """Everything that has words in it, often enough to be worth a statistic."""
    for number in range(40):
        await memory.remember(
            f"a text of {CANARY}", source=f"doc/{CANARY}", subject=CANARY,
            tags=[CANARY], idempotency_key=f"{CANARY}{number}",
        )  # fmt: skip
        await memory.recall(CANARY, top_k=1, subject=CANARY)
    await memory.maintain.reindex()
