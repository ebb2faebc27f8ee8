"""The index of words in a database: its statements, the same for both as far as they agree.

Each names a journal: one scope's index is made, read and emptied without another's.
"""

from typing import Final, NamedTuple

from memoranda.ledger.snapshot import Index
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.selection import ROW
from memoranda.stores.shorthand import first_bytes
from memoranda.stores.statements import Statement, shared


class State(NamedTuple):
    """How far an index reaches, whose it is, and what it counts."""

    indexed: int
    size: int
    tokenizer: str
    documents: int
    length: int
    revision: int
    """It is another one whenever the index was changed."""

    @property
    def described(self) -> Index:
        return Index(self.indexed, self.tokenizer, self.documents, self.length)


_STATE: Final = (
    "SELECT j.indexed, j.size, j.tokenizer, j.documents, j.length, j.revision FROM {} = :journal"
)
STATE: Final = Statement(
    _STATE.format("journals j WHERE j.number"),
    _STATE.format("memoranda.journals j WHERE j.journal"),
)

# ------------------------------------------------------------------------------------ to be read

# Only those of entries about objects: of the rest there are many, traces above all, and no words.
_FIRST: Final = [data.hex() for data in first_bytes(OBJECT_KINDS)]
_IN_SQLITE: Final = ", ".join(f"x'{data}'" for data in _FIRST)
_IN_POSTGRES: Final = ", ".join(f"'\\x{data}'::bytea" for data in _FIRST)
BODIES: Final = Statement(
    "SELECT b.place & 0xffffffffff, b.body FROM entries e CROSS JOIN bodies b ON b.place = e.place"  # noqa: S608 - ours
    " WHERE e.place >= (:journal << 40 | :start) AND e.place < (:journal << 40 | :end)"
    f" AND substr(e.entry, 1, 1) IN ({_IN_SQLITE}) ORDER BY e.place",
    "SELECT e.seq, e.body FROM memoranda.entries e"  # noqa: S608 - ours
    " WHERE e.journal = :journal AND e.seq >= :start AND e.seq < :end AND e.body IS NOT NULL"
    f" AND substring(e.entry FROM 1 FOR 1) IN ({_IN_POSTGRES}) ORDER BY e.seq",
)
"""The bodies of objects among some entries, by the number of the entry."""

EARLIER: Final = Statement(
    "SELECT v.id, v.seq FROM json_each(:ids) n CROSS JOIN versions v"
    " ON v.journal = :journal AND v.id = n.value",
    "SELECT v.id, v.seq FROM unnest(:ids) AS n (id) CROSS JOIN LATERAL ("
    " SELECT v.id, v.seq FROM memoranda.versions v"
    " WHERE v.journal = :journal AND v.id = n.id OFFSET 0) AS v",
)
"""The entries of all versions of some objects."""

INDEXED: Final = Statement(
    """
    SELECT v.id, v.seq, b.body FROM json_each(:ids) n
    CROSS JOIN versions v ON v.journal = :journal AND v.id = n.value AND v.number = (
      SELECT max(w.number) FROM versions w
      WHERE w.journal = :journal AND w.id = n.value AND w.seq < :indexed)
    LEFT JOIN bodies b ON b.place = (:journal << 40 | v.seq)
    WHERE v.status = 'active'
    """,
    """
    SELECT n.id, v.seq, e.body FROM unnest(:ids) AS n (id) CROSS JOIN LATERAL (
      SELECT v.seq, v.status FROM memoranda.versions v
      WHERE v.journal = :journal AND v.id = n.id AND v.seq < :indexed
      ORDER BY v.number DESC LIMIT 1
    ) AS v LEFT JOIN LATERAL (
      SELECT e.body FROM memoranda.entries e
      WHERE e.journal = :journal AND e.seq = v.seq LIMIT 1
    ) AS e ON true
    WHERE v.status = 'active'
    """,
)
"""The versions of some objects that an index of so many entries has, with their bodies."""

CHUNKS: Final = Statement(
    """
    SELECT p.token, p.first, p.body FROM json_each(:tokens) t
    CROSS JOIN segments s ON s.journal = :journal
    CROSS JOIN postings p ON p.journal = :journal AND p.segment = s.number AND p.token = t.value
    """,
    """
    SELECT p.token, p.first, p.body
    FROM memoranda.segments s CROSS JOIN unnest(:tokens) AS n (token) CROSS JOIN LATERAL (
      SELECT p.token, p.first, p.body FROM memoranda.postings p
      WHERE p.journal = :journal AND p.segment = s.number AND p.token = n.token OFFSET 0
    ) AS p
    WHERE s.journal = :journal
    """,
)
"""The chunks of some tokens, in any order."""

