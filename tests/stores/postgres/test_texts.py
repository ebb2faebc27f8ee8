"""Whatever the database's locale: order is code point order, and the longest texts fit."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.kernel.errors import StoreUnavailable
from memoranda.stores.postgres.database import PostgresDatabase
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.server import PostgresServer

LOCALES = [
    "LOCALE 'C'",
    "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'",
    "LOCALE_PROVIDER icu ICU_LOCALE 'ko-KR' LOCALE 'C'",
]
# Code point order differs here from UTF-16's, from every language's, and from that without case.
IDS = ["-", "A", "B", "Z", "_", "a", "b", "z", "é", "한", "\ue000", "\uffff", "😀", "\U0010fffd"]


@pytest.fixture(params=LOCALES)
def located_url(request: pytest.FixtureRequest, postgres_server: PostgresServer) -> Iterator[str]:
    """A database in another locale; in the plainest where the server was built without it."""
    url = postgres_server.create_database()
    name = str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])
    statement = "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' " + request.param
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))
        try:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))
        except psycopg.Error:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield url
    postgres_server.drop_database(url)


async def test_no_locale_decides_what_order_is_or_how_a_text_begins(located_url: str) -> None:
    async with memoranda.open(located_url, scope="s") as memory:
        await memory.records.create_many(
            [MemoryRecordInput(id=id, data=1, created_at=1, tags=("x" + id,)) for id in IDS]
        )

        for members in ({}, {"limit": 99}, {"tag_prefix": "x"}, {"ids": IDS}):
            filter = MemoryFilter.model_validate(members)
            assert [found.id for found in await memory.records.query(filter)] == IDS[::-1]
            assert [found.id async for found in memory.records.stream(filter)] == IDS[::-1]
        for id in IDS:
            for members in ({"id_prefix": id}, {"tag_prefix": "x" + id}):
                (found,) = await memory.records.query(MemoryFilter.model_validate(members))
                assert found.id == id


async def test_texts_that_look_alike_are_not_equal(located_url: str) -> None:
    alike = ["é", "e\u0301", "E\u0301", "ﬁ", "fi", "Straße", "STRASSE", "가", "\u1100\u1161"]
    async with memoranda.open(located_url, scope="s") as memory:
        for text in alike:
            await memory.records.create(
                MemoryRecordInput(id=text, data=text, tags=(text,)), idempotency_key=text
            )

        for text in alike:
            found = await memory.records.get(text)
            assert found is not None
            assert found.data == text
            by_tag = await memory.records.query(MemoryFilter(tags=(text,)))
            assert [found.id for found in by_tag] == [text]


async def test_every_text_is_compared_byte_by_byte(postgres_url: str) -> None:
    await (await PostgresDatabase.open(postgres_url, 0, create=True)).close()

    query = """
        SELECT c.relname, a.attname, a.attcollation::regcollation::text
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'memoranda'::regnamespace AND a.attcollation <> 0
          AND c.relkind IN ('r', 'i') AND NOT a.attisdropped
    """
    found = asked(postgres_url, query)
    assert len(found) > 10
    assert {collation for _, _, collation in found} == {'"C"'}


async def test_the_longest_texts_fit_together(postgres_url: str) -> None:
    def long(length: int, first: int) -> str:
        """Four bytes a character, none like the one before: it can't be packed."""
        return "".join(chr(first + 7919 * n % 60_000) for n in range(length))

    tag, key = long(256, 0x20001), long(4096, 0x20003)
    id = long(512, 0x20000)
    given = MemoryRecordInput[Any](id=id, data={}, tags=(tag, tag[:-1]))
    async with memoranda.open(postgres_url, scope=long(128, 0x20002)) as memory:
        records = memory.records
        for _ in range(2):
            assert await records.create(given, idempotency_key=key) == id
        await records.create_many([MemoryRecordInput(data={}, tags=(tag,)) for _ in range(2)])

        assert len(await records.query(MemoryFilter(tags=(tag,)))) == 3
        assert len(await records.query(MemoryFilter(tags=(tag,), limit=9))) == 3
        assert [r.id for r in await records.query(MemoryFilter(tags=(tag, tag[:-1])))] == [id]
        await records.annotate(id, tags=(tag,))
        assert await records.query(MemoryFilter(tags=(tag[:-1],))) == []
        await records.delete(id)
        assert len(await records.query(MemoryFilter(tags=(tag,)))) == 2


async def test_a_tag_that_looks_like_a_digest_is_not_the_tag_it_stands_for(
    postgres_url: str,
) -> None:
    long = "x" * 200
    await (await PostgresDatabase.open(postgres_url, 0, create=True)).close()
    ((digest,),) = asked(postgres_url, "SELECT memoranda.tag_key(%s)", long)
    async with memoranda.open(postgres_url, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(id="a", data=1, tags=(long,)))
        await memory.records.create(MemoryRecordInput(id="b", data=1, tags=(str(digest),)))

        found = await memory.records.query(MemoryFilter(tags=(str(digest),)))
        assert [record.id for record in found] == ["b"]


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_that_can_not_hold_every_text_is_refused(
    postgres_server: PostgresServer, encoding: str
) -> None:
    url = postgres_server.create_database(encoding=encoding, locale="C")

    with pytest.raises(StoreUnavailable) as caught:
        await PostgresDatabase.open(url, 0, create=True)

    assert "UTF8" in caught.value.why
    assert asked(url, "SELECT 1 FROM pg_namespace WHERE nspname = 'memoranda'") == []
