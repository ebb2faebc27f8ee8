"""Reading a journal: entries by number and by name, versions, notes. In either database."""

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any, Final

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.port import Sight, Wanted
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Head, KnownSubject, Mark, Past, StoredEntry
from memoranda.stores.compared import Compared
from memoranda.stores.selection import AFTER_ALL, COLUMNS, WITH_ENTRY
from memoranda.stores.statements import (
    Integers,
    JournalRows,
    Procedure,
    Statement,
    ask,
    shared,
)

_VERSIONS: Final = Statement(
    f"SELECT {COLUMNS} FROM versions v {WITH_ENTRY.sqlite}"  # noqa: S608 - ours
    " WHERE v.journal = :journal AND v.id = :id ORDER BY v.number",
    "SELECT * FROM memoranda.versions_of(:journal, :origin, :id)",
)
_ACTIVE: Final = Statement(
    "SELECT count(*) FROM (SELECT 1 FROM versions"
    " WHERE journal = :journal AND is_newest AND status = 'active' LIMIT :most)",
    "SELECT memoranda.count_active(:journal, :origin, :most)",
)
_EXPIRED: Final = Statement(
    "SELECT id FROM versions WHERE journal = :journal AND is_newest AND status = 'active'"
    " AND expires_at <= :at ORDER BY expires_at, id LIMIT :most",
    "SELECT memoranda.expired_by(:journal, :origin, :at, :most)",
)
_HEAD: Final = Statement(
    "SELECT origin, size, head FROM journals WHERE number = :journal",
    "SELECT origin, size, head FROM memoranda.head_of(:journal, :origin)",
)
# SQLite keeps an entry at one number: its journal, and below that 40 bits of its own number.
_AT: Final = "FROM json_each(:seqs) n JOIN entries e ON e.place = (:journal << 40 | n.value)"
_BYTES_AT: Final = Statement(
    f"SELECT e.place & 0xffffffffff, e.entry {_AT} ORDER BY e.place",
    "SELECT seq, entry FROM memoranda.bytes_at(:journal, :origin, :seqs)",
)
_ENTRY: Final = "SELECT e.place & 0xffffffffff, e.entry, b.salt, b.body "
_BODY: Final = " LEFT JOIN bodies b ON b.place = e.place "
_ENTRIES_AT: Final = Statement(
    f"{_ENTRY}{_AT}{_BODY}ORDER BY e.place",
    "SELECT * FROM memoranda.entries_at(:journal, :origin, :seqs)",
)


def _marked(order: str, is_newest_first: str) -> Statement:
    return Statement(
        f"{_ENTRY}FROM marks m JOIN entries e ON e.place = (m.journal << 40 | m.seq){_BODY}"
        "WHERE m.journal = :journal AND m.name = :name AND m.seq > :after"
        f" ORDER BY m.seq {order} LIMIT coalesce(:most, -1)",
        "SELECT * FROM memoranda.marked("  # noqa: S608 - ours
        f":journal, :origin, :name, :after, :most, {is_newest_first})",
    )


_OLDEST_FIRST: Final = _marked("ASC", "false")
_NEWEST_FIRST: Final = _marked("DESC", "true")
_MARKS: Final = Statement(
    "SELECT name, max(seq) FROM marks WHERE journal = :journal AND name > :after"
    " AND name >= :prefix AND name < :end GROUP BY name ORDER BY name LIMIT coalesce(:most, -1)",
    "SELECT name, seq FROM memoranda.marks_with(:journal, :origin, :prefix, :after, :most)",
)
_NEWEST_MARKS: Final = shared(
    "SELECT m.name, max(m.seq) FROM {marks} m WHERE m.journal = :journal"
    " AND m.name >= :prefix AND m.name < :end GROUP BY m.name ORDER BY m.name DESC LIMIT :most"
)
_SUBJECTS: Final = shared(
    "SELECT v.subject, count(DISTINCT v.id) FROM {versions} v WHERE v.journal = :journal"
    " AND v.subject IS NOT NULL AND v.subject > :after AND v.subject >= :prefix"
    " AND v.subject < :end GROUP BY v.subject ORDER BY v.subject LIMIT :most"
)
_OUTPUTS: Final = Statement(
    "SELECT output FROM derivations WHERE journal = :journal AND input = :input ORDER BY output",
    "SELECT memoranda.outputs_of(:journal, :origin, :input)",
)
# In SQLite by the same words as the index `notices`, which would else not be used.
_ARE_NOTICES: Final = (
    "WHERE (e.place >> 40) = :journal AND (substr(e.entry, 1, 1) IN (x'05', x'06', x'08')"
    " OR instr(e.entry, x'226b696e64223a22706f6c6963795f6368616e676522') > 0"
    " OR instr(e.entry, x'226b696e64223a22636f6e666f726d616e63655f627265616b22') > 0"
    " OR instr(e.entry, x'226b696e64223a226d61696e74656e616e636522') > 0)"
)
_NOTICES: Final = Statement(
    f"{_ENTRY}FROM entries e{_BODY}{_ARE_NOTICES} ORDER BY e.place",
    "SELECT * FROM memoranda.notices_of(:journal, :origin)",
)
NEWEST_NOTICE: Final = Statement(
    f"SELECT max(e.place) & 0xffffffffff FROM entries e {_ARE_NOTICES}",  # noqa: S608 - ours
    "SELECT memoranda.newest_notice(:journal)",
)
_NOTES: Final = Statement(
    "SELECT note FROM checkpoints WHERE journal = :journal ORDER BY size DESC"
    " LIMIT coalesce(:most, -1)",
    "SELECT memoranda.notes_of(:journal, :origin) LIMIT :most",
)
_first: Final = itemgetter(0)


