"""What lands with the entries of a journal, and is read back: sessions, recordings, salts, items.

1. what a unit attaches to its entries is written in its transaction (`landed`)
2. what leads from a cycle to what it left
3. all of it, for a verification (`LEFT_ROWS`) and for another database (`CARRIED_ROWS`)
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final

from memoranda.kernel.errors import RecordExists
from memoranda.ledger.attachments import (
    AllErased,
    Attachment,
    AttachmentCounts,
    CycleSalt,
    CycleValues,
    HeldLease,
    ItemOrigin,
    Left,
    NewItem,
    OriginOf,
    SessionAside,
    SessionSaved,
    StoredItem,
    StoredRecording,
    StoredRetry,
    StoredSession,
)
from memoranda.ledger.codec import BodyCodec, check_readable
from memoranda.plans.items import MemoryItem, read_item
from memoranda.stores.items import insert_item, item_id
from memoranda.stores.leases import check_lease
from memoranda.stores.sessions import keep_aside, record, save_session
from memoranda.stores.statements import (
    JournalRows,
    Procedure,
    Statement,
    Texts,
    ask,
    shared,
)

# ------------------------------------------------------------------------------------------------
# 1. Inside the transaction of a unit, which has locked the journal.

_KEEP_SALT: Final = shared("""
INSERT INTO {cycle_salts} (journal, cycle, salt) VALUES (:journal, :cycle, :salt)
ON CONFLICT DO NOTHING RETURNING 1
""")
_KEEP_ORIGIN: Final = Statement(
    """
    INSERT INTO item_origins (journal, session, id, cycle, terms)
    VALUES (:journal, :session, unhex(:id, '-'), :cycle, :terms)
    ON CONFLICT DO NOTHING RETURNING 1
    """,
    """
    INSERT INTO memoranda.item_origins (journal, session, id, cycle, terms)
    VALUES (:journal, :session, :id, :cycle, :terms)
    ON CONFLICT DO NOTHING RETURNING 1
    """,
)
_OF_KEYWORDS: Final = "(SELECT k.number FROM item_keywords k WHERE k.journal = :journal)"
_OF_POSTINGS: Final = (
    f"FROM item_postings WHERE keyword IN {_OF_KEYWORDS}",
    "FROM memoranda.item_postings p WHERE p.journal = :journal",
)
_COUNTED: Final = (
    shared("SELECT count(*) FROM {memories} t WHERE t.journal = :journal"),
    Statement(*(f"SELECT count(*) {postings}" for postings in _OF_POSTINGS)),
    shared("""
    SELECT (SELECT count(*) FROM {sessions} s WHERE s.journal = :journal)
      + (SELECT count(*) FROM {sessions_aside} a WHERE a.journal = :journal)
    """),
    shared("SELECT count(*) FROM {recordings} t WHERE t.journal = :journal"),
    shared("SELECT count(*) FROM {retries} t WHERE t.journal = :journal"),
)
"""How many rows there are of each field of `AttachmentCounts`."""
_FORGET_ALL: Final = (
    Statement(*(f"DELETE {postings}" for postings in _OF_POSTINGS)),
    *(
        shared(f"DELETE FROM {{{table}}} AS t WHERE t.journal = :journal")  # noqa: S608 - ours
        for table in (
            "item_keywords", "memories", "item_origins", "cycle_salts",
            "sessions", "sessions_aside", "recordings", "retries",
        )
    ),
)  # fmt: skip


def landed(
    attachments: Sequence[Attachment], bodies: BodyCodec
) -> Procedure[AttachmentCounts | None]:
    """Write what a unit attaches to its entries; what went, if it erases.

    MarkMoved where another session than expected stands there, RecordExists where a cycle has a
    recording or a salt already, or an item another origin; LeaseLost where a lease was taken over.
    """
    gone = None
    for attachment in attachments:
        match attachment:
            case NewItem():
                yield from insert_item(MemoryItem(**attachment._asdict()), bodies)
            case SessionSaved():
                yield from save_session(attachment, bodies)
            case SessionAside():
                yield from keep_aside(attachment, bodies)
            case CycleValues():
                yield from record(attachment, bodies)
            case CycleSalt(cycle, salt):
                if not (yield ask(_KEEP_SALT, cycle=cycle, salt=salt)):
                    raise RecordExists(cycle)
            case ItemOrigin(session, id, cycle, terms):
                kept = ask(_KEEP_ORIGIN, session=session, id=id, cycle=cycle, terms=terms)
                if not (yield kept):
                    raise RecordExists(id)
            case HeldLease():
                yield from check_lease(attachment)
            case AllErased(is_dry_run, tell):
                gone = yield from _erased(is_dry_run=is_dry_run)
                tell(gone)
    return gone


def _erased(*, is_dry_run: bool) -> Procedure[AttachmentCounts]:
    counts = []
    for statement in _COUNTED:
        ((count,),) = yield ask(statement)
        counts.append(count)
    for statement in () if is_dry_run else _FORGET_ALL:
        yield ask(statement)
    return AttachmentCounts(*counts)


# ------------------------------------------------------------------------------------------------
# 2. From a cycle to what it left: the salt of its digests, and its items.

_SALT: Final = Statement(
    "SELECT salt FROM cycle_salts WHERE journal = :journal AND cycle = :cycle",
    "SELECT memoranda.salt_of(:journal, :origin, :cycle)",
)
_ITEMS: Final = Statement(
    "SELECT id FROM item_origins WHERE journal = :journal AND cycle = :cycle ORDER BY id",
    "SELECT id FROM memoranda.items_of(:journal, :origin, :cycle)",
)
_ORIGINS: Final = Statement(
    """
    SELECT o.cycle, (
      SELECT max(m.seq) FROM marks m WHERE m.journal = :journal AND m.name = 'cycle/' || o.cycle
    ), count(*)
    FROM json_each(:ids) n CROSS JOIN item_origins o
      ON o.journal = :journal AND o.session = :session AND o.id = unhex(n.value, '-')
    GROUP BY o.cycle ORDER BY o.cycle
    """,
    "SELECT cycle, seq, items FROM memoranda.origins_of(:journal, :origin, :session, :ids)",
)
_WHOLE: Final = Statement(
    """
    SELECT (
      SELECT coalesce(sum(terms), 0) FROM item_origins
      WHERE journal = :journal AND session = :session
    ) = (
      SELECT count(*) FROM item_keywords k JOIN item_postings p ON p.keyword = k.number
      WHERE k.journal = :journal AND k.session = :session
    )
    """,
    "SELECT memoranda.is_index_whole(:journal, :origin, :session)",
)
_STORED: Final = Statement(
    """
    SELECT i.id, o.cycle, s.salt, i.body FROM json_each(:ids) n CROSS JOIN memories i
      ON i.journal = :journal AND i.session = :session AND i.id = unhex(n.value, '-')
    LEFT JOIN item_origins o ON o.journal = :journal AND o.session = :session AND o.id = i.id
    LEFT JOIN cycle_salts s ON s.journal = :journal AND s.cycle = o.cycle
    """,
    "SELECT id, cycle, salt, body FROM memoranda.stored_items(:journal, :origin, :session, :ids)",
)


class StoredOrigins:
    """The salts of the cycles of one journal, and which items they stored (`Origins`)."""

    def __init__(self, journal: JournalRows) -> None:
        self._journal = journal

    async def salt(self, cycle: str) -> bytes | None:
        found = await self._journal.rows(_first, _SALT, cycle=cycle)
        return found[0] if found else None

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        asked = {"session": session_ref, "ids": Texts(ids)}
        return await self._journal.rows(OriginOf._make, _ORIGINS, **asked)

    async def items(self, cycle: str) -> list[str]:
        return await self._journal.rows(lambda row: item_id(row[0]), _ITEMS, cycle=cycle)

    async def is_index_whole(self, session_ref: str) -> bool:
        return bool((await self._journal.rows(_first, _WHOLE, session=session_ref))[0])

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        unpack = self._journal.bodies.unpack

        def made(row: Sequence[Any]) -> StoredItem:
            id, cycle, salt, body = row
            return StoredItem(session_ref, item_id(id), unpack(body), cycle, salt)

        return await self._journal.rows(made, _STORED, session=session_ref, ids=Texts(ids))


_first: Final = itemgetter(0)


# ------------------------------------------------------------------------------------------------
# 3. All that is attached to a journal. Each row of a table becomes one value.

MakesLeft = Callable[[BodyCodec, Sequence[Any]], Left]
MakesAttachment = Callable[[BodyCodec, Sequence[Any]], Attachment]


def _item(bodies: BodyCodec, row: Sequence[Any]) -> NewItem:
    id, session, body = row
    kept = read_item(_unpacked(bodies, body), id=item_id(id), session_ref=session)
    return NewItem(kept.id, kept.session_ref, kept.timestamp, kept.summary, tuple(kept.keywords))


def _unpacked(bodies: BodyCodec, stored: bytes) -> bytes:
    """A body; BodyUnreadable if it can't be unpacked, also where that is only marked."""
    body = bodies.unpack(stored)
    check_readable([body])
    return body


