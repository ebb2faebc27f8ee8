"""Two walls between scopes: each one holds when the other is taken away (ADR 8)."""

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, RaiseException

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import RecordExists, RecordNotFound, StoreFailed
from memoranda.kernel.given import RetryKey
from memoranda.ledger.anchor import NewNote
from memoranda.ledger.snapshot import DERIVATIONS, MARKS
from memoranda.ledger.unit import (
    ACTIVE,
    KEPT,
    Current,
    Draft,
    Expected,
    Found,
    NamedFacts,
    Unit,
    Version,
)
from memoranda.recall.question import asked as words_of
from memoranda.recall.ranking import RankingMode
from memoranda.stores.postgres import database as database_module
from memoranda.stores.postgres import ledger, select, unit_reads, units
from memoranda.stores.postgres.database import PostgresDatabase, journal_number
from memoranda.stores.selection import SelectStatement, selection, tag_counts
from memoranda.stores.statements import Statement
from memoranda.testkit import anyio_backend, scope  # noqa: F401
from memoranda.testkit.records import isolation
from memoranda.testkit.records.isolation import *  # noqa: F403
from memoranda.testkit.records.opening import (  # noqa: F401
    OpenStore,
    Store,
    store,
    stranger,
    twin,
)
from tests.handles import inside
from tests.stores.contract.opening import at
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles, make_roles, run
from tests.stores.postgres.server import PostgresServer

CONDITIONS_ONLY, SECURITY_ONLY = "conditions only", "row-level security only"
WALLS = ["both walls", CONDITIONS_ONLY, SECURITY_ONLY]
BY_JOURNAL = [
    "entries", "nodes", "checkpoints",
    "versions", "tags", "segments", "postings", "documents", "threads", "derivations",
    "retries", "marks",
]  # fmt: skip
TABLES = ["journals", *BY_JOURNAL]
ATTACHMENTS = [
    "memories", "item_keywords", "item_postings", "sessions", "sessions_aside",
    "recordings", "vectors", "item_origins", "cycle_salts", "leases",
]  # fmt: skip
FUNCTIONS = (
    "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = to_regnamespace('memoranda')"
)
CONDITION = re.compile(r"\b\w+\.(?:scope = p_scope|journal = p_journal)\b")
IN_STATEMENT = re.compile(r"\b\w+\.(?:journal|number) = (%s|\?)")


@pytest.fixture(scope="module")
async def roles(postgres_server: PostgresServer) -> Roles:
    """One database for all tests with both walls."""
    return await make_roles(postgres_server, postgres_server.create_database())


@pytest.fixture(scope="module", params=WALLS)
async def walls(
    request: pytest.FixtureRequest, postgres_server: PostgresServer
) -> tuple[str, Roles]:
    """Which walls stand in a database of their own."""
    roles = await make_roles(postgres_server, postgres_server.create_database())
    if request.param == CONDITIONS_ONLY:
        without_row_level_security(roles)
    if request.param == SECURITY_ONLY:
        without_conditions(roles)
    return request.param, roles


@pytest.fixture
def open_store(walls: tuple[str, Roles], monkeypatch: pytest.MonkeyPatch) -> OpenStore:
    """The isolation contract runs for the app role with both walls, and with either alone."""
    standing, roles = walls
    if standing == SECURITY_ONLY:
        without_conditions_in_queries(monkeypatch)
    return at(roles.app)


def without_row_level_security(roles: Roles) -> None:
    for table in TABLES:
        roles.as_owner(f"ALTER TABLE memoranda.{table} DISABLE ROW LEVEL SECURITY")


def without_conditions(roles: Roles) -> None:
    """Every function as if someone had forgotten the scope, and the journal, in its WHERE."""
    conditions = 0
    for (text,) in asked(roles.owner, FUNCTIONS):
        forgetful, count = CONDITION.subn("true", str(text))
        conditions += count
        run(roles.owner, forgetful)
    assert conditions > 20


