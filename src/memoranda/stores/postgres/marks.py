"""The names of facts in PostgreSQL, looked up inside a transaction that holds the head's lock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.attachments import (
    AllErased,
    Attachment,
    AttachmentCounts,
    CycleSalt,
    CycleValues,
    ItemOrigin,
    NewItem,
    SessionAside,
    SessionSaved,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.fact import named_entries
from memoranda.ledger.unit import Expected, NamedEntry, NamedFacts
from memoranda.plans.items import MemoryItem
from memoranda.stores.postgres.arrays import MARK, Texts, row_types, rows_of_table
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.erase import erase_retries
from memoranda.stores.postgres.items import erase_items, insert_item
from memoranda.stores.postgres.origins import keep_origin, keep_salt
from memoranda.stores.postgres.sessions import erase_sessions, keep_aside, record, save_session
from memoranda.stores.postgres.snapshot import chunks

NAMES_AT_ONCE: Final = 1_000

_MOVED_MARK: Final = "SELECT memoranda.moved_mark(%s, %s)"
# OFFSET 0 keeps the lookup of each name apart: joined, they might be looked for among all.
_ENTRIES_OF: Final = """
SELECT o.name, o.entry, o.body FROM unnest(%s) AS n (name) CROSS JOIN LATERAL (
  SELECT m.name, m.seq, e.entry, e.body FROM memoranda.marks m
  JOIN memoranda.entries e ON e.journal = m.journal AND e.seq = m.seq
  WHERE m.journal = %s AND m.name = n.name AND e.body IS NOT NULL OFFSET 0
) AS o
ORDER BY o.name, o.seq
"""
_NAMES_AFTER: Final = (
    "SELECT DISTINCT m.name FROM memoranda.marks m WHERE m.journal = %s AND m.name > %s"
    " ORDER BY m.name LIMIT %s"
)


async def check_expected(connection: Connection, journal: int, expects: Sequence[Expected]) -> None:
    """MarkMoved where the newest entry of a name is another one than expected."""
    if not expects:
        return
    rows = ((journal, *expected) for expected in expects)
    asked = (Int8(journal), rows_of_table(await row_types(connection), MARK, rows))
    found = await connection.execute(_MOVED_MARK, asked, prepare=True, binary=True)
    ((moved,),) = await found.fetchall()
    if moved is not None:
        raise MarkMoved(moved)


async def entries_of(
    connection: Connection, journal: int, names: Sequence[str], bodies: BodyCodec
) -> list[NamedFacts]:
    """The facts under each of these names that have a body; a name without any is left out."""
    entries: dict[str, list[NamedEntry]] = {}
    asked = (Texts(names), Int8(journal))
    async with aclosing(chunks(connection, "facts", _ENTRIES_OF, asked)) as found:
        async for rows in found:
            for name, entry, body in rows:
                read = named_entries([(entry, bodies.unpack(body))])
                entries.setdefault(name, []).extend(read)
    return [NamedFacts(name, entries[name]) for name in names if entries.get(name)]


async def all_entries(
    connection: Connection, journal: int, bodies: BodyCodec
) -> AsyncIterator[list[NamedFacts]]:
    """The same for every name of a journal, in portions."""
    last = ""
    while True:
        asked = (Int8(journal), last, Int8(NAMES_AT_ONCE))
        found = await connection.execute(_NAMES_AFTER, asked, prepare=True, binary=True)
        names = [str(name) for (name,) in await found.fetchall()]
        if not names:
            return
        last = names[-1]
        if facts := await entries_of(connection, journal, names, bodies):
            yield facts


# ------------------------------------------------------------------------------------------------
# What lands with the entries of a unit, inside its transaction, under the journal's lock.


async def land(
    connection: Connection, journal: int, attachments: Sequence[Attachment], bodies: BodyCodec
) -> AttachmentCounts | None:
    """Write what a unit attaches to its entries, in its transaction; what went, if it erases."""
    gone, numbered = None, Int8(journal)
    for attachment in attachments:
        match attachment:
            case NewItem():
                await insert_item(connection, numbered, MemoryItem(**attachment._asdict()), bodies)
            case SessionSaved():
                await save_session(connection, numbered, attachment, bodies)
            case SessionAside():
                await keep_aside(connection, numbered, attachment, bodies)
            case CycleValues():
                await record(connection, numbered, attachment, bodies)
            case CycleSalt():
                await keep_salt(connection, numbered, attachment)
            case ItemOrigin():
                await keep_origin(connection, numbered, attachment)
            case AllErased(is_dry_run, tell):
                items = await erase_items(connection, numbered, is_dry_run=is_dry_run)
                counts = await erase_sessions(connection, numbered, is_dry_run=is_dry_run)
                retries = await erase_retries(connection, numbered, is_dry_run=is_dry_run)
                gone = AttachmentCounts(*items, *counts, retries)
                tell(gone)
    return gone