def _session(bodies: BodyCodec, row: Sequence[Any]) -> SessionSaved:
    name, session_id, body, cycle = row
    return SessionSaved(name, session_id, _unpacked(bodies, body), None, cycle)


def _aside(bodies: BodyCodec, row: Sequence[Any]) -> SessionAside:
    name, at, body = row
    return SessionAside(name, at, _unpacked(bodies, body))


def _recording(bodies: BodyCodec, row: Sequence[Any]) -> CycleValues:
    cycle, body = row
    return CycleValues(cycle, _unpacked(bodies, body))


def _salt(_: BodyCodec, row: Sequence[Any]) -> CycleSalt:
    return CycleSalt(*row)


def _origin(_: BodyCodec, row: Sequence[Any]) -> ItemOrigin:
    session, id, cycle, terms = row
    return ItemOrigin(session, item_id(id), cycle, terms)


def _left_session(bodies: BodyCodec, row: Sequence[Any]) -> Left:
    name, session_id, body, cycle, salt = row
    return StoredSession(name, session_id, bodies.unpack(body), cycle, salt)


def _left_recording(bodies: BodyCodec, row: Sequence[Any]) -> Left:
    cycle, body, salt = row
    return StoredRecording(cycle, bodies.unpack(body), salt)


def _left_retry(_: BodyCodec, row: Sequence[Any]) -> Left:
    return StoredRetry(*row)


