"""What was done to the word index is found, and the object is named."""

from pathlib import Path
from typing import Any

import apsw
import pytest

import recollect
from recollect.ledger.damage import Damage
from recollect.stores.sqlite.places import place
from tests.postgres_store.roles import run
from tests.search.conftest import merge_all

SQL = (
    "INSERT INTO words (words, rowid, tokens) VALUES ('delete', {place}, '{journal}:one')",
    "INSERT INTO words (rowid, tokens) VALUES ({place}, '{journal}:other')",
    """INSERT INTO words (words, rowid, tokens)
       VALUES ('delete', {place}, '{journal}:note {journal}:one');
       INSERT INTO words (rowid, tokens) VALUES ({place}, '{journal}:note {journal}:two')""",
    "UPDATE journals SET indexed = indexed - 1",
    "UPDATE journals SET indexed = indexed + 1",
    "UPDATE journals SET indexed = 0",
)


@pytest.fixture
async def file(tmp_path: Path) -> tuple[Path, str, int]:
    """A file with two objects; the first one's id and number."""
    path = tmp_path / "verified.db"
    async with recollect.open(f"sqlite:///{path}") as memory:
        first = await memory.remember("one note")
        await memory.remember("two notes")
    return path, first.id, first.size - 1


async def damages(url: str) -> list[Damage]:
    async with recollect.open(url) as memory:
        return (await memory.verify()).report.damages.found


def change(path: Path, statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()


@pytest.mark.parametrize("deed", SQL)
async def test_an_edited_index_is_found(file: tuple[Path, str, int], deed: str) -> None:
    path, _, seq = file
    assert await damages(f"sqlite:///{path}") == []

    # The journal of the scope, and of no other.
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    where = place(journal, seq)
    change(
        path,
        deed.format(place=where, journal=journal)
        + (f" WHERE number = {journal}" * ("SET" in deed)),
    )

    found = await damages(f"sqlite:///{path}")
    assert found, "it was found"
    assert {damage.check for damage in found} == {"index"}


async def test_the_object_is_named(file: tuple[Path, str, int]) -> None:
    path, id, seq = file
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    change(path, SQL[0].format(place=place(journal, seq), journal=journal))

    (found,) = await damages(f"sqlite:///{path}")

    assert (found.check, found.seq) == ("index", seq)
    assert id in found.why


async def test_words_of_no_entry_are_found(file: tuple[Path, str, int]) -> None:
    path, _, _ = file
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    change(path, SQL[1].format(place=place(journal, 1_000_000), journal=journal))

    assert [damage.check for damage in await damages(f"sqlite:///{path}")] == ["index"]


async def test_words_that_were_moved_to_another_journal_are_found(
    file: tuple[Path, str, int],
) -> None:
    path, _, seq = file
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    (other,) = rows(path, "SELECT number FROM journals WHERE scope = ''")
    moved = """INSERT INTO words (words, rowid, tokens)
       VALUES ('delete', {here}, '{journal}:note {journal}:one');
       INSERT INTO words (rowid, tokens) VALUES ({there}, '{journal}:note {journal}:one')"""
    places = {"here": place(journal, seq), "there": place(other, seq)}
    change(path, moved.format(journal=journal, **places))

    found = await damages(f"sqlite:///{path}")

    assert {damage.check for damage in found} == {"index"}
    assert seq in {damage.seq for damage in found}


async def test_an_index_that_cannot_be_read_is_damage_and_no_error(
    file: tuple[Path, str, int],
) -> None:
    path, _, _ = file
    change(path, "UPDATE words_data SET block = zeroblob(100) WHERE id > 100")

    assert {damage.check for damage in await damages(f"sqlite:///{path}")} == {"index"}


async def test_reindexing_mends_it(file: tuple[Path, str, int]) -> None:
    path, _, seq = file
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    change(path, SQL[1].format(place=place(journal, seq), journal=journal))

    async with recollect.open(f"sqlite:///{path}") as memory:
        await memory.reindex()
        assert (await memory.verify()).report.damages.found == []
        assert len(await memory.search("note")) == 2


POSTGRES = (
    "UPDATE recollect.words SET tokens = tokens[2:]",
    "UPDATE recollect.words SET tokens = tokens || (journal || ':more')",
    "UPDATE recollect.words SET tokens[1] = journal || ':other'",
    "DELETE FROM recollect.words",
    """INSERT INTO recollect.words
       SELECT journal, seq - 1, id, number, tokens FROM recollect.words LIMIT 1""",
    "UPDATE recollect.journals SET indexed = 1 WHERE indexed > 1 AND scope <> ' '",
)


@pytest.mark.parametrize("deed", POSTGRES)
async def test_an_edited_index_is_found_in_postgresql(postgres_url: str, deed: str) -> None:
    async with recollect.open(postgres_url) as memory:
        await memory.remember("one note")
        await merge_all(memory)
        assert (await memory.verify()).report.damages.found == []
        run(postgres_url, deed)

        found = (await memory.verify()).report.damages.found

    assert {damage.check for damage in found} == {"index"}


def rows(path: Path, query: str) -> list[Any]:
    connection = apsw.Connection(str(path))
    try:
        return [row[0] for row in connection.execute(query)]
    finally:
        connection.close()
