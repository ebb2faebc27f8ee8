"""What lands beside the entries of a unit, inside its transaction, under the journal's lock."""

from collections.abc import Sequence

from psycopg.types.numeric import Int8

from memoranda.ledger.beside import (
    AllErased,
    Beside,
    BesideCounts,
    CycleSalt,
    ItemOrigin,
    NewItem,
    Recorded,
    SessionAside,
    SessionSaved,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.plans.items import MemoryItem
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.erasing import erase_retries
from memoranda.stores.postgres.items import erase_items, insert_item
from memoranda.stores.postgres.origins import keep_origin, keep_salt
from memoranda.stores.postgres.sessions import (
    erase_sessions,
    keep_aside,
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
            case Recorded():
                await record(connection, numbered, one, bodies)
            case CycleSalt():
                await keep_salt(connection, numbered, one)
            case ItemOrigin():
                await keep_origin(connection, numbered, one)
            case AllErased(is_dry_run, tell):
                items = await erase_items(connection, numbered, is_dry_run=is_dry_run)
                counts = await erase_sessions(connection, numbered, is_dry_run=is_dry_run)
                retries = await erase_retries(connection, numbered, is_dry_run=is_dry_run)
                gone = BesideCounts(*items, *counts, retries)
                tell(gone)
    return gone
