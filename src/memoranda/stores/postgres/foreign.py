"""Reading the tables of somebody else's PostgreSQL database: nothing is written."""

from collections.abc import Mapping
from typing import Any, LiteralString

import psycopg
from psycopg.rows import dict_row

from memoranda.kernel.errors import StoreUnavailable
from memoranda.stores.postgres.connection import parse_address


async def foreign_rows(url: str, query: LiteralString) -> list[Mapping[str, Any]]:
    """What a query of ours finds in it, by the names of columns."""
    address = parse_address(url)
    try:
        async with await psycopg.AsyncConnection.connect(
            address.conninfo, row_factory=dict_row
        ) as connection:
            await connection.set_read_only(True)
            cursor = await connection.execute(query)
            return list(await cursor.fetchall())
    except psycopg.Error as failed:
        raise StoreUnavailable(address.name, f"it can't be read: {failed}") from failed
