"""Opening one connection, with the settings that our promises rest on."""

from typing import Any, Final, TypeAlias

import psycopg
from psycopg import AsyncConnection

from memoranda.stores.postgres.address import Address
from memoranda.stores.postgres.arrays import register
from memoranda.stores.postgres.errors import plain_errors, refused

Connection: TypeAlias = AsyncConnection[tuple[Any, ...]]

BUSY_MS: Final = 5_000

# 1. nothing but the server's own functions and operators is found without a schema's name
# 2. what a call sees after it waited for a lock is what was committed meanwhile
# 3. a write that was acknowledged is on disk, whatever the role's or the database's default says
# 4. nobody waits for a lock for ever
# 5. no query is compiled: that takes longer than most of ours take to run
# 6. one plan for all values, made once: the walk along an index that each statement is written
#    for. Left to its estimates, the planner would plan anew for each call, keep what it planned
#    while a table was empty, and for some tags read and sort the whole table
_SETTINGS: Final = f"""
SELECT set_config('search_path', '', false),
       set_config('default_transaction_isolation', 'read committed', false),
       CASE current_setting('synchronous_commit') WHEN 'off'
         THEN set_config('synchronous_commit', 'on', false) END,
       set_config('lock_timeout', '{BUSY_MS}', false),
       set_config('jit', 'off', false),
       set_config('plan_cache_mode', 'force_generic_plan', false),
       set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false),
       set_config('enable_hashjoin', 'off', false), set_config('enable_mergejoin', 'off', false)
"""


_READ_ONLY: Final = "SELECT set_config('default_transaction_read_only', 'on', false)"


async def connect(address: Address, *, read_only: bool = False) -> Connection:
    """A connection where each statement outside BEGIN is a transaction of its own."""
    try:
        connection = await AsyncConnection.connect(address.conninfo, autocommit=True)
    except psycopg.Error as error:
        raise refused(error, address.name) from error
    register(connection)
    try:
        with plain_errors(address.name):
            await connection.execute(_SETTINGS)
            if read_only:
                await connection.execute(_READ_ONLY)
    except BaseException:
        await connection.close()
        raise
    return connection
