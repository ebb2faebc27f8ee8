"""The names of facts in PostgreSQL, looked up inside a transaction that holds the head's lock."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import MarkMoved
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.fact import named_entries
from memoranda.ledger.unit import Current, Expected, NamedEntry, of_entries
from memoranda.stores.postgres.arrays import Integers, Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.snapshot import chunks

NAMES_AT_ONCE: Final = 1_000

_MOVED_MARK: Final = "SELECT memoranda.moved_mark(%s, %s, %s)"
# OFFSET 0 keeps the lookup of each name apart: joined, they might be looked for among all.
_ENTRIES_OF: Final = """
SELECT o.name, o.entry, o.body FROM unnest(%s) AS n (name) CROSS JOIN LATERAL (
  SELECT m.name, m.seq, e.entry, b.body FROM memoranda.marks m
  JOIN memoranda.entries e ON e.journal = m.journal AND e.seq = m.seq
  JOIN memoranda.bodies b ON b.journal = m.journal AND b.seq = m.seq
  WHERE m.journal = %s AND m.name = n.name OFFSET 0
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
    names, seqs = Texts(name for name, _ in expects), Integers(seq for _, seq in expects)
    asked = (Int8(journal), names, seqs)
    found = await connection.execute(_MOVED_MARK, asked, prepare=True, binary=True)
    ((moved,),) = await found.fetchall()
    if moved is not None:
        raise MarkMoved(moved)


async def entries_of(
    connection: Connection, journal: int, names: Sequence[str], bodies: BodyCodec
) -> list[Current]:
    """What a unit that erases is told of names: of each that has some, its entries with a body."""
    entries: dict[str, list[NamedEntry]] = {}
    asked = (Texts(names), Int8(journal))
    async with aclosing(chunks(connection, "facts", _ENTRIES_OF, asked)) as found:
        async for rows in found:
            for name, entry, body in rows:
                read = named_entries([(entry, bodies.unpack(body))])
                entries.setdefault(name, []).extend(read)
    facts = (of_entries(name, entries.get(name, ())) for name in names)
    return [one for one in facts if one is not None]


async def all_entries(
    connection: Connection, journal: int, bodies: BodyCodec
) -> AsyncIterator[list[Current]]:
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
