"""A call on a connection: prepared once, answered in any case, stopped when it is cancelled."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8

from memoranda.stores.postgres.connection import Connection, call, connect, parse_address
from tests.patience import eventually
from tests.stores.postgres.catalogue import asked

DOUBLED = "SELECT 2 * %s::bigint"
SLEEPING = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


@pytest.fixture
async def connection(postgres_url: str) -> AsyncIterator[Connection]:
    async with await connect(parse_address(postgres_url)) as opened:
        yield opened


async def test_a_call_goes_on_after_all_that_was_prepared_is_gone(connection: Connection) -> None:
    assert await call(connection, DOUBLED, (Int8(1),)) == [(2,)]
    await connection.execute("DEALLOCATE ALL")
    assert await call(connection, "SELECT 'another'", ()) == [("another",)]

    assert await call(connection, DOUBLED, (Int8(3),)) == [(6,)]
    assert await call(connection, "SELECT 'another'", ()) == [("another",)]


async def test_a_call_of_more_bytes_than_a_socket_takes_arrives(connection: Connection) -> None:
    size = 32 * 1024 * 1024

    assert await call(connection, "SELECT octet_length(%s::bytea)", (bytes(size),)) == [(size,)]


async def test_what_the_server_refuses_is_raised_and_the_next_call_is_answered(
    connection: Connection,
) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        await call(connection, "SELECT 1 / %s::bigint", (Int8(0),))

    assert await call(connection, "SELECT 1 / %s::bigint", (Int8(1),)) == [(1,)]


async def test_a_call_that_is_cancelled_is_stopped_on_the_server(
    connection: Connection, postgres_url: str
) -> None:
    sleeping = asyncio.create_task(call(connection, "SELECT pg_sleep(%s)", (3_600.0,)))
    await eventually(lambda: asked(postgres_url, SLEEPING) != [])

    sleeping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sleeping

    assert connection.pgconn.transaction_status == TransactionStatus.IDLE
    assert asked(postgres_url, SLEEPING) == []
