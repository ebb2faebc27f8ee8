"""What lands beside the entries of a unit, inside its transaction, under the journal's lock."""

from collections.abc import Sequence

from psycopg.types.numeric import Int8

from recollect.ledger.beside import (
    AllErased,
    Beside,
    BesideCounts,
    CycleSalt,
    ItemOrigin,
    NewItem,
    Recorded,
    SessionAside,
    SessionFilePending,
    SessionSaved,
)
from recollect.ledger.codec import BodyCodec
from recollect.plans.items import MemoryItem
from recollect.stores.postgres.connection import Connection
from recollect.stores.postgres.items import erase_items, insert_item
from recollect.stores.postgres.origins import keep_origin, keep_salt
from recollect.stores.postgres.sessions import (
    erase_sessions,
    keep_aside,
    note_file,
    record,
    save_session,
)


async def land(
    connection: Connection, journal: int, beside: Sequence[Beside], bodies: BodyCodec
) -> BesideCounts | None:
    """Write what a unit leaves beside its entries, in its transaction; what went, if it erases."""
    gone, numbered = None, Int8(journal)
    for one in beside:
        match one:
            case NewItem():
                await insert_item(connection, numbered, MemoryItem(**one._asdict()), bodies)
            case SessionSaved():
                await save_session(connection, numbered, one, bodies)
            case SessionAside():
                await keep_aside(connection, numbered, one, bodies)
            case SessionFilePending():
                await note_file(connection, numbered, one)
            case Recorded():
                await record(connection, numbered, one, bodies)
            case CycleSalt():
                await keep_salt(connection, numbered, one)
            case ItemOrigin():
                await keep_origin(connection, numbered, one)
            case AllErased(is_dry_run):
                items = await erase_items(connection, numbered, is_dry_run=is_dry_run)
                counts = await erase_sessions(connection, numbered, is_dry_run=is_dry_run)
                gone = BesideCounts(*items, *counts)
    return gone
