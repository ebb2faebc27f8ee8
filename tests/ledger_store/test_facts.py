"""Facts are found by their marks, rest on what is expected, and go with what they were made from.

The same on SQLite and on PostgreSQL, there as the role that row-level security binds.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.identity import decode
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.kernel.errors import IdempotencyConflict, MarkMoved
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.entry import FactKind, read_entry
from memoranda.ledger.fact import Fact, erasure
from memoranda.ledger.unit import (
    ENTRIES,
    KEPT,
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    Mark,
    NamedEntry,
    OfSubject,
    StoredEntry,
    Unit,
    Version,
)
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.simulators import FrozenClock
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import make_roles

ACTOR = "agent:worker"
SALT = b"s" * 16
_SCOPES = count()

Decide = Callable[[Sequence[Current | None]], Sequence[Draft]]


@pytest.fixture(scope="session")
def postgres_of_facts(postgres_server: PostgresServer) -> str:
    """One database for all of them."""
    return asyncio.run(make_roles(postgres_server, postgres_server.create_database())).app


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database; PostgreSQL's is shared, so tests keep apart by scope."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_of_facts"))
    return f"sqlite:///{tmp_path}/facts.db"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[LedgerDatabase]:
    database, lease = await acquire(url, FrozenClock())
    assert not isinstance(database, DictDatabase)
    try:
        yield database
    finally:
        await release(lease)


@pytest.fixture
async def ledger(url: str) -> AsyncIterator[FilteredLedger]:
    """A scope that no other test has."""
    scope = f"facts-{next(_SCOPES)}"
    async with opened(url) as database:
        yield await database.ledger(scope, f"origin of {scope}", 0)


# ------------------------------------------------------------------------- what is written


def fact(
    *marks: str,
    kind: FactKind = "proposal",
    says: str = "",
    unmarks: Sequence[Mark] = (),
    inputs: Sequence[str] = (),
    output: str = "",
) -> Draft:
    """A fact with these marks."""
    body = {"type": "Test", "says": says}
    return Fact(kind, body, marks, unmarks, inputs, output).draft(SALT)


def object_(id: str, *inputs: str, subject: str | None = None) -> Draft:
    version = Version(id, 1, "active", 1, 1, None, None, None, subject)
    return Draft("create", b'{"id":"%b"}' % id.encode(), SALT, version, inputs=inputs)


async def write(
    ledger: FilteredLedger,
    *drafts: Draft,
    expects: Sequence[Expected] = (),
    key: RetryKey | None = None,
    about: str = "",
) -> Committed:
    return await ledger.commit(
        Unit(ACTOR, 1, lambda _: drafts, key=key, about=about, expects=expects)
    )


def gone(found: Sequence[Current | None]) -> list[Draft]:
    """Objects and facts erased, as an eraser does it: the facts by one entry."""
    drafts, facts, names = [], dict[int, NamedEntry](), []
    for one in found:
        if one is None or one.status == "erased":
            continue
        if one.status == ENTRIES:
            names.append(one.id)
            facts.update((entry.seq, entry) for entry in one.entries)
            continue
        version = Version(one.id, one.number + 1, "erased", 0, 0, None, None, None, None)
        drafts.append(Draft("archive", b"{}", bytes(16), version, (), one, erases=True))
    if facts:
        entries = [facts[seq] for seq in sorted(facts)]
        drafts.append(erasure(entries, names, reason="asked", cause="subject", salt=SALT))
    return drafts


async def erase(
    ledger: FilteredLedger, reads: Sequence[str] | OfSubject | Everything
) -> list[Current]:
    """Erase what is read and what was made from it; what the unit was told."""
    told: list[Current] = []

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        told.extend(one for one in found if one is not None)
        return gone(found)

    await ledger.commit(Unit(ACTOR, 1, decide, reads, is_erasing=True))
    return told


# --------------------------------------------------------------------------- what is found


def seqs(found: Sequence[StoredEntry]) -> list[int]:
    return [one.seq for one in found]


async def names(ledger: FilteredLedger, prefix: str = "", **asked: Any) -> list[str]:
    return [mark.name for mark in await ledger.marks(prefix, **asked)]


async def all_marks(ledger: FilteredLedger) -> list[Mark]:
    async with ledger.snapshot() as snapshot:
        return sorted([one async for chunk in snapshot.marks() for one in chunk])


async def all_derivations(ledger: FilteredLedger) -> list[tuple[str, str]]:
    async with ledger.snapshot() as snapshot:
        found = [one async for chunk in snapshot.derivations() for one in chunk]
    return sorted((one.tag, one.id) for one in found)


async def size(ledger: FilteredLedger) -> int:
    return (await ledger.head()).size


async def test_what_is_marked_is_found_in_its_order(ledger: FilteredLedger) -> None:
    for n in range(3):
        await write(ledger, fact("proposal/a", says=f"{n}"), fact("proposal/b"))

    found = await ledger.marked("proposal/a")

    assert seqs(found) == [0, 2, 4]
    assert [decode(one.body or b"")["says"] for one in found] == ["0", "1", "2"]
    assert [read_entry(one.entry).kind for one in found] == ["proposal"] * 3
    assert seqs(await ledger.marked("proposal/a", after=0)) == [2, 4]
    assert seqs(await ledger.marked("proposal/a", limit=2)) == [0, 2]
    assert seqs(await ledger.marked("proposal/a", after=0, limit=1)) == [2]
    assert seqs(await ledger.marked("proposal/a", newest_first=True)) == [4, 2, 0]
    assert seqs(await ledger.marked("proposal/a", newest_first=True, limit=1)) == [4]
    assert seqs(await ledger.marked("proposal/a", after=2, newest_first=True, limit=5)) == [4]
    assert await ledger.marked("proposal/a", limit=0) == []
    assert await ledger.marked("proposal/") == []


async def test_entries_are_found_by_their_numbers(ledger: FilteredLedger) -> None:
    await write(ledger, *(fact("a", says=f"{n}") for n in range(5)))

    found = await ledger.entries_at([3, 1, 99])

    assert seqs(found) == [1, 3]
    assert await ledger.bytes_at([3, 1, 99]) == {one.seq: one.entry for one in found}
    assert await ledger.entries_at([]) == []


async def test_names_are_listed_by_what_they_begin_with(ledger: FilteredLedger) -> None:
    every = [
        "a", "a/", "a/%", "a/%b", "a/_", "a/ab", "a/b", "a/가", "a/가나", "a/😀", "a0", "b/a",
        "a/\\", "A/a", "가/a", "a/é",
        "a/\U0010ffff", "a/\U0010ffff\U0010ffff", "\U0010ffff", "a/\ud7ff", "a/\ue000",
    ]  # fmt: skip
    await write(ledger, *(fact(name) for name in every))
    await write(ledger, fact("a/가"))

    for prefix in (
        "",
        "a",
        "a/",
        "a/%",
        "a/_",
        "a/a",
        "a/가",
        "가",
        "a/\\",
        "nothing",
        "a/\U0010ffff",
        "a/\ud7ff",
    ):
        expected = sorted(name for name in every if name.startswith(prefix))
        assert await names(ledger, prefix) == expected, prefix
    assert await ledger.marks("a/가") == [Mark("a/가", len(every)), Mark("a/가나", 8)]


async def test_names_are_listed_page_by_page(ledger: FilteredLedger) -> None:
    every = sorted(f"open/{n}" for n in range(25))
    await write(ledger, *(fact(name) for name in reversed(every)), fact("opened"), fact("a"))

    pages, last = [], ""
    while page := await names(ledger, "open/", after=last, limit=10):
        pages += page
        last = page[-1]

    assert pages == every
    assert await names(ledger, "open/", after="open/99") == []
    assert await names(ledger, "open/", after="a", limit=1) == every[:1]


async def test_a_mark_that_is_taken_away_is_not_found(ledger: FilteredLedger) -> None:
    await write(ledger, fact("proposal/a", "open/a"), fact("proposal/a", "open/a"))
    await write(ledger, fact("proposal/a", unmarks=[Mark("open/a", 0), Mark("open/b", 0)]))

    assert seqs(await ledger.marked("open/a")) == [1]
    assert seqs(await ledger.marked("proposal/a")) == [0, 1, 2]

    await write(ledger, fact("decided/a", kind="decision", unmarks=[Mark("open/a", 1)]))

    assert await ledger.marked("open/a") == []
    assert await names(ledger, "open/") == []
    assert await all_marks(ledger) == [
        Mark("decided/a", 3),
        *(Mark("proposal/a", n) for n in range(3)),
    ]


async def test_only_facts_have_marks(ledger: FilteredLedger) -> None:
    await write(ledger, Draft("maintenance", b"{}", SALT, marks=("a",)))
    await write(ledger, object_("one")._replace(marks=("b",)))

    assert await all_marks(ledger) == []


async def test_each_entry_has_the_actor_who_acted(ledger: FilteredLedger) -> None:
    mine, theirs = fact("a"), fact("a")._replace(actor='human:"김" \\ 😀')
    await write(ledger, mine, theirs, mine, object_("one")._replace(actor="human:ada"))

    found = await ledger.entries_at(range(4))

    actors = [read_entry(one.entry).actor for one in found]
    assert actors == [ACTOR, 'human:"김" \\ 😀', ACTOR, "human:ada"]


async def test_long_names_and_many_marks_are_as_good_as_any(ledger: FilteredLedger) -> None:
    # 524 characters of four bytes that can't be packed: the longest id, and a word before it.
    long = "proposal/aaa" + "".join(chr(0x20000 + 7919 * n % 40_000) for n in range(512))
    many = [f"{long[:-3]}{n:03}" for n in range(200)]
    await write(ledger, fact(*many))
    await write(ledger, fact(long, inputs=[many[0], long], output=many[1]))

    assert seqs(await ledger.marked(long)) == [1]
    assert await names(ledger, long[:500]) == sorted([*many, long])
    assert seqs(await ledger.marked(many[117])) == [0]
    assert await ledger.outputs(many[0]) == await ledger.outputs(long) == [many[1]]
    with pytest.raises(MarkMoved):
        await write(ledger, fact(long), expects=[Expected(long, 0)])
    await write(ledger, fact(unmarks=[Mark(name, 0) for name in many]))
    assert await all_marks(ledger) == [Mark(long, 1)]


# ------------------------------------------------------------------------ what is expected


async def test_what_is_expected_is_checked_when_the_unit_runs(ledger: FilteredLedger) -> None:
    await write(ledger, fact("branch/a"), expects=[Expected("branch/a", None)])
    await write(ledger, fact("branch/a"), expects=[Expected("branch/a", 0), Expected("b", None)])
    before = await ledger.head()

    for wrong in (None, 0, 2):
        expects = [Expected("b", None), Expected("branch/a", wrong), Expected("c", 7)]
        with pytest.raises(MarkMoved) as caught:
            await write(ledger, fact("branch/a"), object_("new"), expects=expects)
        assert (caught.value.code, caught.value.name) == ("world.mark_moved", "branch/a")
        with pytest.raises(MarkMoved):
            await write(ledger, expects=expects)

    assert await ledger.head() == before
    assert await ledger.versions("new") == []
    assert (await write(ledger, expects=[Expected("branch/a", 1)])).places == []


@pytest.mark.parametrize("reads", [["one"], [f"{n}" for n in range(1_500)], KEPT])
async def test_a_unit_that_reads_can_expect_as_well(
    ledger: FilteredLedger, reads: Sequence[str] | Everything
) -> None:
    await write(ledger, object_("one"), fact("a"))

    def decide(_: Sequence[Current | None]) -> list[Draft]:
        return [fact("a")]

    with pytest.raises(MarkMoved):
        await ledger.commit(Unit(ACTOR, 1, decide, reads, expects=[Expected("a", 0)]))
    assert await size(ledger) == 2
    await ledger.commit(Unit(ACTOR, 1, decide, reads, expects=[Expected("a", 1)]))
    assert seqs(await ledger.marked("a")) == [1, 2]


async def test_a_large_unit_can_expect_as_well(ledger: FilteredLedger) -> None:
    drafts = [fact("a")] * 2_500

    with pytest.raises(MarkMoved):
        await write(ledger, *drafts, expects=[Expected("a", 0)])
    assert await size(ledger) == 0
    await write(ledger, *drafts, expects=[Expected("a", None)])
    assert len(await ledger.marked("a")) == 2_500


async def test_of_units_that_expect_the_same_exactly_one_wins(ledger: FilteredLedger) -> None:
    async def attempt(number: int) -> str:
        name = f"branch/{number % 5}"
        try:
            await write(ledger, fact(name, f"tried/{number}"), expects=[Expected(name, None)])
        except MarkMoved as moved:
            return moved.name
        return ""

    async def beside(number: int) -> Committed:
        return await write(ledger, object_(f"{number}"), fact(f"beside/{number}"))

    jobs = [job for n in range(50) for job in (attempt(n), beside(n))]
    told = await asyncio.gather(*jobs)

    attempts = told[::2]
    assert attempts.count("") == 5
    for n in range(5):
        lost = [one for one in attempts[n::5] if one]
        assert lost == [f"branch/{n}"] * 9
        assert len(await ledger.marked(f"branch/{n}")) == 1
    assert len(await names(ledger, "tried/")) == 5
    assert len(await names(ledger, "beside/")) == 50
    assert await size(ledger) == 5 + 100
    for one in told[1::2]:
        assert isinstance(one, Committed)
        assert seqs(await ledger.entries_at([place.seq for place in one.places])) == [
            place.seq for place in one.places
        ]


async def test_one_that_comes_after_another_sees_what_it_marked(ledger: FilteredLedger) -> None:
    """Each of these is right only after the one before it, though they are asked for at once."""
    await write(ledger, fact("a"))

    told = await asyncio.gather(
        write(ledger, fact("a"), expects=[Expected("a", 0)]),
        write(ledger, fact("b", unmarks=[Mark("a", 1)]), expects=[Expected("a", 1)]),
        write(ledger, fact("a"), expects=[Expected("a", 0), Expected("b", 2)]),
    )

    assert [one.places[0].seq for one in told] == [1, 2, 3]


async def test_a_retry_is_told_the_first_outcome_whatever_it_expects(
    ledger: FilteredLedger,
) -> None:
    key = RetryKey("a key", b"f" * 32)
    expects = [Expected("a", None)]
    first = await write(ledger, fact("a"), expects=expects, key=key, about="a")

    again = await write(ledger, fact("a"), expects=expects, key=key, about="a")

    assert again == first._replace(fresh=False)
    assert await size(ledger) == 1
    with pytest.raises(IdempotencyConflict):
        await write(ledger, fact("a"), expects=expects, key=RetryKey("a key", b"g" * 32))
    other = RetryKey("another", b"f" * 32)
    with pytest.raises(MarkMoved):
        await write(ledger, fact("a"), expects=expects, key=other)
    assert (await write(ledger, fact("a"), expects=[Expected("a", 0)], key=other)).fresh


# -------------------------------------------------------------------------- what is erased


async def test_erased_entries_lose_body_and_marks_and_the_erasure_takes_over(
    ledger: FilteredLedger,
) -> None:
    key = RetryKey("a key", b"f" * 32)
    await write(ledger, fact("proposal/a", "open/a"), key=key, about="a")
    await write(ledger, fact("proposal/a", "branch/x", inputs=["one"], output="proposal/a"))
    await write(ledger, fact("proposal/b", inputs=["one"], output="proposal/b"))

    told = await erase(ledger, ["proposal/a"])

    assert [(one.id, one.status, [entry.seq for entry in one.entries]) for one in told] == [
        ("proposal/a", ENTRIES, [0, 1])
    ]
    stored = await ledger.entries_at(range(4))
    assert [one.body is None for one in stored] == [True, True, False, False]
    assert [one.salt is None for one in stored] == [True, True, False, False]
    assert await all_marks(ledger) == [Mark("proposal/a", 3), Mark("proposal/b", 2)]
    assert await all_derivations(ledger) == [("one", "proposal/b")]
    assert (await write(ledger, fact("proposal/a"), key=key, about="a")).fresh
    assert [decode(one.body or b"")["type"] for one in await ledger.marked("proposal/a")] == [
        "Erasure",
        "Test",
    ]


async def test_an_erasure_reaches_what_was_made_however_indirectly(
    ledger: FilteredLedger,
) -> None:
    await write(ledger, object_("record", subject="kim"), object_("other"))
    await write(
        ledger,
        fact("execution/1", kind="execution", inputs=["record"], output="execution/1"),
        fact("effect", "execution/1", kind="effect"),
        fact("execution/2", kind="execution", inputs=["execution/1"], output="execution/2"),
        object_("made", "execution/2"),
        fact("execution/3", kind="execution", inputs=["other"], output="execution/3"),
    )
    assert await ledger.outputs("execution/1") == ["execution/2"]

    told = await erase(ledger, OfSubject("kim"))

    assert [(one.id, [entry.seq for entry in one.entries]) for one in told] == [
        ("record", []),
        ("made", []),
        ("execution/1", [2, 3]),
        ("execution/2", [4]),
    ]
    assert [one.beside.derivations for one in told] == [0, 1, 1, 1]
    bodies = [one.body is None for one in await ledger.entries_at(range(7))]
    assert bodies == [True, False, True, True, True, True, False]
    assert await all_derivations(ledger) == [("other", "execution/3")]
    assert await names(ledger) == ["execution/1", "execution/2", "execution/3"]
    assert await erase(ledger, ["execution/1"]) == []


async def test_erasing_everything_reaches_the_facts(ledger: FilteredLedger) -> None:
    await write(ledger, *(object_(f"{n}") for n in range(3)))
    await write(ledger, *(fact(f"proposal/{n}", "branch/main") for n in range(1_100)))

    told = await erase(ledger, KEPT)

    kinds = [one.status == ENTRIES for one in told]
    assert kinds == [False] * 3 + [True] * len(kinds[3:])
    async with ledger.snapshot() as snapshot:
        stored = [one async for chunk in snapshot.entries() for one in chunk]
    left = [read_entry(one.entry).kind for one in stored if one.body is not None]
    assert set(left) == {"archive", "erasure"}
    assert all(one.body is None for one in stored[:1_103])
    again = await erase(ledger, KEPT)
    assert again == []


async def test_what_an_erased_fact_took_away_stays_away(ledger: FilteredLedger) -> None:
    await write(ledger, fact("proposal/a", "open/a"))
    await write(ledger, fact("decision/a", kind="decision", unmarks=[Mark("open/a", 0)]))

    await erase(ledger, ["decision/a"])

    assert await ledger.marked("open/a") == []
    (stored,) = await ledger.entries_at([2])
    assert decode(stored.body or b"")["unmarks"] == [["open/a", 0]]


async def test_what_is_erased_and_made_again_in_one_unit_is_there(ledger: FilteredLedger) -> None:
    await write(ledger, fact("a/1", inputs=["one"], output="a/1"))

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        lost = fact("b/1", inputs=["two"], output="a/1")
        kept = fact("a/1", inputs=["three"], output="a/1")
        return [lost, *gone(found), kept]

    await ledger.commit(Unit(ACTOR, 1, decide, ["a/1"], is_erasing=True))

    assert await all_derivations(ledger) == [("three", "a/1")]
    assert seqs(await ledger.marked("a/1")) == [2, 3]
    assert seqs(await ledger.marked("b/1")) == [1]


# -------------------------------------------------------------------------- what is copied


async def copied(source: FilteredLedger, target: LedgerDatabase, scope: str) -> None:
    async with (
        source.snapshot() as snapshot,
        target.adoption(scope, (await source.head()).origin, 1) as adoption,
    ):
        async for entries in snapshot.entries():
            await adoption.entries(entries)
        async for rows in snapshot.rows():
            await adoption.rows(rows)


@pytest.mark.backend("sqlite")
@pytest.mark.backend("postgres")
async def test_copies_keep_marks_there_and_back(
    ledger: FilteredLedger, tmp_path: Path, postgres_server: PostgresServer, postgres_url: str
) -> None:
    await write(ledger, object_("record"))
    for n in range(600):
        drafts = [fact(f"proposal/{n}", f"open/{n}", inputs=["record"], output=f"proposal/{n}")]
        if n % 3 == 2:
            taken = [Mark(f"open/{n - 1}", n), Mark("open/0", 1), Mark("open/0", 2)]
            drafts = [fact(f"decision/{n}", kind="decision", unmarks=taken)]
        await write(ledger, *drafts)
    await erase(ledger, ["proposal/4"])
    expected = await all_marks(ledger), await all_derivations(ledger), await ledger.head()
    scope = f"copy-{next(_SCOPES)}"
    postgres = (await make_roles(postgres_server, postgres_url)).app
    there, back = f"sqlite:///{tmp_path}/there.db", f"sqlite:///{tmp_path}/back.db"

    for source, target in ((None, there), (there, postgres), (postgres, back)):
        async with opened(source or there) as before, opened(target) as after:
            old = ledger if source is None else await before.ledger(scope, "", 0)
            await copied(old, after, scope)
            new = await after.ledger(scope, "", 0)
            found = await all_marks(new), await all_derivations(new), await new.head()
            assert found == expected
            assert seqs(await new.marked("proposal/4")) == [601]
            assert await new.marked("open/0") == []
            assert await write_and_forget(new)


async def write_and_forget(ledger: FilteredLedger) -> bool:
    """What arrived can be rested on; nothing of the attempt is left."""
    newest = (await ledger.marked("proposal/4", newest_first=True, limit=1))[0].seq
    with pytest.raises(MarkMoved):
        await write(ledger, fact("a"), expects=[Expected("proposal/4", newest - 1)])
    done = await write(ledger, expects=[Expected("proposal/4", newest)])
    return done.places == []
