"""Who writes chains: to the head that it knows, and on what it has read lately."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from memoranda.kernel.errors import RecordExists
from memoranda.ledger.unit import Current, Draft, Unit
from memoranda.stores.postgres.append import JournalEnd
from memoranda.stores.postgres.arrays import tag_key
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.postgres.ledger import PostgresLedger
from memoranda.stores.postgres.recent import LARGE, MOST_BYTES, Recent
from memoranda.stores.postgres.unit_reads import UnitReader
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.test_pool import ACTOR, AT, edit, insert, version

NEWEST = "SELECT max(number) FROM memoranda.versions WHERE id = 'one'"


@pytest.fixture
async def both(postgres_url: str) -> AsyncIterator[tuple[PostgresLedger, PostgresLedger]]:
    """One scope, opened by two processes, so to speak."""
    opened = [await PostgresDatabase.open(postgres_url, 0, create=True) for _ in range(2)]
    first, second = [await each.ledger("s", "an origin", 0) for each in opened]
    yield first, second
    for each in opened:
        await each.close()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The ids that units have read from the database."""
    asked_for: list[Sequence[str]] = []
    read = UnitReader.newest

    async def counted(self: UnitReader, connection: Any, unit: Unit, ids: Sequence[str]) -> Any:
        asked_for.append(ids)
        return await read(self, connection, unit, ids)

    monkeypatch.setattr(UnitReader, "newest", counted)
    return asked_for


async def test_what_was_just_written_or_read_is_changed_without_reading_it(
    both: tuple[PostgresLedger, PostgresLedger], reads: list[Sequence[str]], postgres_url: str
) -> None:
    one, other = both
    await insert(one, "one")
    await edit(one, "one")
    await other.current("one", lambda current: current)
    await edit(other, "one")

    assert reads == []
    assert asked(postgres_url, NEWEST) == [(3,)]


async def test_a_change_of_what_another_replaced_meanwhile_loses_nothing(
    both: tuple[PostgresLedger, PostgresLedger], postgres_url: str
) -> None:
    one, other = both
    await insert(one, "one")
    for _ in range(3):
        await edit(other, "one")
        await edit(one, "one")

    assert asked(postgres_url, NEWEST) == [(7,)]
    assert asked(postgres_url, "SELECT count(*) FROM memoranda.tags") == [(1,)]


async def test_a_unit_refuses_only_what_is_stored(
    both: tuple[PostgresLedger, PostgresLedger], postgres_url: str
) -> None:
    one, other = both
    await insert(one, "one")
    await edit(other, "one")

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        (current,) = found
        if current is None or current.number != 2:
            raise RecordExists("one")
        return [Draft("create", b"{}", bytes(16), version("one", 3), (), current, ("x",))]

    await one.commit(Unit(ACTOR, AT, decide, ["one"]))

    assert asked(postgres_url, NEWEST) == [(3,)]


async def test_who_takes_a_wrong_head_for_the_right_one_writes_to_the_right_one(
    both: tuple[PostgresLedger, PostgresLedger], postgres_url: str
) -> None:
    one, _ = both
    await insert(one, "one")
    one._units._end = JournalEnd(7, bytes(32), 0)

    await insert(one, "two")

    seqs = asked(postgres_url, "SELECT seq FROM memoranda.entries ORDER BY seq")
    assert seqs == [(0,), (1,)]
    assert (await one.head()).size == 2


async def test_nothing_is_kept_of_what_may_have_been_erased(
    both: tuple[PostgresLedger, PostgresLedger],
) -> None:
    one, _ = both
    await insert(one, "one")
    assert one._units.recent.get(one._journal, "one") is not None
    await insert(one, "two")

    await one.commit(Unit(ACTOR, AT, lambda _: [], ["two"], is_erasing=True))

    assert one._units.recent.get(one._journal, "two") is None


def test_what_is_kept_is_bounded() -> None:
    recent = Recent()
    current = Current(*version("one"), b"x" * LARGE)

    recent.add(1, current._replace(body=b"x" * (LARGE + 1)))
    assert recent.get(1, "one") is None
    for number in range(2 * MOST_BYTES // LARGE):
        recent.add(1, current._replace(id=f"{number}"))

    assert recent.get(1, "0") is None
    assert recent.get(1, f"{2 * MOST_BYTES // LARGE - 1}") is not None


@pytest.mark.parametrize("tag", ["x", "태그", "y" * 96, "y" * 97, "태" * 33, "sha256:x", "sha256"])
async def test_a_tag_stands_in_the_index_as_the_database_would_write_it(
    postgres_url: str, tag: str
) -> None:
    await (await PostgresDatabase.open(postgres_url, 0, create=True)).close()

    key = tag_key(tag.encode()).decode()
    assert asked(postgres_url, "SELECT memoranda.tag_key(%s)", tag) == [(key,)]
