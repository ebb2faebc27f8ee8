"""The same units give the same journal on SQLite and on PostgreSQL, byte for byte.

One computes entries and nodes in Python, the other in SQL: what they store is compared, and the
hashes are computed here once more.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoranda import MemoryFilter, MemoryRecordInput, MemoryUpdate
from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.identity import sha256
from memoranda.identity.merkle import NodeList, leaf_hash
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.journeys.records.codec import JsonCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import IdempotencyConflict, RecordExists, RecordNotFound
from memoranda.kernel.given import RetryKey
from memoranda.ledger.anchor import NewNote
from memoranda.ledger.attachments import Holdings
from memoranda.ledger.checkpoint import scope_origin
from memoranda.ledger.snapshot import ENTRIES, NODES, ROWS, TAGS
from memoranda.ledger.tree import blocks_for_inclusion, blocks_for_root, root
from memoranda.ledger.unit import (
    ACTIVE,
    KEPT,
    Current,
    Draft,
    OfSubject,
    StoredEntry,
    Unit,
    Version,
)
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.strategies import CountedIds, FrozenClock
from tests.stores.postgres.catalogue import asked

SCOPE = "둘 다"
RETRIES = "SELECT fingerprint, about, seq, entries, at FROM {}retries ORDER BY 1, 3, 5"
ACTOR = 'agent:"quoted" \\ 조수 😀'


class Counted:
    """Randomness that is none: the same bytes in every run."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, length: int) -> bytes:
        blocks = []
        for _ in range(-(-length // 32)):
            self._count += 1
            blocks.append(sha256(self._count.to_bytes(8)))
        return b"".join(blocks)[:length]


@dataclass
class Side:
    """One database, and what was told by it."""

    database: LedgerDatabase
    ledger: FilteredLedger
    records: Records[Any]
    clock: FrozenClock
    told: list[object] = field(default_factory=list)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Side]:
    clock, randomness = FrozenClock(), Randomness(draw=Counted())
    database, lease = await acquire(url, clock)
    try:
        assert not isinstance(database, DictDatabase)
        ledger = await new_ledger(database, clock, randomness)
        table = GovernedTable(ledger, Drafts(SCOPE, randomness))
        records = Records[Any](
            table, codec=JsonCodec(), actor=parse_actor("human:ada"), clock=clock, ids=CountedIds()
        )
        yield Side(database, ledger, records, clock)
    finally:
        await release(lease)


async def new_ledger(
    database: LedgerDatabase, clock: FrozenClock, randomness: Randomness
) -> FilteredLedger:
    origin = scope_origin(randomness.take(16).hex(), SCOPE)
    return await database.ledger(SCOPE, origin, clock.now_ms())


@pytest.fixture
async def sides(tmp_path: Path, postgres_url: str) -> AsyncIterator[tuple[Side, Side]]:
    async with AsyncExitStack() as stack:
        sqlite = await stack.enter_async_context(opened(f"sqlite:///{tmp_path}/both.db"))
        postgres = await stack.enter_async_context(opened(postgres_url))
        yield sqlite, postgres


# ------------------------------------------------------------------------------ the work


async def governed(side: Side, turns: int) -> None:
    """What users do, refusals and retries among it, while the clock also goes back."""
    records, told = side.records, side.told
    for n in range(turns):
        side.clock.advance(-5 if n % 17 == 3 else n % 3)
        given = MemoryRecordInput[Any](data={"n": n, "글": "가" * (n % 40)}, tags=tags(n))
        key = f"k{n}" if n % 3 == 0 else None
        first = await records.create(given, idempotency_key=key)
        again = await records.create(given, idempotency_key=key) if key else None
        told.append((first, again))
        ids = [f"given {n % 7}", f"id-{n // 2 + 1:06}"]
        try:
            await records.create(MemoryRecordInput(id=ids[0], data=f"text {n}", tags=tags(n + 1)))
            await records.update(ids[1], {"updated": n}, idempotency_key=f"u{n % 20}")
            await records.annotate(ids[0], tags=tags(n + 2), meta={"turn": n})
            await records.update_many([MemoryUpdate(id, {"many": n}) for id in [*ids, ids[1]]])
        except (RecordExists, RecordNotFound, IdempotencyConflict) as refused:
            told.append(str(refused))
        if n % 5 == 4:
            await records.delete(ids[0], reason="no longer so", idempotency_key=f"d{n}")
        if n % 11 == 10:
            await records.delete_many([ids[1], "nowhere", f"id-{n:06}"])
        if n == turns // 2:
            await records.create_many(
                [MemoryRecordInput(data=m, tags=("many", f"{m % 3}")) for m in range(300)]
            )
        if n == turns // 2 + 5:
            await records.clear()
    told.append(await records.query(MemoryFilter(order_by="updatedAt")))


def tags(n: int) -> tuple[str, ...]:
    long = "가" * (30 + n % 4)  # around the 96 bytes from where on PostgreSQL keeps a digest
    return tuple(dict.fromkeys(("x" if n % 2 else "y", f"t{n % 5}", long)))


async def ungoverned(side: Side) -> None:
    """What else a unit can hold: entries without an object, times, subjects, two in a row."""
    at = side.clock.now_ms()

    def version(n: int, status: str = "active") -> Version:
        return Version("timed", n, status, at, at + n, at, None, at + 9, "subject " + "s" * 3000)

    def first(_: Sequence[Current | None]) -> list[Draft]:
        made = Draft("create", b'{"v":1}', b"s" * 16, version(1), ("a", "b"))
        return [
            Draft("maintenance", b"{}", bytes(16)),
            made,
            Draft("checkpoint", b'"text"', b"t" * 16),
            follow(Current(*version(1), b'{"v":1}'), 2, ("a", "b"), ("b", "c")),
        ]

    def follow(current: Current, n: int, old: Sequence[str], new: Sequence[str]) -> Draft:
        body = b'{"v":%d}' % n
        return Draft("create", body, b"u" * 16, version(n), new, current, old)

    def second(found: Sequence[Current | None]) -> list[Draft]:
        (current, nothing) = found
        assert current is not None
        assert nothing is None
        return [
            follow(current, 3, ("b", "c"), ("c", "d")),
            follow(Current(*version(3), b'{"v":3}'), 4, ("c", "d"), ("b", "c")),
            Draft(
                "archive", b'{"v":5}', b"w" * 16, version(5, "archived"), (),
                Current(*version(4), b'{"v":4}'), ("b", "c"),
            ),
        ]  # fmt: skip

    key = RetryKey("a key", b"f" * 32)
    units = [
        Unit(ACTOR, at, first, key=key, about="timed"),
        Unit(ACTOR, at, first, key=key, about="timed"),
        Unit(ACTOR, at - 1000, second, ("timed", "nowhere")),
        Unit(ACTOR, at, lambda _: (), ("timed",), RetryKey("nothing", b"n" * 32), "timed"),
        Unit(ACTOR, at, lambda _: (), ("timed",), RetryKey("nothing", b"n" * 32), "timed"),
    ]
    for unit in units:
        side.told.append(await side.ledger.commit(unit))
    side.told.append(await side.ledger.versions("timed"))
    with pytest.raises(RecordExists) as caught:
        await side.ledger.commit(Unit(ACTOR, at, first))
    side.told.append(str(caught.value))


async def erasing(side: Side) -> None:
    """Objects made from each other, and what is read and left when they are erased."""
    at, ledger, told = side.clock.now_ms(), side.ledger, side.told
    subject = "주체 " + "s" * 3000
    long = [f"{name}{name * 500}" for name in ("a", "b", "c")]

    async def create(id: str, *inputs: str, subject: str | None = None) -> None:
        version = Version(id, 1, "active", at, at, None, None, None, subject)
        draft = Draft("create", id.encode(), b"e" * 16, version, ("e", id), inputs=inputs)
        key = RetryKey("made " + id, b"k" * 32)
        told.append(await ledger.commit(Unit(ACTOR, at, lambda _: [draft], (), key, id)))

    def erased(found: Sequence[Current | None]) -> list[Draft]:
        told.append([one and one._replace(holdings=holdings(one), since=-1) for one in found])
        return tombstones(found)

    def holdings(one: Current) -> Holdings:
        """How much of it is in the index of words depends on when they were merged."""
        return one.holdings._replace(postings=0)

    def tombstones(found: Sequence[Current | None]) -> list[Draft]:
        return [
            Draft(
                "archive",
                b"tombstone",
                bytes(16),
                Version(one.id, one.number + 1, "erased", 0, 0, None, None, None, None),
                (),
                one,
                ("e", one.id),
                erases=True,
            )
            for one in found
            if one is not None and one.status != "erased"
        ]

    def seen(found: Sequence[Current | None]) -> list[Draft]:
        told.append([one and (one.id, one.number, one.digests) for one in found])
        return []

    def made_and_erased(_: Sequence[Current | None]) -> list[Draft]:
        version = Version("brief", 1, "active", at, at, None, None, None, None)
        made = Draft("create", b"brief", bytes(16), version, ("e", "brief"))
        return [made, *tombstones([Current(*version, b"brief")])]

    await create(long[0], subject=subject)
    await create(long[1], long[0], "unknown")
    await create(long[2], long[1], long[0])
    await create("kept", "unknown", subject=subject + "!")
    await create("other", subject=subject)
    for reads in (OfSubject(subject), [long[1]], ["kept"], ["nowhere"]):
        await ledger.commit(Unit(ACTOR, at, seen, reads, is_erasing=True))
    await ledger.commit(Unit(ACTOR, at, seen, OfSubject(subject)))
    await ledger.commit(Unit(ACTOR, at, erased, OfSubject(subject), is_erasing=True))
    await ledger.commit(Unit(ACTOR, at, made_and_erased))
    await ledger.scrub()
    await ledger.commit(Unit(ACTOR, at, seen, OfSubject(subject), is_erasing=True))
    await ledger.commit(Unit(ACTOR, at, seen, [long[0], "kept"], is_erasing=True))
    for id in (*long, "kept", "brief"):
        told.append(await ledger.versions(id))
    await create("fresh")
    for everything in (ACTIVE, KEPT):
        await ledger.commit(Unit(ACTOR, at, seen, everything, is_erasing=True))
    await ledger.commit(Unit(ACTOR, at, erased, KEPT, is_erasing=True))
    await ledger.commit(Unit(ACTOR, at, seen, KEPT))


async def noting(side: Side) -> None:
    """Heads and notes of checkpoints, and the entries about the memory as a whole."""
    names = [SCOPE, "nobody's"]
    side.told += [await side.database.heads(names), await side.ledger.notes()]
    (head,) = await side.database.heads(names)
    for size, text in ((3, "three"), (40, "forty"), (3, "three again")):
        note = NewNote(SCOPE, head.origin, size, text, side.clock.now_ms())
        strange = [note._replace(origin="another"), note._replace(scope="nobody's")]
        await side.database.keep_notes([note, *strange])
    side.told += [await side.database.heads(names), await side.ledger.notes()]
    blocks = blocks_for_root(head.size)
    found = await side.database.hashes({SCOPE: blocks, "nobody's": blocks})
    assert found == {SCOPE: await side.ledger.hashes(blocks)}
    side.told += [found, await side.ledger.notices()]


# ------------------------------------------------------------------------------ what is stored


async def entries(side: Side) -> list[StoredEntry]:
    async with side.ledger.snapshot() as snapshot:
        return [entry async for chunk in snapshot.rows(ENTRIES) for entry in chunk]


async def everything(side: Side) -> dict[str, list[Any]]:
    """All that a snapshot holds, and what else the journal says."""
    size = (await side.ledger.head()).size
    blocks = sorted(blocks_for_root(size) | blocks_for_inclusion(size // 2, size))
    async with side.ledger.snapshot() as snapshot:
        return {
            "head": [await snapshot.head(), await side.ledger.head()],
            "entries": [each async for chunk in snapshot.rows(ENTRIES) for each in chunk],
            "nodes": [each async for chunk in snapshot.rows(NODES) for each in chunk],
            "rows": [each async for chunk in snapshot.rows(ROWS) for each in chunk],
            "tags": sorted([each async for chunk in snapshot.rows(TAGS) for each in chunk]),
            "bytes": [sorted((await side.ledger.bytes_at([0, 255, size - 1, size])).items())],
            "some": await side.ledger.entries_at([0, 255, size - 1, size]),
            "as of": [[each async for each in side.ledger.as_of(n)] for n in (0, 9, 256, size)],
            "blocks": [sorted((await side.ledger.hashes(blocks)).items())],
            "root": [root(size, await side.ledger.hashes(blocks_for_root(size)))],
        }


def in_sqlite(path: Path, query: str) -> list[Any]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(query.format("")))
    finally:
        connection.close()


def in_postgres(url: str, query: str) -> list[Any]:
    return asked(url, query.format("memoranda."))


def perfect(stored: Sequence[StoredEntry]) -> Iterator[tuple[int, int, bytes]]:
    """The nodes that are to be stored, from a tree of its own."""
    tree = NodeList()
    for entry in stored:
        tree.append(leaf_hash(entry.entry))
    for level in (8, 16):
        for number in range(len(stored) >> level):
            yield level, number, tree(level, number)


async def test_the_same_units_give_the_same_journal(
    sides: tuple[Side, Side], tmp_path: Path, postgres_url: str
) -> None:
    for side in sides:
        await governed(side, 120)
        await ungoverned(side)
        await noting(side)

    sqlite, postgres = sides
    assert sqlite.told == postgres.told
    expected, found = await everything(sqlite), await everything(postgres)
    for what, values in expected.items():
        assert values == found[what], what
    stored = await entries(postgres)
    assert len(stored) > 3 * 256
    path = tmp_path / "both.db"
    for query in (
        "SELECT scope, origin, opened_at, size, head, head_at FROM {}journals",
        RETRIES,
    ):
        assert in_sqlite(path, query) == in_postgres(postgres_url, query)
    assert found["nodes"] == list(perfect(stored))


async def test_the_same_erasures_leave_the_same(
    sides: tuple[Side, Side], tmp_path: Path, postgres_url: str
) -> None:
    for side in sides:
        await governed(side, 15)
        await erasing(side)

    sqlite, postgres = sides
    assert sqlite.told == postgres.told
    expected, found = await everything(sqlite), await everything(postgres)
    for what, values in expected.items():
        assert values == found[what], what
    assert any(entry.body is None for entry in found["entries"])
    path = tmp_path / "both.db"
    for query in (RETRIES, "SELECT input, output FROM {}derivations ORDER BY 1, 2"):
        assert in_sqlite(path, query) == in_postgres(postgres_url, query)


async def test_the_third_level_of_nodes_is_stored_as_well(sides: tuple[Side, Side]) -> None:
    _, side = sides
    drafts = [Draft("maintenance", b"1", bytes(16))] * (65_536 + 300)
    await side.ledger.commit(Unit(ACTOR, 1, lambda _: drafts[:65_000]))
    await side.ledger.commit(Unit(ACTOR, 1, lambda _: drafts[65_000:]))

    async with side.ledger.snapshot() as snapshot:
        nodes = [each async for chunk in snapshot.rows(NODES) for each in chunk]
    assert nodes == list(perfect(await entries(side)))
    assert nodes[-1].level == 16
