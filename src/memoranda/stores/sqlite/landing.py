"""What lands beside the entries of a unit, inside its transaction."""

from collections.abc import Sequence

import apsw

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
from memoranda.stores.sqlite.erased_retries import count_retries, forget_all_retries
from memoranda.stores.sqlite.items import count_items, forget_items, insert_item
from memoranda.stores.sqlite.origins import forget_origins, keep_origin, keep_salt
from memoranda.stores.sqlite.sessions import (
    count_sessions,
    forget_sessions,
    keep_aside,
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
            case Recorded():
                record(connection, journal, one, bodies)
            case CycleSalt():
                keep_salt(connection, journal, one)
            case ItemOrigin():
                keep_origin(connection, journal, one)
            case AllErased(is_dry_run, tell):
                gone = _erase(connection, journal, is_dry_run=is_dry_run)
                tell(gone)
    return gone


def _erase(connection: apsw.Connection, journal: int, *, is_dry_run: bool) -> BesideCounts:
    counts = BesideCounts(
        *count_items(connection, journal),
        *count_sessions(connection, journal),
        count_retries(connection, journal),
    )
    if not is_dry_run:
        forget_items(connection, journal)
        forget_origins(connection, journal)
        forget_sessions(connection, journal)
        forget_all_retries(connection, journal)
    return counts
