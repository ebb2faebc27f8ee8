"""A PostgreSQL server of our own, and in it a database for each contender.

Its user is a plain one who owns the database. A superuser would pass by row-level security, which
is part of what memoranda pays for; an owner does not, because it is forced.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import sql

from tests.stores.postgres.server import PostgresServer, running_server


@contextmanager
def server() -> Iterator[PostgresServer]:
    """A server that is stopped and cleared away in the end."""
    # memoranda warns of an owner, rightly: one could take row-level security off again.
    logging.getLogger("memoranda.postgres").setLevel(logging.ERROR)
    with running_server(own=True) as started:
        yield started


def owned_database(started: PostgresServer) -> str:
    """The URL of a fresh database for a fresh role that owns it, and is no superuser."""
    url = started.create_database()
    owner = started.create_app_role(url)
    names = [unquote(urlsplit(url).path.removeprefix("/")), urlsplit(owner).username or ""]
    statement = sql.SQL("ALTER DATABASE {} OWNER TO {}").format(*map(sql.Identifier, names))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)
    return owner
