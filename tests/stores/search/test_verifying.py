"""What was done to the word index is found, and the object is named."""

from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda.kernel.errors import StoreFailed
from memoranda.ledger.damage import Damage
from tests.stores.postgres.roles import run
from tests.stores.search.conftest import merge_all

SQL = {
    "a word is taken": "DELETE FROM postings WHERE token = 'one' AND {here}",
    "a word is added": """INSERT INTO postings SELECT journal, segment, 'other', first, body
        FROM postings WHERE token = 'one' AND {here}""",
    "a word is another": "UPDATE postings SET token = 'three' WHERE token = 'one' AND {here}",
    "a word is of another entry": """UPDATE postings SET first = first + 1,
        body = CAST(char(first + 1) || x'00' || substr(body, 3) AS BLOB)
        WHERE token = 'one' AND {here}""",
    "a count is another": """UPDATE postings SET body = CAST(substr(body, 1, 3) || x'09' AS BLOB)
        WHERE token = 'one' AND {here}""",
    "a length is another": """UPDATE postings
        SET body = CAST(substr(body, 1, 2) || x'09' || substr(body, 4) AS BLOB)
        WHERE token = 'one' AND {here}""",
    "a chunk can't be read": "UPDATE postings SET body = zeroblob(3) WHERE {here}",
    "a chunk is nothing": "UPDATE postings SET body = x'' WHERE {here}",
    "chunks lie in no segment": "UPDATE postings SET segment = segment + 100 WHERE {here}",
    "segments are gone": "DELETE FROM segments WHERE {here}",
    "a segment reaches further": "UPDATE segments SET until = until + 1 WHERE {here}",
    "a segment begins later": "UPDATE segments SET first = first + 1 WHERE {here}",
    "it counts one object more": "UPDATE journals SET documents = documents + 1 WHERE {numbered}",
    "it counts one token less": "UPDATE journals SET length = length - 1 WHERE {numbered}",
    "it reaches less far": "UPDATE journals SET indexed = indexed - 1 WHERE {numbered}",
    "it reaches further": "UPDATE journals SET indexed = indexed + 1 WHERE {numbered}",
    "it reaches nowhere": "UPDATE journals SET indexed = 0 WHERE {numbered}",
    "a thread is gone": "DELETE FROM threads WHERE {here}",
    "a row of a thread is added": """INSERT INTO threads
        SELECT journal, 'mallory', seq FROM threads WHERE {here}""",
    "a document has another length": """UPDATE documents
        SET body = CAST(substr(body, 1, 14) || x'09' || substr(body, 16) AS BLOB) WHERE {here}""",
    "a document is of another time": """UPDATE documents
        SET body = CAST(substr(body, 1, 4) || x'09' || substr(body, 6) AS BLOB) WHERE {here}""",
    "documents can't be read": "UPDATE documents SET body = zeroblob(3) WHERE {here}",
    "documents are gone": "DELETE FROM documents WHERE {here}",
    "a thread is another": "UPDATE threads SET thread = 'mallory' WHERE {here}",
    "a thread has another entry": "UPDATE threads SET seq = seq + 1 WHERE {here}",
}


@pytest.fixture
async def file(tmp_path: Path) -> tuple[Path, str, int]:
    """A file with two objects; the first one's id and number."""
    path = tmp_path / "verified.db"
    async with memoranda.open(f"sqlite:///{path}") as memory:
        first = await memory.remember("one note", source="talk:1")
        await memory.remember("two notes")
    return path, first.id, first.size - 1


async def damages(url: str) -> list[Damage]:
    async with memoranda.open(url) as memory:
        return (await memory.verify()).report.damages.found


def change(path: Path, statements: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statements)
    connection.close()


def do(path: Path, deed: str) -> None:
    """Do it to the index of the scope, and of no other journal."""
    (journal,) = rows(path, "SELECT number FROM journals WHERE scope <> ''")
    change(path, SQL[deed].format(here=f"journal = {journal}", numbered=f"number = {journal}"))


@pytest.mark.parametrize("deed", SQL)
async def test_an_edited_index_is_found(file: tuple[Path, str, int], deed: str) -> None:
    path, _, _ = file
    assert await damages(f"sqlite:///{path}") == []

    do(path, deed)

    found = await damages(f"sqlite:///{path}")
    assert found, "it was found"
    assert {damage.check for damage in found} == {"index"}


@pytest.mark.parametrize(
    "deed", ["a word is taken", "a word is added", "a count is another", "a length is another"]
)
async def test_the_object_is_named(file: tuple[Path, str, int], deed: str) -> None:
    path, id, seq = file
    do(path, deed)

    (found,) = await damages(f"sqlite:///{path}")

    assert (found.check, found.seq) == ("index", seq)
    assert id in found.why


