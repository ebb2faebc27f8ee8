"""Taking what was erased out of the files of PostgreSQL.

A deleted row stays in its file until the room is needed: no query, index or dump shows it, but
who can read the files can. Writing the tables anew leaves it behind. Old write-ahead log and
backups age out in their own time.
"""

import re
from typing import Final

from psycopg.errors import Diagnostic

from recollect.kernel.errors import StoreUnavailable
from recollect.stores.postgres.connection import Connection

_TABLES: Final = ("bodies", "versions", "tags", "words", "derivations", "retries")
_REWRITE: Final = "VACUUM (FULL, VERBOSE) " + ", ".join(f"recollect.{table}" for table in _TABLES)
_MAY_NOT: Final = """
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = to_regnamespace('recollect') AND c.relname = ANY (%s)
  AND NOT pg_has_role(c.relowner, 'MEMBER')
"""


async def rewrite_tables(connection: Connection, database: str) -> None:
    """Write the tables anew that can hold content; everyone else waits meanwhile.

    1. only who owns them may: others would be passed over without an error
    2. what somebody still reads is kept, and how much that is stands in what the server reports
    """
    # 1
    refused = await connection.execute(_MAY_NOT, (list(_TABLES),))
    if await refused.fetchall():
        raise StoreUnavailable(database, "only the owner of the schema may rewrite its tables")
    # 2
    kept: list[int] = []

    def count(report: Diagnostic) -> None:
        found = re.search(r"\d+", report.message_detail or "")
        kept.append(int(found[0]) if found else 0)

    connection.add_notice_handler(count)
    try:
        await connection.execute(_REWRITE)
    finally:
        connection.remove_notice_handler(count)
    if any(kept):
        why = (
            "what was erased is still in its files, because somebody reads what was before;"
            " end that, then run `recollect erase --scrub`"
        )
        raise StoreUnavailable(database, why)