ALL_CHUNKS: Final = shared("SELECT p.first, p.body FROM {postings} p WHERE p.journal = :journal")
TOKENS: Final = shared("SELECT DISTINCT p.token FROM {postings} p WHERE p.journal = :journal")
"""Every token that an index has."""

VECTORS: Final = shared(
    "SELECT x.seq, x.vector FROM {vectors} x WHERE x.journal = :journal AND x.model = :model"
)
VECTORS_OF: Final = Statement(
    "SELECT x.seq, x.vector FROM json_each(:seqs) n CROSS JOIN vectors x"
    " ON x.journal = :journal AND x.seq = n.value AND x.model = :model",
    "SELECT n.seq, x.vector FROM unnest(:seqs) AS n (seq) CROSS JOIN LATERAL ("
    " SELECT x.vector FROM memoranda.vectors x"
    " WHERE x.journal = :journal AND x.seq = n.seq AND x.model = :model LIMIT 1) AS x",
)
"""The vectors of a model: all of them, or those of some entries."""

DOCUMENTS: Final = shared(
    "SELECT d.block, d.body FROM {documents} d WHERE d.journal = :journal ORDER BY d.block"
)
BLOCKS: Final = shared(
    "SELECT d.block, d.body FROM {documents} d WHERE d.journal = :journal AND d.block IN :blocks"
)
SEGMENTS: Final = shared(
    "SELECT s.number, s.first, s.until, s.level FROM {segments} s WHERE s.journal = :journal"
)

# Each chunk once, whoever is in it. While segments are merged, a posting is in one of two.
HOLDING: Final = Statement(
    """
    SELECT p.segment, p.token, p.first, p.body FROM (
      SELECT DISTINCT s.number AS segment, n.value ->> 1 AS token, (
        SELECT max(q.first) FROM postings q
        WHERE q.journal = :journal AND q.segment = s.number AND q.token = n.value ->> 1
          AND q.first <= n.value ->> 0
      ) AS first
      FROM json_each(:pairs) n CROSS JOIN segments s
      WHERE s.journal = :journal AND s.first <= n.value ->> 0 AND s.until > n.value ->> 0
    ) AS k CROSS JOIN postings p ON p.journal = :journal
      AND p.segment = k.segment AND p.token = k.token AND p.first = k.first
    """,
    """
    WITH k AS (
      SELECT DISTINCT p.segment, p.token, p.first
      FROM unnest(:seqs, :tokens) AS n (seq, token)
      CROSS JOIN LATERAL (
        SELECT s.number FROM memoranda.segments s
        WHERE s.journal = :journal AND s.first <= n.seq AND s.until > n.seq OFFSET 0
      ) AS s
      CROSS JOIN LATERAL (
        SELECT p.segment, p.token, p.first FROM memoranda.postings p
        WHERE p.journal = :journal AND p.segment = s.number AND p.token = n.token
          AND p.first <= n.seq ORDER BY p.first DESC LIMIT 1
      ) AS p
    )
    SELECT k.segment, k.token, k.first, p.body FROM k CROSS JOIN LATERAL (
      SELECT p.body FROM memoranda.postings p
      WHERE p.journal = :journal AND p.segment = k.segment AND p.token = k.token
        AND p.first = k.first LIMIT 1
    ) AS p
    """,
)
"""The chunks that may hold the postings of some entries and tokens."""

LAST_MOVED: Final = shared(
    "SELECT p.token FROM {postings} p WHERE p.journal = :journal AND p.segment = :segment"
    " ORDER BY p.token DESC LIMIT 1"
)
NEXT_CHUNKS: Final = shared(
    "SELECT p.token, p.first, p.body FROM {postings} p"
    " WHERE p.journal = :journal AND p.segment = :segment AND p.token > :after"
    " ORDER BY p.token, p.first LIMIT :most"
)

# -------------------------------------------------------------------------- records, by the entry

STORED: Final = Statement(
    "SELECT n.value, e.entry, b.salt, b.body FROM json_each(:seqs) n"
    " LEFT JOIN bodies b ON b.place = (:journal << 40 | n.value)"
    " LEFT JOIN entries e ON e.place = (:journal << 40 | n.value)",
    "SELECT n.seq, e.entry, e.salt, e.body FROM unnest(:seqs) AS n (seq) LEFT JOIN LATERAL ("
    " SELECT e.entry, e.salt, e.body FROM memoranda.entries e"
    " WHERE e.journal = :journal AND e.seq = n.seq LIMIT 1) AS e ON true",
)
"""Some entries with their bodies."""

