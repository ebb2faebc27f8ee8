"""Taking documents out of the word index in PostgreSQL: the chunks that hold them, without them.

Only the words of a document lead to its postings. When they can't be found any more, because its
body can't be read or the index is another tokenizer's, all of the index goes, and is made anew.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.stores.postgres.arrays import Blobs, Integers, Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.index import rows_of
from memoranda.stores.postings import Chunk, without
from memoranda.stores.words import Words

PAIRS_AT_ONCE: Final = 8_192

# Each chunk once, whoever is in it: first where they are, then what they have.
_HOLDING: Final = """
WITH k AS (
  SELECT DISTINCT p.segment, p.token, p.first
  FROM unnest(%s, %s) AS n (seq, token)
  CROSS JOIN LATERAL (
    SELECT s.number FROM memoranda.segments s
    WHERE s.journal = %s AND s.first <= n.seq AND s.until > n.seq OFFSET 0
  ) AS s
  CROSS JOIN LATERAL (
    SELECT p.segment, p.token, p.first FROM memoranda.postings p
    WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token AND p.first <= n.seq
    ORDER BY p.first DESC LIMIT 1
  ) AS p
)
SELECT k.segment, k.token, k.first, p.body FROM k CROSS JOIN LATERAL (
  SELECT p.body FROM memoranda.postings p
  WHERE p.journal = %s AND p.segment = k.segment AND p.token = k.token AND p.first = k.first
  LIMIT 1
) AS p
"""


class Row(NamedTuple):
    """A chunk where it stands: its segment, its token."""

    segment: int
    token: str
    chunk: Chunk


class Taken(NamedTuple):
    """What is written for documents that go: these rows go, and those come."""

    gone: Mapping[int, Words]
    old: Sequence[Row]
    left: Sequence[Row]

    @property
    def parameters(self) -> tuple[object, ...]:
        """Those of `memoranda.take_documents`, after the journal."""
        length = sum(words.length for words in self.gone.values())
        return (
            *(Int8(len(self.gone)), Int8(length)),
            *_keys(self.old),
            *_keys(self.left),
            Blobs(row.chunk.body for row in self.left),
            Integers(self.gone),
        )


async def taking(connection: Connection, journal: int, gone: Mapping[int, Words]) -> Taken:
    """What is to be written so that these documents are not in the index, by their entries."""
    if not gone:
        return Taken({}, (), ())
    pairs = [(seq, token) for seq, words in gone.items() for token in words.counts]
    numbered = Int8(journal)
    found: set[Row] = set()
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        asked = (Integers(seq for seq, _ in some), Texts(token for _, token in some))
        rows: Any = await rows_of(connection, _HOLDING, (*asked, numbered, numbered, numbered))
        found |= {Row(segment, token, Chunk(first, body)) for segment, token, first, body in rows}
    return Taken(gone, *without_these(sorted(found), pairs))


def without_these(
    rows: Sequence[Row], pairs: Sequence[tuple[int, str]]
) -> tuple[list[Row], list[Row]]:
    """The rows that hold a posting of these entries and tokens, and what is left of them."""
    by_token: dict[str, list[Row]] = {}
    for row in rows:
        by_token.setdefault(row.token, []).append(row)
    seqs: dict[Row, list[int]] = {}
    for held in by_token.values():
        held.sort(key=_first)
    for seq, token in pairs:
        holding = by_token.get(token, [])
        at = bisect_right(holding, seq, key=_first) - 1
        if at >= 0:
            seqs.setdefault(holding[at], []).append(seq)
    old, left = [], []
    for row, taken in seqs.items():
        chunks = [row.chunk]
        for seq in taken:
            chunks = [rest for chunk in chunks for rest in without(chunk, seq)]
        if chunks != [row.chunk]:
            old.append(row)
            left += [row._replace(chunk=chunk) for chunk in chunks]
    return old, left


def _first(row: Row) -> int:
    return row.chunk.first


def _keys(rows: Sequence[Row]) -> tuple[Integers, Texts, Integers]:
    return (
        Integers(row.segment for row in rows),
        Texts(row.token for row in rows),
        Integers(row.chunk.first for row in rows),
    )
