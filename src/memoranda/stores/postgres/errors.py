"""What PostgreSQL's errors mean, in plain words and with what to do about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from memoranda.kernel.errors import (
    MemorandaError,
    SchemaTooOld,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.stores.postgres.address import CONNECT_S

# libpq has no codes for a connection that was refused, only words. They are English where the
# server's lc_messages is; the server's own words are shown otherwise.
_REFUSALS: Final = (
    ("no password supplied", "it wants a password; put one into the URL, PGPASSWORD or ~/.pgpass"),
    ("authentication failed", "the user or the password is wrong; check both"),
    ("no pg_hba.conf entry", "the server lets nobody in from here this way; see its pg_hba.conf"),
    ("the database system is", "the server is starting or stopping; retry in a moment"),
    ("server closed the connection", "the server closed the connection; see its log, then retry"),
    ("too many clients", "the server has no connection left; raise max_connections, or use fewer"),
    ("remaining connection slots", "the server has no connection left; raise max_connections"),
    ("server does not support SSL", "it offers no TLS; set it up there, or choose another sslmode"),
    ("certificate", "its TLS certificate is not trusted; check sslmode and sslrootcert"),
    ("SSL", "the TLS connection failed; check sslmode and the certificates"),
    ("could not translate host name", "there is no such host; check the name"),
    ("failed to resolve host", "there is no such host; check the name"),
    ("Connection refused", "no server listens there; start it, or check host and port"),
    ("No such file or directory", "no server listens there; start it, or check host and port"),
    ("timeout", f"no answer within {CONNECT_S} s; check host, port and firewall"),
)
_MISSING: Final = (
    ("database", "there is no such database; make it first, with: createdb"),
    ("role", "there is no such role; make it first, as docs/postgres.md shows"),
)


@contextmanager
def plain_errors(database: str, *, writes: bool = False) -> Iterator[None]:
    """Whatever PostgreSQL raises inside becomes an error of ours, with what to do about it.

    When the connection is lost during a write nobody knows whether it landed: StoreFailed.
    """
    try:
        yield
    except psycopg.Error as error:
        raise explained(error, database, writes=writes) from error


def explained(error: psycopg.Error, database: str, *, writes: bool) -> MemorandaError:
    """The error of ours for an error of a connection that was open."""
    said = _lines(error)[0]
    match error.sqlstate or "":
        case "55P03":
            return StoreUnavailable(database, "others have been writing it for too long; retry")
        case "57014" | "40P01" | "40001":
            return StoreUnavailable(database, f"the call was stopped ({said}); retry")
        case "25006":
            return StoreReadOnly(
                database, "the server is read-only; name the primary, not a replica"
            )
        case "42501":
            why = f"the role lacks a right ({said}); grant what docs/postgres.md lists"
            return StoreUnavailable(database, why)
        case "42P01" | "42703" | "42883":  # no such table, column, function
            return SchemaTooOld(database, said)
        case "53100":
            return StoreFailed(database, "the server's disk is full; make room")
        case "" | "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "08000" | "08003" | "08006":
            why = f"the connection was lost ({said})"
            return StoreFailed(database, why) if writes else StoreUnavailable(database, why)
        case _:
            return StoreFailed(database, said)


def refused(error: psycopg.Error, database: str) -> StoreUnavailable:
    """The error of ours for a connection that could not be opened."""
    said = str(error)
    for what, advice in _MISSING:
        if f'{what} "' in said and "does not exist" in said:
            return StoreUnavailable(database, advice)
    for words, advice in _REFUSALS:
        if words in said:
            return StoreUnavailable(database, advice)
    return StoreUnavailable(database, _lines(error)[-1])


def _lines(error: psycopg.Error) -> list[str]:
    """What the server said, or libpq; not the details, which repeat data and SQL."""
    said = error.diag.message_primary or str(error)
    return [line.strip().rstrip(".") for line in said.splitlines()] or [type(error).__name__]