def without_conditions_in_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other statement as if someone had forgotten it as well."""

    def forgetting(
        select: Callable[..., SelectStatement | None],
    ) -> Callable[..., SelectStatement | None]:
        def forgetful_selection(*asked: Any, **named: Any) -> SelectStatement | None:
            chosen = select(*asked, **named)
            return chosen and SelectStatement(forgetful(chosen.sql), chosen.parameters)

        return forgetful_selection

    def forgetful(statement: str) -> str:
        changed = IN_STATEMENT.sub(r"\1::bigint IS NOT NULL", statement)
        assert changed != statement
        return changed

    for module in (select, database_module):
        monkeypatch.setattr(module, "selection", forgetting(selection))
    monkeypatch.setattr(select, "tag_counts", forgetting(tag_counts))
    for module, names in (
        (units, ("_REMEMBER", "_NAME_TOKENIZER")),
        (unit_reads, ("_OF_SUBJECT", "_DERIVED", "_BODIES")),
        (ledger, ("_AS_OF",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, forgetful(getattr(module, name)))
    forgotten = property(
        lambda one: IN_STATEMENT.sub(r"\1::bigint IS NOT NULL", vars(one)["postgres"])
    )
    monkeypatch.setattr(Statement, "postgres", forgotten, raising=False)
    portions = {which: forgetful(text) for which, text in unit_reads._PORTIONS.items()}
    monkeypatch.setattr(unit_reads, "_PORTIONS", portions)


def test_the_whole_isolation_contract_is_run_here() -> None:
    contract = {name for name in vars(isolation) if name.startswith("test_")}
    assert contract <= globals().keys()


# ------------------------------------------------------------------- the second wall, by hand


async def two_scopes(url: str) -> None:
    """Two scopes with a row in every table."""
    database = await PostgresDatabase.open(url, 0, create=True)
    for name in ("mine", "theirs"):
        opened = await database.ledger(name, "origin of " + name, 0)
        version = Version("one", 1, "active", 0, 0, None, None, None, None)
        fillers = [Draft("maintenance", b"{}", bytes(16))] * 256
        said = {"id": "one", "type": "MemoryObject", "statement": "a word", "version": "1"}
        source = {"timestamp": "2023-01-01T00:00:00Z", "source_refs": [{"uri": "talk:1"}]}
        body = canonical_bytes(said | source)
        fact = Draft("proposal", b"{}", bytes(16), marks=("proposal/one",))
        made = Draft("create", body, bytes(16), version, ("x",), inputs=("two",))
        drafts = [made, fact, *fillers]
        key = RetryKey("k", name.encode())
        await opened.commit(Unit("system:test", 1, lambda _, d=drafts: d, (), key, "one"))  # type: ignore[misc]
        await database.keep_notes([NewNote(name, "origin of " + name, 258, "note of " + name, 0)])
    await database.close()


def rows(url: str, query: str, named: str | None) -> list[Any]:
    """The first column of a query, inside a transaction that has entered a scope."""
    with psycopg.connect(url) as connection:
        if named:
            connection.execute("SELECT memoranda.enter(%s, NULL)", (journal_number(named),))
        elif named is not None:
            connection.execute("SELECT set_config('memoranda.journal', '', true)")
        return [row[0] for row in connection.execute(query.encode())]


def journals(url: str) -> dict[str, int]:
    return dict(asked(url, "SELECT scope, journal FROM memoranda.journals"))  # type: ignore[arg-type]


def first_column(table: str) -> str:
    return f"SELECT DISTINCT journal FROM memoranda.{table}"  # noqa: S608 - our own table


@pytest.mark.parametrize("table", TABLES)
async def test_a_query_that_forgets_the_scope_sees_one_scope_only(roles: Roles, table: str) -> None:
    await two_scopes(roles.app)
    numbers = journals(roles.superuser)
    query = first_column(table)

    assert rows(roles.app, query, "mine") == [numbers["mine"]]
    assert rows(roles.app, query, "theirs") == [numbers["theirs"]]
    assert rows(roles.app, query, "nobody's") == []
    assert rows(roles.owner, query, "mine") == [numbers["mine"]], "forced: the owner is bound too"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("named", [None, ""])
async def test_without_a_scope_there_are_no_rows(
    roles: Roles, table: str, named: str | None
) -> None:
    await two_scopes(roles.app)

    assert rows(roles.app, first_column(table), named) == []


async def test_a_scope_ends_with_its_transaction(roles: Roles) -> None:
    await two_scopes(roles.app)
    number = journals(roles.superuser)["mine"]
    current = "SELECT (memoranda.current_version(%s, 'origin of mine', 'one')).id"

    with psycopg.connect(roles.app, autocommit=True) as connection:
        assert connection.execute(current, (number,)).fetchall() == [("one",)]
        for table in TABLES:
            assert connection.execute(first_column(table).encode()).fetchall() == []


@pytest.mark.parametrize(
    "call",
    [
        "SELECT memoranda.journal_of({})",
        "SELECT memoranda.blocks({}, NULL, ARRAY[0], ARRAY[0])",
        "SELECT memoranda.keep_note({}, 'origin', 1, '', 0)",
    ],
)
async def test_calls_about_many_scopes_enter_one_after_the_other(roles: Roles, call: str) -> None:
    await two_scopes(roles.app)
    numbers = journals(roles.superuser)
    theirs = numbers["theirs"]

    with psycopg.connect(roles.app) as connection:
        for name in ("mine", "theirs"):
            assert connection.execute(call.format(numbers[name]).encode()).rowcount == 1
        for table in TABLES:
            rows = connection.execute(first_column(table).encode()).fetchall()
            assert rows == [(theirs,)], "the last one, and no other"
    with psycopg.connect(roles.app, autocommit=True) as connection:
        connection.execute(call.format(theirs).encode())
        for table in TABLES:
            assert connection.execute(first_column(table).encode()).fetchall() == []


async def test_the_scopes_are_listed_only_when_that_is_said(roles: Roles) -> None:
    await two_scopes(roles.app)

    assert {"mine", "theirs"} <= set(await memoranda.scopes(roles.app))
    with psycopg.connect(roles.app) as connection:
        connection.execute("SELECT set_config('memoranda.lists_scopes', 'yes', true)")
        assert len(connection.execute("SELECT * FROM memoranda.journals").fetchall()) > 1
        for table in BY_JOURNAL:
            assert connection.execute(first_column(table).encode()).fetchall() == []
        moved = connection.execute("UPDATE memoranda.journals SET size = 0")
        assert moved.rowcount == 0


async def test_a_journal_that_is_not_the_scopes_own_is_refused(roles: Roles) -> None:
    await two_scopes(roles.app)
    theirs = journals(roles.superuser)["theirs"]

    for call in (
        "SELECT memoranda.enter({}, 'origin of mine')",
        "SELECT memoranda.lock_journal({}, 'origin of mine')",
        "SELECT memoranda.current_version({}, 'origin of mine', 'one')",
        "SELECT memoranda.head_of({}, 'origin of mine')",
    ):
        with psycopg.connect(roles.app) as connection, pytest.raises(RaiseException):
            connection.execute(call.format(theirs).encode())


async def test_a_handle_whose_database_was_replaced_is_told_so(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.create_database()
    database = await PostgresDatabase.open(url, 0, create=True)
    mine = await database.ledger("mine", "an origin", 0)
    run(url, "DELETE FROM memoranda.journals WHERE scope = 'mine'")
    await database.ledger("mine", "another origin", 0)
    draft = Draft("maintenance", b"{}", bytes(16))

    for call in (
        mine.commit(Unit("system:test", 1, lambda _: [draft])),
        mine.commit(Unit("system:test", 1, lambda _: [draft], ACTIVE)),
        mine.current("one", lambda current: current),
        mine.select(MemoryFilter(), lambda current: current),
        mine.head(),
    ):
        with pytest.raises(StoreFailed) as caught:
            await call
        assert caught.value.code == "store.failed"
    await database.close()
    assert asked(url, "SELECT size FROM memoranda.journals") == [(0,)]
    postgres_server.drop_database(url)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memoranda.entries VALUES ({}, 99, '', '', '')",
        "INSERT INTO memoranda.nodes VALUES ({}, 8, 99, '')",
        "INSERT INTO memoranda.versions VALUES ({}, 99, 99, 0, 0, 1, true, 'active', 'new')",
        "INSERT INTO memoranda.tags VALUES ({}, 0, 0, 'new', 'one')",
        "INSERT INTO memoranda.retries VALUES ({}, 'new', '', '', 'one', 0, 0, 0)",
        "INSERT INTO memoranda.derivations VALUES ({}, 'one', 'new')",
        "INSERT INTO memoranda.marks VALUES ({}, 'proposal/new', 0)",
        "INSERT INTO memoranda.checkpoints VALUES ({}, 99, '', 0)",
        "INSERT INTO memoranda.journals VALUES (7, 'new', 'new', 0, 0, '', 0)",
        "INSERT INTO memoranda.segments VALUES ({}, 99, 0, 1, 0)",
        "INSERT INTO memoranda.postings VALUES ({}, 1, 'word', 99, '')",
        "INSERT INTO memoranda.threads VALUES ({}, 'talk:1', 99)",
        "INSERT INTO memoranda.documents VALUES ({}, 9, '')",
        "UPDATE memoranda.versions SET journal = {} WHERE id = 'one'",
    ],
)
async def test_a_row_can_not_be_written_into_another_scope(roles: Roles, statement: str) -> None:
    await two_scopes(roles.app)
    numbers = journals(roles.superuser)

    with psycopg.connect(roles.app) as connection:
        connection.execute("SELECT memoranda.enter(%s, 'origin of mine')", (numbers["mine"],))
        with pytest.raises(InsufficientPrivilege):
            connection.execute(statement.format(numbers["theirs"]).encode())


async def test_every_table_is_bound(roles: Roles) -> None:
    query = """
        SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity FROM pg_class c
        WHERE c.relnamespace = 'memoranda'::regnamespace AND c.relkind = 'r'
    """
    with psycopg.connect(roles.app) as connection:
        found: dict[str, bool] = dict(connection.execute(query).fetchall())

    assert not found.pop("migrations")
    assert not found.pop("access_keys"), "whose journal is asked for follows from the key"
    assert found == dict.fromkeys([*TABLES, *ATTACHMENTS], True)


# ------------------------------------------------------- what the contract does not reach


def body(current: Current, _: object) -> bytes:
    return current.body


async def test_words_are_found_in_one_scope_only_with_either_wall_alone(
    walls: tuple[str, Roles], open_store: OpenStore
) -> None:
    assert open_store is not None  # it takes the conditions away, where they are to be away
    _, roles = walls
    async with (
        memoranda.open(roles.app, scope="words of mine") as mine,
        memoranda.open(roles.app, scope="words of theirs") as theirs,
    ):
        for memory in (mine, theirs):
            said = [f"a secret of {memory.scope} {n}" for n in range(600)]
            await memory.remember_many(said, source="talk:1")
        for _ in range(4):
            for memory in (mine, theirs):
                found = await memory.list(text="secret", limit=None)
                assert len(found) == 600
                assert all(memory.scope in one.data for one in found)
                assert len(await memory.list(text="secret 7", limit=None)) == 1
                for mode in RankingMode:
                    ranking = await inside(memory).ledger.rank(
                        mode, words_of("secret 7"), body, limit=5
                    )
                    assert ranking.hits == 600
                    assert len(ranking.made) == 5
                    assert all(memory.scope.encode() in one for one in ranking.made)
                await inside(memory).ledger._ledger.words.merge()  # type: ignore[attr-defined]
        await mine.maintain.reindex()
        for one in await mine.list(text="secret", limit=3):
            await mine.erase(one.id, reason="a test")
        assert len(await mine.list(text="secret", limit=None)) == 597
        assert len(await theirs.list(text="secret", limit=None)) == 600
        assert (await theirs.verify()).report.damages.found == []


async def test_one_id_and_one_key_serve_both_scopes_with_either_wall_alone(
    open_store: OpenStore,
) -> None:
    async with open_store("mine") as first, open_store("theirs") as second:
        mine, theirs = cast("Store", first), cast("Store", second)
        for store in (mine, theirs):
            await store.create(
                MemoryRecordInput(id="one", data={}, tags=("x",)), idempotency_key="k"
            )
            with pytest.raises(RecordExists):
                await store.create(MemoryRecordInput(id="one", data={}))
        await mine.delete("one", idempotency_key="d")

        with pytest.raises(RecordNotFound):
            await mine.update("one", {"a": 1})
        await theirs.update("one", {"a": 1})
        assert [found.data for found in await theirs.query(MemoryFilter(tags=("x",), limit=9))] == [
            {"a": 1}
        ]
        assert await mine.query(MemoryFilter(limit=9)) == []


async def test_facts_are_found_in_one_scope_only_with_either_wall_alone(
    walls: tuple[str, Roles], open_store: OpenStore
) -> None:
    assert open_store is not None  # it takes the conditions away, where they are to be away
    _, roles = walls
    database = await PostgresDatabase.open(roles.app, 0, create=False)
    told: dict[str, list[Found | None]] = {}
    for name in ("facts of mine", "facts of theirs"):
        opened = await database.ledger(name, "origin of " + name, 0)
        body = canonical_bytes({"type": name, "marks": ["proposal/one"]})
        made = [
            Draft("maintenance", b"{}", bytes(16)),
            Draft("proposal", body, bytes(16), marks=("proposal/one",), inputs=("record",),
                  output="proposal/one"),
        ]  # fmt: skip
        expects = [Expected("proposal/one", None)]
        await opened.commit(
            Unit("system:test", 1, lambda _, d=made: d, expects=expects)  # type: ignore[misc]
        )
    for name in ("facts of mine", "facts of theirs"):
        opened = await database.ledger(name, "origin of " + name, 0)
        seen = told.setdefault(name, [])

        def decide(found: Sequence[Found | None], seen: list[Found | None] = seen) -> list[Draft]:
            seen += found
            return []

        (fact,) = await opened.marked("proposal/one")
        assert name.encode() in (fact.body or b"")
        assert [one.body for one in await opened.entries_at([1, 2])] == [fact.body]
        assert await opened.marks("") == [("proposal/one", 1)]
        assert await opened.outputs("record") == ["proposal/one"]
        for reads in (["record"], KEPT):
            await opened.commit(Unit("system:test", 1, decide, reads, is_erasing=True))
        entries = [one.entries for one in seen if isinstance(one, NamedFacts)]
        assert [[entry.type for entry in found] for found in entries] == [[name], [name]]
        async with opened.snapshot() as read:
            assert [one async for chunk in read.rows(MARKS) for one in chunk] == [
                ("proposal/one", 1)
            ]
            assert len([one async for chunk in read.rows(DERIVATIONS) for one in chunk]) == 1
    await database.close()
