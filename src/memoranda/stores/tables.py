"""The tables of a snapshot, in either database: what is read, and what its rows become."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.ledger.attachments import CycleSalt, StoredItem, StoredKeyword
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import (
    ATTACHMENTS,
    DERIVATIONS,
    DOCUMENTS,
    ENTRIES,
    ITEMS,
    KEYWORDS,
    LEFT,
    MARKS,
    NODES,
    ROWS,
    SALTS,
    TAGS,
    THREADS,
    VECTORS,
    WORDS,
    Index,
    StoredDocument,
    StoredNodeHash,
    StoredRow,
    StoredTag,
    StoredVector,
    StoredWords,
    Table,
)
from memoranda.ledger.unit import Mark, StoredEntry, Version
from memoranda.ledger.words import thread_tag
from memoranda.stores import index
from memoranda.stores.attachments import CARRIED_ROWS, LEFT_ROWS
from memoranda.stores.documents import DocumentBlock
from memoranda.stores.items import item_id
from memoranda.stores.postings import ChunkDamaged, Segment, all_checked, wrong
from memoranda.stores.statements import Statement, shared

_VERSION: Final = slice(len(Version._fields))


class Unpacking(NamedTuple):
    """What gives bodies and entries from what is stored of them."""

    bodies: BodyCodec
    entry: Callable[[bytes], bytes]

    def body(self, stored: bytes | None) -> bytes | None:
        return None if stored is None else self.bodies.unpack(stored)


Make = Callable[[Unpacking, Iterable[Any]], list[Any]]


class Read(NamedTuple):
    """A statement with the journal as its one parameter, and what its rows become."""

    statement: Statement
    make: Make
    at_once: int = 256
    """Few enough that a garbage collection seldom finds them alive and looks at all there is,
    which would hold up the event loop."""


def _plain(make: Callable[[Iterable[Any]], Any]) -> Make:
    """Rows whose columns are the fields of a named tuple: `make` is its `_make`."""
    return lambda _, rows: list(map(make, rows))


def _each(make: Callable[[BodyCodec, Sequence[Any]], Any]) -> Make:
    return lambda unpacking, rows: [make(unpacking.bodies, row) for row in rows]


def _entries(unpacking: Unpacking, rows: Iterable[Any]) -> list[StoredEntry]:
    bodies, entry_of = unpacking
    unpack = bodies.unpack
    return [
        StoredEntry(seq, entry_of(entry), salt, None if body is None else unpack(body))
        for seq, entry, salt, body in rows
    ]


def _versions(unpacking: Unpacking, rows: Iterable[Any]) -> list[StoredRow]:
    found = []
    for row in rows:
        seq, since, is_newest, body = row[_VERSION.stop :]
        version = Version._make(row[_VERSION])
        found.append(StoredRow(version, seq, since, bool(is_newest), unpacking.body(body)))
    return found


def _items(unpacking: Unpacking, rows: Iterable[Any]) -> list[StoredItem]:
    return [
        StoredItem(session, item_id(id), unpacking.body(body), cycle, salt)
        for session, id, body, cycle, salt in rows
    ]


def _keywords(_: Unpacking, rows: Iterable[Any]) -> list[StoredKeyword]:
    found = map(StoredKeyword._make, rows)
    return [one if one.id is None else one._replace(id=item_id(one.id)) for one in found]


def _words(_: Unpacking, rows: Iterable[Any]) -> list[StoredWords]:
    """The postings of chunks; those that a search could not read, or would not, are none."""
    columns = list(zip(*rows, strict=True))
    if not columns:
        return []
    tokens, firsts, bodies, starts, ends = columns
    return [StoredWords(tokens, *all_checked(firsts, bodies, starts, ends))]


def _documents(_: Unpacking, rows: Iterable[Any]) -> list[StoredDocument]:
    """The documents of blocks; of one that can't be read, a document that there is not."""
    found: list[StoredDocument] = []
    for number, body in rows:
        try:
            found += DocumentBlock(number, body).rows()
        except ChunkDamaged as damaged:
            found.append(StoredDocument(-1, 0, "", str(damaged), 0, False))
    return found


def _threads(_: Unpacking, rows: Iterable[Any]) -> list[StoredTag]:
    return [thread_tag(thread, seq) for thread, seq in rows]


