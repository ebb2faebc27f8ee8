"""What lands with the entries of a unit, inside its transaction."""

from collections.abc import Sequence

import apsw

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
from memoranda.plans.items import MemoryItem
from memoranda.stores.sqlite.items import count_items, forget_items, insert_item
from memoranda.stores.sqlite.origins import forget_origins, keep_origin, keep_salt
from memoranda.stores.sqlite.retries import count_retries, forget_all_retries
from memoranda.stores.sqlite.sessions import (
    count_sessions,
    forget_sessions,
    keep_aside,
    record,
    save_session,
)


def land(
    connection: apsw.Connection, journal: int, attachments: Sequence[Attachment], bodies: BodyCodec
) -> AttachmentCounts | None:
    """Write what a unit attaches to its entries, in its transaction; what went, if it erases."""
    gone = None
    for attachment in attachments:
        match attachment:
            case NewItem():
                insert_item(connection, journal, MemoryItem(**attachment._asdict()), bodies)
            case SessionSaved():
                save_session(connection, journal, attachment, bodies)
            case SessionAside():
                keep_aside(connection, journal, attachment, bodies)
            case CycleValues():
                record(connection, journal, attachment, bodies)
            case CycleSalt():
                keep_salt(connection, journal, attachment)
            case ItemOrigin():
                keep_origin(connection, journal, attachment)
            case AllErased(is_dry_run, tell):
                gone = _erase(connection, journal, is_dry_run=is_dry_run)
                tell(gone)
    return gone


def _erase(connection: apsw.Connection, journal: int, *, is_dry_run: bool) -> AttachmentCounts:
    counts = AttachmentCounts(
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
