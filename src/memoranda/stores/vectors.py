"""The vectors of one scope, in either database.

Without an extension of the server: vectors are read and compared here, a portion at a time, beside
the event loop.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, Final, TypeVar

from memoranda.identity import sha256
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.recall.arrays import np
from memoranda.recall.columns import Numbers
from memoranda.recall.ranking import Best
from memoranda.recall.vectors import (
    NO_VECTOR,
    Contents,
    Embedding,
    Near,
    NearestFound,
    Unembedded,
    are_vectors,
    similar,
    unembedded,
)
from memoranda.stores.selection import COLUMNS, WITH_ENTRY
from memoranda.stores.statements import (
    Each,
    JournalRows,
    Portions,
    Procedure,
    Statement,
    Texts,
    ask,
    shared,
)

R = TypeVar("R")

_SEQ: Final = COLUMNS.split(", ").index("v.seq")

AT_ONCE: Final = 2_048
"""Vectors that are compared in one go: three megabytes of 384 dimensions."""

LOOKED_UP_AT_ONCE: Final = 64

_MODULUS: Final = 1 << 256

_COUNT: Final = Statement(
    """
    SELECT (
      SELECT count(*) FROM versions WHERE journal = :journal AND is_newest AND status = 'active'
    ) - (SELECT count(*) FROM vectors WHERE journal = :journal AND model = :model)
    """,
    "SELECT active - embedded FROM memoranda.count_vectors(:journal, :origin, :model)",
)
# Along the index of changes: those without a vector are mostly the last ones.
_MISSING: Final = Statement(
    f"""
    SELECT v.id, v.seq, e.entry, b.salt, b.body FROM versions v INDEXED BY active_by_update
    {WITH_ENTRY.sqlite}
    WHERE v.journal = :journal AND v.is_newest AND v.status = 'active' AND NOT EXISTS
      (SELECT 1 FROM vectors x WHERE x.journal = :journal AND x.seq = v.seq AND x.model = :model)
    ORDER BY v.updated_at DESC, v.since DESC LIMIT :most
    """,  # noqa: S608 - ours
    "SELECT * FROM memoranda.without_vector(:journal, :origin, :model, :most)",
)
_PUT: Final = shared("""
INSERT INTO {vectors} (journal, seq, model, id, vector)
SELECT v.journal, v.seq, :model, v.id, :vector FROM {versions} v
WHERE v.journal = :journal AND v.id = :id AND v.seq = :seq AND v.is_newest AND v.status = 'active'
ON CONFLICT DO NOTHING RETURNING 1
""")
_VECTORS: Final = shared(
    "SELECT x.seq, x.id, x.vector FROM {vectors} x WHERE x.journal = :journal AND x.model = :model"
)
# The LIMITs of one make the planner look each up, whatever it believes of the tables.
_LOOK_UP: Final = Statement(
    f"""
    SELECT {COLUMNS} FROM json_each(:ids) n
    CROSS JOIN versions v ON v.journal = :journal AND v.id = n.value
    {WITH_ENTRY.sqlite}
    WHERE v.is_newest AND v.status = 'active'
    """,  # noqa: S608 - ours
    f"""
    SELECT {COLUMNS} FROM unnest(:ids) AS n (id) CROSS JOIN LATERAL (
      SELECT * FROM memoranda.versions v WHERE v.journal = :journal AND v.id = n.id
      ORDER BY v.number DESC LIMIT 1
    ) AS v
    LEFT JOIN LATERAL (
      SELECT e.entry, e.salt, e.body FROM memoranda.entries e
      WHERE e.journal = :journal AND e.seq = v.seq LIMIT 1
    ) AS e ON true CROSS JOIN LATERAL (SELECT e.salt, e.body) AS b
    WHERE v.is_newest AND v.status = 'active'
    """,  # noqa: S608 - ours
)
_FORGET_OTHERS: Final = shared(
    "DELETE FROM {vectors} AS x WHERE x.journal = :journal AND x.model <> :model RETURNING 1"
)


class StoredVectors:
    """The vectors of one journal (`VectorIndex`)."""

    def __init__(self, journal: JournalRows) -> None:
        self._journal = journal
        self._compared = journal.compared

    async def count_missing(self, model: str) -> int:
        (missing,) = await self._journal.rows(itemgetter(0), _COUNT, model=model)
        return max(int(missing), 0)

    async def missing(self, model: str, limit: int) -> list[Unembedded]:
        found = await self._journal.rows(self._unembedded, _MISSING, model=model, most=limit)
        return [one for some in found for one in some]

    def _unembedded(self, row: Any) -> list[Unembedded]:
        """What is damaged gets no vector, and is counted as one that has none."""
        id, *stored = row
        found = self._compared.entries([stored], [])
        return [unembedded(id, seq, entry.body or b"") for seq, entry in found.items()]

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        several = [embedding._asdict() | {"model": model} for embedding in embeddings]

        def put() -> Procedure[int]:
            return len((yield Each(_PUT, several)))

        return await self._journal.write(put)

    async def nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None = None,
    ) -> NearestFound:
        found = partial(self._nearest, model, vector, limit, make, damaged)
        return await self._journal.read(found)

    def _nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None,
    ) -> Procedure[NearestFound]:
        """A vector of another size is nobody's, and near none; of several, the nearest counts.

        Each that is found is what its vector was made of: one that is replaced takes its own away.
        """
        ((missing,),) = yield ask(_COUNT, model=model)
        ids: dict[int, str] = {}
        near = list[Numbers]()

        def compare(rows: Sequence[tuple[int, str, bytes]]) -> None:
            fitting = [row for row in rows if are_vectors(row[2], len(vector))]
            ids.update((seq, id) for seq, id, _ in fitting)
            near.append(similar(vector, [other for _, _, other in fitting]))

        yield Portions(_VECTORS, {"model": model}, AT_ONCE, compare)
        found = np.concatenate(near) if near else np.zeros(0)
        best = Best(np.fromiter(ids, np.int64, len(ids)), found)
        made: list[object] = []
        done, most = 0, LOOKED_UP_AT_ONCE
        while len(made) < limit and done < len(best):
            several = [Near(seq, points) for seq, points in best.pairs(most)[done:]]
            done, most = most, 2 * most
            rows = yield ask(_LOOK_UP, ids=Texts(ids[neighbour.seq] for neighbour in several))
            wanted = {neighbour.seq for neighbour in several}
            newest = [row for row in rows if row[_SEQ] in wanted]
            currents = dict(self._compared.currents(newest, damaged))
            values = (make(currents[n.seq], n) for n in several if n.seq in currents)
            made += islice((value for value in values if value is not None), limit - len(made))
        return NearestFound(made, max(int(missing), 0))

    async def forget_others(self, model: str) -> int:
        def forget() -> Procedure[int]:
            return len((yield ask(_FORGET_OTHERS, model=model)))

        return await self._journal.write(forget)

    async def contents(self, model: str) -> Contents:
        digest = VectorDigest()

        def feed(rows: Sequence[tuple[int, str, bytes]]) -> None:
            for seq, _, vector in rows:
                digest.feed(seq, vector)

        def read() -> Procedure[Contents]:
            yield Portions(_VECTORS, {"model": model}, AT_ONCE, feed)
            return digest.contents

        return await self._journal.read(read)


class VectorDigest:
    """A digest over vectors, in whatever order they come: as `ledger.words.IndexDigest`."""

    def __init__(self) -> None:
        self._vectors = 0
        self._sum = 0

    def feed(self, seq: int, vector: bytes) -> None:
        """Add the vector of an entry; what has none, and is to have none, is passed over."""
        if vector == NO_VECTOR:
            return
        self._vectors += 1
        self._sum += int.from_bytes(sha256(b"%d:%b" % (seq, vector)))

    @property
    def contents(self) -> Contents:
        """How many there were, and the sum of their sha256, 256 bits of it."""
        return Contents(self._vectors, (self._sum % _MODULUS).to_bytes(32).hex())
