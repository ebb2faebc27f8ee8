"""The names of facts in SQLite: written and taken away inside a transaction, and looked up."""

from collections.abc import Sequence
from typing import Any, Final

import apsw

from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.attachments import CYCLE
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.fact import named_entries
from memoranda.ledger.unit import Expected, Mark, NamedFacts
from memoranda.stores.shorthand import ENTRY, unpacked
from memoranda.stores.sqlite.connection import SEQ, SEQ_BITS, Inserts, place
from memoranda.stores.sqlite.origins import forget_cycles
from memoranda.stores.sqlite.retries import forget_retries, retries_of_entries

MARK_ROWS: Final = Inserts("marks", "journal", "name", "seq")
_UNMARK: Final = "DELETE FROM marks WHERE journal = ? AND name = ? AND seq = ?"
_NEWEST: Final = "SELECT max(seq) FROM marks WHERE journal = ? AND name = ?"
_FORGET_BODY: Final = "DELETE FROM bodies WHERE place = ?"
_FORGET_MARKS: Final = "DELETE FROM marks WHERE journal = ? AND seq = ?"
_FORGET_DERIVATIONS: Final = "DELETE FROM derivations WHERE journal = ? AND output = ?"
_NAMES_AFTER: Final = (
    "SELECT DISTINCT name FROM marks WHERE journal = ? AND name > ? ORDER BY name LIMIT ?"
)
_ENTRIES_OF: Final = (
    "SELECT e.entry, b.body FROM marks m"  # noqa: S608 - ours
    f" JOIN entries e ON e.place = (m.journal << {SEQ_BITS} | m.seq)"
    " JOIN bodies b ON b.place = e.place WHERE m.journal = ? AND m.name = ? ORDER BY m.seq"
)
MARKED: Final = (
    f"SELECT e.place & {SEQ}, e.entry, b.salt, b.body FROM marks m"  # noqa: S608 - ours
    f" JOIN entries e ON e.place = (m.journal << {SEQ_BITS} | m.seq)"
    " LEFT JOIN bodies b ON b.place = e.place"
    " WHERE m.journal = ? AND m.name = ? AND m.seq > ? ORDER BY m.seq {order} LIMIT ?"
)
NAMES: Final = (
    "SELECT max(seq), name FROM marks WHERE journal = ? AND name > ? AND name >= ? AND name < ?"
    " GROUP BY name ORDER BY name LIMIT ?"
)
ENTRIES_AT: Final = (
    f"SELECT e.place & {SEQ}, e.entry, b.salt, b.body FROM json_each(?) j"  # noqa: S608 - ours
    " JOIN entries e ON e.place = j.value LEFT JOIN bodies b ON b.place = e.place ORDER BY e.place"
)
BYTES_AT: Final = (
    f"SELECT e.place & {SEQ}, e.entry FROM json_each(?) j"  # noqa: S608 - ours
    " JOIN entries e ON e.place = j.value ORDER BY e.place"
)
OUTPUTS: Final = "SELECT output FROM derivations WHERE journal = ? AND input = ? ORDER BY output"
ALL_MARKS: Final = "SELECT name, seq FROM marks WHERE journal = ?"


def check_expected(connection: apsw.Connection, journal: int, expects: Sequence[Expected]) -> None:
    """MarkMoved where the newest entry of a name is another one than expected."""
    for name, seq in expects:
        found: Any = connection.execute(_NEWEST, (journal, name)).fetchone()
        if found[0] != seq:
            raise MarkMoved(name)


def unmark(connection: apsw.Connection, journal: int, marks: Sequence[Mark]) -> None:
    for name, seq in marks:
        connection.execute(_UNMARK, (journal, name, seq))


def erase_entries(
    connection: apsw.Connection, journal: int, seqs: Sequence[int], names: Sequence[str]
) -> None:
    """Remove the bodies, marks and retries of entries, and what led to the names that they had."""
    forget_retries(connection, journal, retries_of_entries(connection, journal, seqs))
    for seq in seqs:
        connection.execute(_FORGET_BODY, (place(journal, seq),))
        connection.execute(_FORGET_MARKS, (journal, seq))
    for name in names:
        connection.execute(_FORGET_DERIVATIONS, (journal, name))
    if cycles := [name.removeprefix(CYCLE) for name in names if name.startswith(CYCLE)]:
        forget_cycles(connection, journal, cycles)


def entries_of(
    connection: apsw.Connection, journal: int, name: str, bodies: BodyCodec
) -> list[NamedFacts]:
    """The facts under a name that have a body, if there are any."""
    rows: Any = connection.execute(_ENTRIES_OF, (journal, name))
    read = ((unpacked(entry, ENTRY), bodies.unpack(body)) for entry, body in rows)
    entries = named_entries(read)
    return [NamedFacts(name, entries)] if entries else []


def names_after(connection: apsw.Connection, journal: int, last: str, limit: int) -> list[str]:
    """Every name of the journal after one, in their order."""
    rows: Any = connection.execute(_NAMES_AFTER, (journal, last, limit))
    return [name for (name,) in rows]