class JournalReader:
    """Reads one journal; every statement names it."""

    _reads: JournalRows
    _compared: Compared
    _noticed: tuple[Any, list[StoredEntry]] = ([], [])
    """The rows of the notices that were read last, and what they say."""

    def read_blocks(self, blocks: Collection[Block]) -> Procedure[Blocks]:
        """Blocks of the tree, as a step of a procedure: each database stores them in its way."""
        raise NotImplementedError

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        return await self._reads.rows(self._compared.past, _VERSIONS, id=id)

    async def active(self, at_most: int) -> int:
        """How many objects are active; counted up to a number."""
        return int((await self._reads.rows(_first, _ACTIVE, most=at_most))[0])

    async def expired(self, at: int, limit: int) -> list[str]:
        """The ids of what is active and has expired by then, the first to expire first."""
        return await self._reads.rows(_first, _EXPIRED, at=at, most=limit)

    async def head(self) -> Head:
        return (await self._reads.rows(Head._make, _HEAD))[0]

    async def bytes_at(self, seqs: Collection[int]) -> dict[int, bytes]:
        """The bytes of these entries, by number; those that are not there are left out."""
        return dict(await self._reads.rows(self._compared.numbered, _BYTES_AT, seqs=_sorted(seqs)))

    async def entries_at(self, seqs: Collection[int]) -> list[StoredEntry]:
        """These entries with their bodies, by number; those that are not there are left out."""
        return await self._reads.rows(self._compared.entry, _ENTRIES_AT, seqs=_sorted(seqs))

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        """The entries that are found by a name, by number; with `newest_first` backwards."""
        statement = _NEWEST_FIRST if newest_first else _OLDEST_FIRST
        return await self._reads.rows(
            self._compared.marked, statement, name=name, after=after, most=limit
        )

    async def marks(self, prefix: str, *, after: str = "", limit: int | None = None) -> list[Mark]:
        """The names that begin so, by name, each with its newest entry."""
        end = prefix + AFTER_ALL
        return await self._reads.rows(
            Mark._make, _MARKS, prefix=prefix, end=end, after=after, most=limit
        )

    async def newest_marks(self, prefix: str, *, before: str = "", limit: int) -> list[Mark]:
        """The same backwards, from the last name, or from the one before this name."""
        end = before or prefix + AFTER_ALL

        def asked() -> Procedure[list[Mark]]:
            rows = yield ask(_NEWEST_MARKS, prefix=prefix, end=end, most=limit)
            return [Mark._make(row) for row in rows]

        return await self._reads.read(asked)

    async def subjects(self, prefix: str, *, after: str = "", limit: int) -> list[KnownSubject]:
        """The people that objects are about, by name, from the next name on."""

        def asked() -> Procedure[list[KnownSubject]]:
            rows = yield ask(
                _SUBJECTS, prefix=prefix, end=prefix + AFTER_ALL, after=after, most=limit
            )
            return [KnownSubject._make(row) for row in rows]

        return await self._reads.read(asked)

    async def outputs(self, input: str) -> list[str]:
        """What was made from an object or a fact: ids and names, in their order."""
        return await self._reads.rows(_first, _OUTPUTS, input=input)

    async def notices(self) -> list[StoredEntry]:
        """The entries about the memory as a whole, the first one first."""
        return self._noted(await self._reads.rows(tuple, _NOTICES))

    def _noted(self, rows: Sequence[Any]) -> list[StoredEntry]:
        """The same list as before, where the rows are: nearly always."""
        rows = [tuple(row) for row in rows]
        known, noted = self._noticed
        if rows != known:
            noted = list(map(self._compared.notice, rows))
            self._noticed = (rows, noted)
        return noted

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree."""
        return await self._reads.glimpse(lambda: self.read_blocks(blocks))

    async def sight(
        self,
        seqs: Collection[int],
        wanted: Callable[[int, Sequence[str]], Wanted],
        *,
        named: str,
        notes: int,
    ) -> Sight:
        """All that a verification looks at, in one read."""
        return await self._reads.glimpse(lambda: self._seen(seqs, wanted, named, notes))

    def _seen(
        self,
        seqs: Collection[int],
        wanted: Callable[[int, Sequence[str]], Wanted],
        named: str,
        notes: int,
    ) -> Procedure[Sight]:
        ((_, size, _),) = yield ask(_HEAD)
        newest = [note for (note,) in (yield ask(_NOTES, most=notes))]
        leaves, blocks = wanted(size, newest)
        entries, damaged = {}, None
        if seqs:
            for row in (yield ask(_ENTRIES_AT, seqs=_sorted(seqs))):
                try:
                    entries[row[0]] = self._compared.entry(row)
                except EntryDamaged as found:
                    damaged = damaged or found
        ends = yield ask(_BYTES_AT, seqs=_sorted({*leaves, size - 1}))
        hashes = (yield from self.read_blocks(blocks)) if blocks else {}
        notices = self._noted((yield ask(_NOTICES)))
        last: StoredEntry | EntryDamaged | None = None
        for row in (yield ask(_NEWEST_FIRST, name=named, after=-1, most=1)):
            try:
                last = self._compared.marked(row)
            except EntryDamaged as found:
                last = found
        made = dict(map(self._compared.numbered, ends))
        return Sight(size, entries, damaged, made, hashes, newest, notices, last)

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        return await self._reads.rows(_first, _NOTES, most=limit)


def _sorted(seqs: Collection[int]) -> Integers:
    return Integers(sorted(set(seqs)))
