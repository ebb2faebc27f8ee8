"""The retries that go with an erasure, and taking what was erased out of PostgreSQL's files.

A deleted row stays in its file until the room is needed: no query, index or dump shows it, but
who can read the files can. Writing the tables anew leaves it behind. Old write-ahead log and
backups age out in their own time.
"""

import re
from collections.abc import Sequence
from typing import Final

from psycopg.errors import Diagnostic
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import StoreUnavailable
from memoranda.ledger.unit import Found, NamedFacts, Unit, takes_all
from memoranda.stores.compared import ERASED
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.statements import Integers, Texts

_TABLES: Final = (
    "entries", "versions", "tags", "postings", "documents", "threads", "derivations", "retries",
    "marks", "vectors", "memories", "item_keywords", "item_postings", "item_origins", "cycle_salts",
    "sessions", "sessions_aside", "recordings",
)  # fmt: skip
_REWRITE: Final = "VACUUM (FULL, VERBOSE) " + ", ".join(f"memoranda.{table}" for table in _TABLES)
_MAY_NOT: Final = """
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = to_regnamespace('memoranda') AND c.relname = ANY (%s)
  AND NOT pg_has_role(c.relowner, 'MEMBER')
"""


_RETRIES: Final = """
SELECT n.id, NULL::bigint, k.key
FROM unnest(%s) AS n (id), memoranda.retries_of_object(%s, n.id) AS k (key)
UNION ALL
SELECT NULL, n.seq, k.key
FROM unnest(%s) AS n (seq), memoranda.retries_of_entry(%s, n.seq) AS k (key)
"""


async def retries_of(
    connection: Connection, journal: Int8, unit: Unit, there: Sequence[Found]
) -> list[set[bytes]]:
    """The keys that go with each of these; none where all go, which are counted as a whole."""
    if takes_all(unit):
        return [set() for _ in there]
    facts = [each for each in there if isinstance(each, NamedFacts)]
    objects = [each for each in there if not isinstance(each, NamedFacts)]
    ids = Texts(each.id for each in objects if each.status != ERASED)
    seqs = Integers(entry.seq for each in facts for entry in each.entries)
    asked = (ids, journal, seqs, journal)
    rows = await connection.execute(_RETRIES, asked, prepare=True, binary=True)
    of_object: dict[str, set[bytes]] = {}
    of_entry: dict[int, set[bytes]] = {}
    for id, seq, key in await rows.fetchall():
        of = of_object.setdefault(id, set()) if seq is None else of_entry.setdefault(seq, set())
        of.add(key)
    return [
        set().union(*(of_entry.get(entry.seq, ()) for entry in each.entries))
        if isinstance(each, NamedFacts)
        else of_object.get(each.id, set())
        for each in there
    ]


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
            " end that, then run `memoranda maintain scrub`"
        )
        raise StoreUnavailable(database, why)