_WITH_SALT: Final = (
    " t LEFT JOIN {cycle_salts} s ON s.journal = t.journal AND s.cycle = t.cycle"
    " WHERE t.journal = :journal"
)
LEFT_ROWS: Final[tuple[tuple[Statement, MakesLeft], ...]] = (
    (
        shared("SELECT t.name, t.session_id, t.body, t.cycle, s.salt FROM {sessions}" + _WITH_SALT),  # noqa: S608 - ours
        _left_session,
    ),
    (shared("SELECT t.cycle, t.body, s.salt FROM {recordings}" + _WITH_SALT), _left_recording),  # noqa: S608 - ours
    (
        shared(
            "SELECT t.about, t.seq, t.entries, t.at, t.key_digest, t.fingerprint, t.nonce"
            " FROM {retries} t WHERE t.journal = :journal"
        ),
        _left_retry,
    ),
)
"""What is attached to a journal, for a verification: statements, and what rows become."""

_CARRIED: Final[tuple[tuple[str, str, str, MakesAttachment], ...]] = (
    ("memories", "id, session, body", "session, id", _item),
    ("sessions", "name, session_id, body, cycle", "name", _session),
    ("sessions_aside", "name, at, body", "name, number", _aside),
    ("recordings", "cycle, body", "cycle", _recording),
    ("cycle_salts", "cycle, salt", "cycle", _salt),
    ("item_origins", "session, id, cycle, terms", "session, id", _origin),
)
CARRIED_ROWS: Final = tuple(
    (
        shared(f"SELECT {columns} FROM {{{table}}} WHERE journal = :journal ORDER BY {order}"),  # noqa: S608 - ours
        make,
    )
    for table, columns, order, make in _CARRIED
)
"""What is carried into another database, likewise."""
