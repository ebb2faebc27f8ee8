"""What lands beside the entries of a unit, inside its transaction."""

from collections.abc import Sequence

import apsw

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
from recollect.stores.sqlite.items import count_items, forget_items, insert_item
from recollect.stores.sqlite.origins import forget_origins, keep_origin, keep_salt
from recollect.stores.sqlite.sessions import (
    count_sessions,
    forget_sessions,
    keep_aside,
    note_file,
    record,
    save_session,
)


def land(
    connection: apsw.Connection, journal: int, beside: Sequence[Beside], bodies: BodyCodec
) -> BesideCounts | None:
    """Write what a unit leaves beside its entries, in its transaction; what went, if it erases."""
    gone = None
    for one in beside:
        match one:
            case NewItem():
                insert_item(connection, journal, MemoryItem(**one._asdict()), bodies)
            case SessionSaved():
                save_session(connection, journal, one, bodies)
            case SessionAside():
                keep_aside(connection, journal, one, bodies)
            case SessionFilePending():
                note_file(connection, journal, one)
            case Recorded():
                record(connection, journal, one, bodies)
            case CycleSalt():
                keep_salt(connection, journal, one)
            case ItemOrigin():
                keep_origin(connection, journal, one)
            case AllErased(is_dry_run):
                gone = _erase(connection, journal, is_dry_run=is_dry_run)
    return gone


def _erase(connection: apsw.Connection, journal: int, *, is_dry_run: bool) -> BesideCounts:
    counts = BesideCounts(*count_items(connection, journal), *count_sessions(connection, journal))
    if not is_dry_run:
        forget_items(connection, journal)
        forget_origins(connection, journal)
        forget_sessions(connection, journal)
    return counts