async def test_words_that_were_moved_to_another_journal_are_found(
    file: tuple[Path, str, int],
) -> None:
    path, _, seq = file
    (other,) = rows(path, "SELECT number FROM journals WHERE scope = ''")
    change(path, f"UPDATE postings SET journal = {other} WHERE token = 'one'")  # noqa: S608 - ours

    found = await damages(f"sqlite:///{path}")

    assert {damage.check for damage in found} == {"index"}
    assert seq in {damage.seq for damage in found}


async def test_a_search_in_a_damaged_index_says_so(file: tuple[Path, str, int]) -> None:
    path, id, _ = file
    do(path, "a chunk can't be read")

    async with memoranda.open(f"sqlite:///{path}") as memory:
        with pytest.raises(StoreFailed) as caught:
            await memory.list(text="note")
        assert caught.value.code == "store.failed"
        assert "memoranda reindex" in str(caught.value)

        await memory.erase(id, reason="what can't be read is no reason to keep it")
        assert len(await memory.list(text="note")) == 1
        assert (await memory.verify()).report.damages.found == []


@pytest.mark.parametrize("deed", SQL)
async def test_reindexing_mends_it(file: tuple[Path, str, int], deed: str) -> None:
    path, _, _ = file
    do(path, deed)

    async with memoranda.open(f"sqlite:///{path}") as memory:
        await memory.maintain.reindex()
        assert (await memory.verify()).report.damages.found == []
        assert len(await memory.list(text="note")) == 2


POSTGRES = {
    "a word is taken": "DELETE FROM memoranda.postings WHERE token = 'one'",
    "every word is taken": "DELETE FROM memoranda.postings",
    "a word is added": """INSERT INTO memoranda.postings
        SELECT journal, segment, 'other', first, body FROM memoranda.postings
        WHERE token = 'one'""",
    "a word is another": "UPDATE memoranda.postings SET token = 'three' WHERE token = 'one'",
    "a word is of another entry": """UPDATE memoranda.postings
        SET first = first - 1, body = set_byte(body, 0, get_byte(body, 0) - 1)
        WHERE token = 'one'""",
    "a count is another": "UPDATE memoranda.postings SET body = set_byte(body, 3, 9)",
    "a length is another": "UPDATE memoranda.postings SET body = set_byte(body, 2, 9)",
    "a chunk can't be read": "UPDATE memoranda.postings SET body = 'x'",
    "a chunk is nothing": "UPDATE memoranda.postings SET body = ''",
    "chunks lie in no segment": "UPDATE memoranda.postings SET segment = segment + 100",
    "segments are gone": "DELETE FROM memoranda.segments",
    "a segment reaches further": "UPDATE memoranda.segments SET until = until + 1",
    "a segment begins later": "UPDATE memoranda.segments SET first = first + 1",
    "it counts one object more": """UPDATE memoranda.journals SET documents = documents + 1
        WHERE scope <> ' '""",
    "it counts one token less": """UPDATE memoranda.journals SET length = length - 1
        WHERE scope <> ' '""",
    "it reaches less far": """UPDATE memoranda.journals SET indexed = 1
        WHERE indexed > 1 AND scope <> ' '""",
    "a thread is gone": "DELETE FROM memoranda.threads",
    "a row of a thread is added": """INSERT INTO memoranda.threads
        SELECT journal, 'mallory', seq FROM memoranda.threads""",
    "a document has another length": """UPDATE memoranda.documents
        SET body = set_byte(body, 14, 9)""",
    "documents can't be read": "UPDATE memoranda.documents SET body = 'x'",
    "documents are gone": "DELETE FROM memoranda.documents",
    "a thread is another": "UPDATE memoranda.threads SET thread = 'mallory'",
    "a thread has another entry": "UPDATE memoranda.threads SET seq = seq + 1",
}


async def test_an_edited_index_is_found_in_postgresql_and_mended(postgres_url: str) -> None:
    async with memoranda.open(postgres_url) as memory:
        await memory.remember("one note", source="talk:1")
        await merge_all(memory)
        assert (await memory.verify()).report.damages.found == []
        for deed, statement in POSTGRES.items():
            run(postgres_url, statement)

            found = (await memory.verify()).report.damages.found
            assert {damage.check for damage in found} == {"index"}, deed

            await memory.maintain.reindex()
            assert (await memory.verify()).report.damages.found == [], deed
            assert len(await memory.list(text="one note")) == 1


def rows(path: Path, query: str) -> list[Any]:
    connection = apsw.Connection(str(path))
    try:
        return [row[0] for row in connection.execute(query)]
    finally:
        connection.close()