VERSIONS: Final = Statement(
    f"SELECT v.seq, v.since, {ROW} FROM json_each(:named) n CROSS JOIN versions v"  # noqa: S608 - ours
    " ON v.journal = :journal AND v.id = n.value ->> 0 AND v.number = n.value ->> 1"
    " WHERE v.seq = n.value ->> 2 AND v.is_newest AND v.status = 'active'",
    f"SELECT v.seq, v.since, {ROW} FROM unnest(:seqs) AS n (seq) CROSS JOIN LATERAL ("  # noqa: S608 - ours
    " SELECT * FROM memoranda.versions v WHERE v.journal = :journal AND v.seq = n.seq LIMIT 1"
    ") AS v WHERE v.is_newest AND v.status = 'active'",
)
"""The versions that some entries led to, if they are current: by id and number, or by entry."""

NEWEST: Final = shared(
    "SELECT v.created_at, v.since, v.seq FROM {versions} v"
    " WHERE v.journal = :journal AND v.is_newest AND v.status = 'active'"
    " AND (v.created_at, v.since) < (:time, :since)"
    " ORDER BY v.created_at DESC, v.since DESC LIMIT :most"
)
"""What is active, the newest first."""

# --------------------------------------------------------------------------------- to be written

_CLAIM: Final = (
    "UPDATE {} SET indexed = :end, tokenizer = :tokenizer, documents = {}documents + :documents,"
    " length = {}length + :length, revision = {}revision + 1"
    " WHERE {} = :journal AND revision = :revision AND indexed = :indexed RETURNING 1"
)
CLAIM: Final = Statement(
    _CLAIM.format("journals", "", "", "", "number"),
    _CLAIM.format("memoranda.journals AS j", "j.", "j.", "j.", "j.journal"),
)
"""Move what an index counts, if nobody changed it since it was looked at."""

PUT_SEGMENT: Final = shared(
    "INSERT INTO {segments} (journal, number, first, until, level)"
    " VALUES (:journal, :number, :first, :until, :level) ON CONFLICT DO NOTHING"
)
DROP_SEGMENT: Final = shared("DELETE FROM {segments} WHERE journal = :journal AND number = :number")
DROP_MOVED: Final = shared(
    "DELETE FROM {postings} WHERE journal = :journal AND segment = :segment"
    " AND token > :after AND token <= :upto"
)
PUT_CHUNKS: Final = Statement(
    "INSERT INTO postings (journal, segment, token, first, body)"
    " VALUES (:journal, :segments, :tokens, :firsts, :bodies)",
    "INSERT INTO memoranda.postings (journal, segment, token, first, body)"
    " SELECT :journal, n.segment, n.token, n.first, n.body"
    " FROM unnest(:segments, :tokens, :firsts, :bodies) AS n (segment, token, first, body)",
)
DROP_CHUNKS: Final = Statement(
    "DELETE FROM postings WHERE journal = :journal AND segment = :segments AND token = :tokens"
    " AND first = :firsts",
    "SELECT memoranda.take_postings(:journal, :segments, :tokens, :firsts)",
)
DROP_BLOCKS: Final = shared("DELETE FROM {documents} WHERE journal = :journal AND block IN :blocks")
PUT_BLOCKS: Final = Statement(
    "INSERT INTO documents (journal, block, body) VALUES (:journal, :blocks, :bodies)",
    "INSERT INTO memoranda.documents (journal, block, body)"
    " SELECT :journal, n.block, n.body FROM unnest(:blocks, :bodies) AS n (block, body)",
)
DROP_THREADS: Final = Statement(
    "DELETE FROM threads WHERE journal = :journal AND thread = :threads AND seq = :seqs",
    "DELETE FROM memoranda.threads t USING unnest(:threads, :seqs) AS n (thread, seq)"
    " WHERE t.journal = :journal AND t.thread = n.thread AND t.seq = n.seq",
)
PUT_THREADS: Final = Statement(
    "INSERT INTO threads (journal, thread, seq) VALUES (:journal, :threads, :seqs)",
    "INSERT INTO memoranda.threads (journal, thread, seq)"
    " SELECT :journal, n.thread, n.seq FROM unnest(:threads, :seqs) AS n (thread, seq)",
)
EMPTIED: Final = tuple(
    shared(f"DELETE FROM {{{table}}} WHERE journal = :journal")  # noqa: S608 - ours
    for table in ("postings", "segments", "documents", "threads")
)
RESET: Final = Statement(
    "UPDATE journals SET indexed = 0, documents = 0, length = 0, revision = revision + 1"
    " WHERE number = :journal",
    "UPDATE memoranda.journals AS j SET indexed = 0, documents = 0, length = 0,"
    " revision = j.revision + 1 WHERE j.journal = :journal",
)
NAMED: Final = Statement(
    "UPDATE journals SET tokenizer = :tokenizer WHERE number = :journal",
    "UPDATE memoranda.journals SET tokenizer = :tokenizer WHERE journal = :journal",
)
