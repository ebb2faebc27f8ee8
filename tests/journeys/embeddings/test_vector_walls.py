"""The second wall in PostgreSQL: vectors of another scope can be neither seen nor written."""

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

import memoranda
from memoranda.recall.embedder import stored_as
from tests.journeys.embeddings.conftest import embed_all, index_of, nearest
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer


async def test_a_role_of_an_app_reaches_the_vectors_of_its_scope_and_no_others(
    postgres_server: PostgresServer,
) -> None:
    roles = await make_roles(postgres_server, postgres_server.create_database())
    toy = ToyEmbedder()
    async with (
        memoranda.open(roles.app, scope="mine") as mine,
        memoranda.open(roles.app, scope="theirs") as theirs,
    ):
        one = await mine.remember("the refund was paid")
        await theirs.remember("the refund was paid")
        await embed_all(mine, toy)
        await embed_all(theirs, toy)
        assert [id for id, _ in await nearest(mine, toy, "refund")] == [one.id]
        await mine.update(one.id, "another")
        assert await index_of(mine).count_missing(stored_as(toy)) == 1
        await embed_all(mine, toy)

    listed = asked(roles.superuser, "SELECT scope, journal FROM memoranda.journals")
    journals = {str(scope): number for scope, number in listed}
    for url in (roles.app, roles.owner):
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT * FROM memoranda.vectors").fetchall() == []
            own = journals["mine"]
            connection.execute("SELECT memoranda.enter(%s, NULL)", (own,))
            seen = connection.execute("SELECT journal FROM memoranda.vectors").fetchall()
            assert seen == [(own,)]
            assert connection.execute("DELETE FROM memoranda.vectors").rowcount == 1
            connection.rollback()
            connection.execute("SELECT memoranda.enter(%s, NULL)", (own,))
            with pytest.raises(InsufficientPrivilege):
                connection.execute(
                    "INSERT INTO memoranda.vectors VALUES (%s, 99, 'm', 'id', '')",
                    (journals["theirs"],),
                )
    with psycopg.connect(roles.app) as connection, pytest.raises(InsufficientPrivilege):
        connection.execute("UPDATE memoranda.vectors SET vector = ''")
