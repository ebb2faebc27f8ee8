"""What is erased is gone from every table and index at once; rewriting clears the files as well."""

from collections.abc import AsyncIterator, Sequence

import psycopg
import pytest

from memoranda.kernel.errors import StoreUnavailable
from memoranda.kernel.given import RetryKey
from memoranda.ledger.fact import Fact, digest_of, erasure
from memoranda.ledger.unit import Current, Draft, NamedEntry, Unit, Version
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.postgres.ledger import PostgresLedger
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import Roles, run

CANARY = "카나리아 canary-5f3a"


def stored(id: str, *inputs: str) -> Draft:
    said = f"{id}: {CANARY}" if id != "other" else "nothing of it"
    times = (1_700_000_000_123, 1_700_000_000_456)
    version = Version(id, 1, "active", *times, None, None, None, said)
    # Too long for its row, and not to be packed: it stands in a table of its own.
    body = (said + "".join(chr(0x20000 + 7919 * n % 60_000) for n in range(3_000))).encode()
    return Draft("create", body, b"s" * 16, version, (said, said * 50), inputs=inputs)


def tombstones(found: Sequence[Current | None]) -> list[Draft]:
    drafts = []
    for current in found:
        assert current is not None
        said = str(current.subject)
        version = Version(current.id, 2, "erased", 0, 0, None, None, None, None)
        tags = (said, said * 50)
        drafts.append(Draft("archive", b"{}", bytes(16), version, (), current, tags, erases=True))
    return drafts


@pytest.fixture
async def ledger(roles: Roles) -> AsyncIterator[PostgresLedger]:
    """A scope with what is to be erased, opened as the app role."""
    database = await PostgresDatabase.open(roles.app, 0, create=False)
    ledger = await database.ledger("s", "origin", 0)
    drafts = [stored("one"), stored("made from one", "one"), stored("other")]
    for draft in drafts:
        key = RetryKey(f"key of {CANARY}", bytes(32)) if draft is drafts[0] else None
        about = draft.version.id if draft.version else ""
        await ledger.commit(Unit("agent:a", 1, lambda _, d=draft: [d], (), key, about))  # type: ignore[misc]
    assert tables_with(roles.superuser, CANARY.encode()) == {"entries", "tags", "versions"}
    await ledger.commit(Unit("agent:a", 2, tombstones, ["one"], is_erasing=True))
    yield ledger
    await database.close()


def tables_with(url: str, canary: bytes) -> set[str]:
    """The tables that show these bytes to a query."""
    found = set()
    with psycopg.connect(url) as connection:
        tables = (
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
        )
        for (table,) in connection.execute(tables, ("memoranda",)).fetchall():
            rows = connection.execute(f"SELECT * FROM memoranda.{table}".encode())  # noqa: S608 - ours
            values = [value for row in rows for value in row]
            said = [each if isinstance(each, bytes) else str(each).encode() for each in values]
            if any(canary in each for each in said):
                found.add(str(table))
    return found


def files_with(url: str, canary: bytes) -> set[str]:
    """The tables and indexes, those for long values too, whose files hold these bytes."""
    run(url, "CHECKPOINT")
    relations = """
        SELECT c.relname, pg_read_binary_file(pg_relation_filepath(c.oid)) FROM pg_class c
        WHERE c.relkind IN ('r', 'i') AND c.relnamespace = 'memoranda'::regnamespace
          OR c.oid IN (SELECT t.reltoastrelid FROM pg_class t
                       WHERE t.relnamespace = 'memoranda'::regnamespace)
    """
    return {str(name) for name, content in asked(url, relations) if canary in bytes(content)}  # type: ignore[call-overload]


async def test_what_was_erased_is_in_no_table(ledger: PostgresLedger, roles: Roles) -> None:
    assert tables_with(roles.superuser, CANARY.encode()) == set()
    assert asked(roles.superuser, "SELECT count(*) FROM memoranda.retries") == [(0,)]
    assert asked(roles.superuser, "SELECT count(*) FROM memoranda.derivations") == [(0,)]
    assert [past.body is None for past in await ledger.versions("one")] == [True, False]
    other = await ledger.current("other", lambda current: current.number)
    assert other == 1
    await ledger.scrub()  # which has nothing to do


async def test_rewriting_leaves_no_byte_of_it_in_the_files(
    ledger: PostgresLedger, roles: Roles
) -> None:
    assert files_with(roles.superuser, CANARY.encode()), "else this shows nothing"
    database = await PostgresDatabase.open(roles.owner, 0, create=False)
    owner = await database.ledger("s", "origin", 0)

    await owner.scrub(rewrite=True)

    await database.close()
    assert files_with(roles.superuser, CANARY.encode()) == set()
    assert await ledger.current("other", lambda current: current.number) == 1


async def test_rewriting_leaves_no_byte_of_a_fact_in_the_files(
    ledger: PostgresLedger, roles: Roles
) -> None:
    canary = "another canary-9c1e"
    fact = Fact("proposal", {"type": "Test", "says": canary}, ["open/" + canary]).draft(b"s" * 16)
    ((seq, _),) = (await ledger.commit(Unit("agent:a", 3, lambda _: [fact]))).places
    assert {"entries", "marks"} <= tables_with(roles.superuser, canary.encode())
    erased = erasure(
        [NamedEntry(seq, digest_of(fact), "Test")], [], reason="r", cause="c", salt=b""
    )
    await ledger.commit(Unit("agent:a", 3, lambda _: [erased]))
    assert tables_with(roles.superuser, canary.encode()) == set()
    assert "marks" in files_with(roles.superuser, canary.encode()), "else this shows nothing"
    database = await PostgresDatabase.open(roles.owner, 0, create=False)

    await (await database.ledger("s", "origin", 0)).scrub(rewrite=True)

    await database.close()
    assert files_with(roles.superuser, canary.encode()) == set()


async def test_only_the_owner_may_rewrite(ledger: PostgresLedger) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await ledger.scrub(rewrite=True)

    assert caught.value.code == "store.unavailable"


async def test_while_somebody_reads_what_was_before_it_is_not_said_to_be_gone(
    postgres_url: str,
) -> None:
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    ledger = await database.ledger("s", "origin", 0)
    await ledger.commit(Unit("agent:a", 1, lambda _: [stored("one")]))
    with psycopg.connect(postgres_url) as another:
        another.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        another.execute("SELECT 1")
        await ledger.commit(Unit("agent:a", 2, tombstones, ["one"], is_erasing=True))

        with pytest.raises(StoreUnavailable) as caught:
            await ledger.scrub(rewrite=True)
        assert caught.value.code == "store.unavailable"

    await ledger.scrub(rewrite=True)
    await database.close()
    assert files_with(postgres_url, CANARY.encode()) == set()