_ENTRIES: Final = Statement(
    "SELECT e.place & 0xffffffffff, e.entry, b.salt, b.body FROM entries e"
    " LEFT JOIN bodies b ON b.place = e.place"
    " WHERE e.place >= :journal << 40 AND e.place < (:journal + 1) << 40 ORDER BY e.place",
    "SELECT e.seq, e.entry, e.salt, e.body FROM memoranda.entries e"
    " WHERE e.journal = :journal ORDER BY e.seq",
)
_NODES: Final = shared(
    "SELECT n.level, n.number, n.hash FROM {nodes} n WHERE n.journal = :journal"
    " ORDER BY n.level, n.number"
)
_COLUMNS: Final = ", ".join(f"v.{name}" for name in Version._fields)
_ROWS: Final = Statement(
    f"SELECT {_COLUMNS}, v.seq, v.since, v.is_newest, b.body FROM versions v"  # noqa: S608 - ours
    " LEFT JOIN bodies b ON b.place = (v.journal << 40 | v.seq)"
    " WHERE v.journal = :journal ORDER BY v.id, v.number",
    f"SELECT {_COLUMNS}, v.seq, v.since, v.is_newest, e.body FROM memoranda.versions v"  # noqa: S608 - ours
    " LEFT JOIN memoranda.entries e ON e.journal = v.journal AND e.seq = v.seq"
    " WHERE v.journal = :journal ORDER BY v.id, v.number",
)
_TAGS: Final = Statement(
    "SELECT tag, created_at, id, since FROM tags WHERE journal = :journal",
    "SELECT coalesce(t.whole, t.tag), t.created_at, t.id, t.since FROM memoranda.tags t"
    " WHERE t.journal = :journal ORDER BY t.tag, t.created_at, t.since",
)
_MARKS: Final = shared("SELECT m.name, m.seq FROM {marks} m WHERE m.journal = :journal")
_DERIVATIONS: Final = shared(
    "SELECT d.input, 0, d.output, 0 FROM {derivations} d WHERE d.journal = :journal"
)
_WORDS: Final = shared(
    "SELECT p.token, p.first, p.body, s.first, s.until FROM {postings} p"
    " LEFT JOIN {segments} s ON s.journal = p.journal AND s.number = p.segment"
    " WHERE p.journal = :journal"
)
_THREADS: Final = shared("SELECT t.thread, t.seq FROM {threads} t WHERE t.journal = :journal")
_VECTORS: Final = shared(
    "SELECT x.seq, x.model, x.id, x.vector, v.status, v.is_newest FROM {vectors} x"
    " LEFT JOIN {versions} v ON v.journal = x.journal AND v.id = x.id AND v.seq = x.seq"
    " WHERE x.journal = :journal"
)
_ITEMS: Final = shared("""
SELECT i.session, i.id, i.body, o.cycle, s.salt FROM {memories} i
LEFT JOIN {item_origins} o ON o.journal = i.journal AND o.session = i.session AND o.id = i.id
LEFT JOIN {cycle_salts} s ON s.journal = o.journal AND s.cycle = o.cycle
WHERE i.journal = :journal
""")
_WITHOUT_ITEM: Final = shared("""
SELECT o.session, o.id, NULL, o.cycle, NULL FROM {item_origins} o
WHERE o.journal = :journal AND NOT EXISTS (
  SELECT 1 FROM {memories} i
  WHERE i.journal = o.journal AND i.session = o.session AND i.id = o.id
)
""")
# The key is what a keyword is kept once by; with another one it is none of the index's.
_KEYWORDS: Final = Statement(
    """
    SELECT k.session, k.gram, k.folded, k.marked, p.at, p.id FROM item_keywords k
    LEFT JOIN item_postings p ON p.keyword = k.number WHERE k.journal = :journal
    """,
    """
    SELECT k.session, k.gram, k.folded,
      CASE WHEN k.key = memoranda.tag_key(k.folded) THEN k.marked ELSE '' END, p.at, p.id
    FROM memoranda.item_keywords k
    LEFT JOIN memoranda.item_postings p ON p.journal = k.journal AND p.keyword = k.number
    WHERE k.journal = :journal
    """,
)
_SALTS: Final = shared("SELECT s.cycle, s.salt FROM {cycle_salts} s WHERE s.journal = :journal")

TABLES: Final[Mapping[Table[Any], Sequence[Read]]] = {
    ENTRIES: [Read(_ENTRIES, _entries)],
    NODES: [Read(_NODES, _plain(StoredNodeHash._make))],
    ROWS: [Read(_ROWS, _versions)],
    TAGS: [Read(_TAGS, _plain(StoredTag._make))],
    MARKS: [Read(_MARKS, _plain(Mark._make))],
    DERIVATIONS: [Read(_DERIVATIONS, _plain(StoredTag._make))],
    WORDS: [Read(_WORDS, _words, at_once=2_048)],  # most are of three postings
    DOCUMENTS: [Read(index.DOCUMENTS, _documents, at_once=1)],  # a thousand to a block
    THREADS: [Read(_THREADS, _threads)],
    VECTORS: [Read(_VECTORS, _plain(StoredVector._make))],
    ITEMS: [Read(_ITEMS, _items), Read(_WITHOUT_ITEM, _items)],
    KEYWORDS: [Read(_KEYWORDS, _keywords)],
    LEFT: [Read(statement, _each(make)) for statement, make in LEFT_ROWS],
    SALTS: [Read(_SALTS, _plain(CycleSalt._make))],
    ATTACHMENTS: [Read(statement, _each(make)) for statement, make in CARRIED_ROWS],
}

HEAD: Final = Statement(
    "SELECT origin, size, head FROM journals WHERE number = :journal",
    "SELECT j.origin, j.size, j.head FROM memoranda.journals j WHERE j.journal = :journal",
)
_INDEX: Final = "SELECT j.indexed, j.tokenizer, j.documents, j.length FROM "
INDEX: Final = Statement(
    _INDEX + "journals j WHERE j.number = :journal",
    _INDEX + "memoranda.journals j WHERE j.journal = :journal",
)
SEGMENTS: Final = index.SEGMENTS


def index_of(rows: Sequence[Any], segments: Sequence[Any]) -> Index:
    """The index that a row of `INDEX` is, and whether it can be whole by those of `SEGMENTS`."""
    ((*counts,),) = rows
    index = Index(*counts)
    return index._replace(broken=wrong(list(map(Segment._make, segments)), index.indexed))
