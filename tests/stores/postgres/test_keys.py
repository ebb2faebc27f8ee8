"""What is asked for is found by its key: it costs as much in a large journal as in a small one.

The rows are counted that the server reads, from its indexes or without, for a role that row-level
security binds, while nobody has looked at the tables yet to tell the planner how large they are;
and once more when somebody has.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

import pytest

import memoranda
from memoranda import MemoryRecordInput
from memoranda.ledger.fact import Fact, erasure
from memoranda.ledger.unit import (
    Current,
    Draft,
    Expected,
    Found,
    Mark,
    NamedFacts,
    OfSubject,
    Unit,
    Version,
)
from memoranda.recall.question import asked as words_of
from memoranda.recall.ranking import RankingMode
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.postgres.ledger import PostgresLedger
from tests.handles import inside
from tests.patience import eventually
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles, run

RECORDS = 2_000
READ = """
SELECT t.seq_tup_read + (SELECT coalesce(sum(i.idx_tup_read), 0)::bigint
                         FROM pg_stat_user_indexes i WHERE i.relid = t.relid)
FROM pg_stat_user_tables t WHERE t.schemaname = 'memoranda' AND t.relname = %s
"""
OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
CHANGED = (
    "versions", "tags", "postings", "segments", "threads", "derivations", "retries",
    "marks",
)  # fmt: skip
WATCHED = (*CHANGED, "entries")
WORDS_ONLY = (RankingMode.KEYWORD, RankingMode.FULL_TEXT)

Memory = memoranda.Memory[dict[str, int]]


@asynccontextmanager
async def opened(roles: Roles) -> AsyncIterator[Memory]:
    """A scope; when it is left, the server has counted everything."""
    async with memoranda.open(roles.app, scope="one") as memory:
        yield memory
    await eventually(lambda: asked(roles.superuser, OTHERS) == [(0,)])


def read(roles: Roles) -> dict[str, int]:
    return {table: int(str(asked(roles.superuser, READ, table)[0][0])) for table in WATCHED}


async def update(memory: Memory) -> None:
    await memory.records.update("r1000", {"n": 0})


async def delete(memory: Memory) -> None:
    await memory.records.delete("r1000")


async def erase(memory: Memory) -> None:
    await memory.erase("r1000", reason="asked")


async def search(memory: Memory) -> None:
    assert len(await memory.list(text="1000", limit=3)) == 1


async def rank(memory: Memory, modes: Iterable[RankingMode] = WORDS_ONLY) -> None:
    for mode in modes:
        ranking = await inside(memory).ledger.rank(
            mode, words_of("1000"), lambda current, _: current.id, limit=3
        )
        assert ranking.made == ["r1000"]


def unknown(roles: Roles) -> None:
    """Nobody looks at the tables."""
    for table in WATCHED:
        roles.as_owner(f"ALTER TABLE memoranda.{table} SET (autovacuum_enabled = off)")


@pytest.mark.parametrize("change", [update, delete, erase, search, rank])
async def test_a_call_reads_no_more_than_what_it_is_about(
    roles: Roles, change: Callable[[Memory], Awaitable[None]]
) -> None:
    await fill(roles)
    before = read(roles)

    async with opened(roles) as memory:
        await change(memory)

    after = read(roles)
    for table in CHANGED:  # whoever opens a journal reads the end of its tree
        assert after[table] - before[table] < 50, table


async def test_the_words_of_a_scope_are_read_once_for_all_questions(roles: Roles) -> None:
    await fill(roles)
    seen = [read(roles)]

    for questions in (1, 8):
        async with opened(roles) as memory:
            await rank(memory, [RankingMode.CONTEXT] * questions)
        seen.append(read(roles))

    for table in CHANGED:
        start, once, often = (counts[table] for counts in seen)
        assert (often - once) - (once - start) < 50, table


async def fill(roles: Roles) -> None:
    """Many records, all of them in one segment of the index."""
    unknown(roles)
    inputs = [MemoryRecordInput(id=f"r{n}", data={"n": n}, tags=[f"t{n}"]) for n in range(RECORDS)]
    async with opened(roles) as memory:
        await memory.records.create_many(inputs)
        index = inside(memory).ledger._ledger.words  # type: ignore[attr-defined]
        while await index.merge() or await index.merge_segments():
            pass


async def test_the_retries_of_what_is_erased_are_found_by_their_entries(roles: Roles) -> None:
    unknown(roles)
    async with opened(roles) as memory:
        for n in range(0, 600, 2):
            given = [MemoryRecordInput(id=f"r{n + one}", data={"n": n}) for one in range(2)]
            await memory.records.create_many(given, idempotency_key=f"k{n}")
    before = read(roles)

    async with opened(roles) as memory:
        assert (await memory.erase("r301", reason="asked")).counts.retries == 1

    assert read(roles)["retries"] - before["retries"] < 50


# --------------------------------------------------------------- subjects, derivations, facts


@asynccontextmanager
async def ledger_of(roles: Roles) -> AsyncIterator[PostgresLedger]:
    """The ledger of a scope; when it is left, the server has counted everything."""
    database = await PostgresDatabase.open(roles.app, 0, create=False)
    yield await database.ledger("facts", "origin", 0)
    await database.close()
    await eventually(lambda: asked(roles.superuser, OTHERS) == [(0,)])


def nothing(_: Sequence[Current | None]) -> list[Draft]:
    return []


def fact(n: int, *marks: str) -> Draft:
    """A fact that was made from an object and from the fact before it."""
    inputs = (f"r{n}", f"execution/{n - 1}") if n % 10 else (f"r{n}",)
    says = {"type": "Test"}
    return Fact("execution", says, marks, inputs=inputs, output=f"execution/{n}").draft(bytes(16))


def objects(n: int) -> Draft:
    """Of every subject there are two."""
    version = Version(f"r{n}", 1, "active", n, n, None, None, None, f"subject {n // 2}")
    return Draft("create", b"{}", bytes(16), version)


async def filled(ledger: PostgresLedger) -> None:
    numbers = range(RECORDS)
    drafts = [objects(n) for n in numbers]
    drafts += [fact(n, f"execution/{n}", "branch/main", *["open"] * (n % 50 == 0)) for n in numbers]
    await ledger.commit(Unit("agent:a", 1, lambda _: drafts))


async def of_a_subject(ledger: PostgresLedger) -> None:
    await ledger.commit(Unit("agent:a", 1, nothing, OfSubject("subject 500")))


async def erase_a_subject(ledger: PostgresLedger) -> None:
    """Which reaches what was made from it, ten executions at most."""

    def decide(found: Sequence[Found | None]) -> list[Draft]:
        facts = [one for one in found if isinstance(one, NamedFacts)]
        assert len(facts) == 10
        names = [one.id for one in facts]
        entries = [entry for one in facts for entry in one.entries]
        return [erasure(entries, names, reason="asked", cause="subject", salt=bytes(16))]

    await ledger.commit(Unit("agent:a", 1, decide, OfSubject("subject 500"), is_erasing=True))


async def look_up(ledger: PostgresLedger) -> None:
    assert len(await ledger.marked("execution/777")) == 1
    assert len(await ledger.marked("branch/main", newest_first=True, limit=1)) == 1
    assert len(await ledger.marked("branch/main", after=RECORDS, limit=1)) == 1
    assert len(await ledger.marks("execution/7", limit=3)) == 3
    assert len(await ledger.entries_at([3, 1_000])) == 2
    assert await ledger.outputs("r7") == ["execution/7"]


async def rest_on_a_mark(ledger: PostgresLedger) -> None:
    at = RECORDS + 777
    unmarks = (Mark("execution/777", at),)
    draft = fact(9_999, "execution/777")._replace(unmarks=unmarks)
    expects = (Expected("execution/777", at), Expected("execution/new", None))
    await ledger.commit(Unit("agent:a", 1, lambda _: [draft], expects=expects))


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("work", [of_a_subject, erase_a_subject, look_up, rest_on_a_mark])
async def test_a_name_costs_no_more_than_what_stands_under_it(
    roles: Roles, work: Callable[[PostgresLedger], Awaitable[None]], is_known: bool
) -> None:
    unknown(roles)
    async with ledger_of(roles) as ledger:
        await filled(ledger)
    if is_known:
        run(roles.owner, "ANALYZE")
        await eventually(lambda: asked(roles.superuser, OTHERS) == [(0,)])
    before = read(roles)

    async with ledger_of(roles) as ledger:
        for _ in range(1 if work is not look_up else 12):  # till the server keeps its plans
            await work(ledger)

    after = read(roles)
    for table in WATCHED:
        assert after[table] - before[table] < 250, table
