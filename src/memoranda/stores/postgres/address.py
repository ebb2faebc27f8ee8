"""Where a PostgreSQL database is, and how it is called in messages: never with its password."""

from dataclasses import dataclass, field
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memoranda.kernel.errors import InvalidUrl

CONNECT_S: Final = 5

# What a URL may set otherwise. A server that went silent is noticed within half a minute:
# TCP itself would wait for hours.
_DEFAULTS: Final[dict[str, str | int | None]] = {
    "connect_timeout": CONNECT_S,
    "fallback_application_name": "memoranda",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_QUOTING: Final = "write @ / ? # % in a user or a password as %40 %2F %3F %23 %25"


@dataclass(frozen=True, slots=True)
class Address:
    """What libpq is told, and a name for people."""

    conninfo: str = field(repr=False)
    name: str


def parse_address(url: str) -> Address:
    """The address in a URL; InvalidUrl, which repeats nothing of it, if it can't be read.

    A password with a bare @ or / in it shifts what follows, so that a piece of it would be taken
    for a host, a port or a database, and be shown as one: refused.
    """
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise _unreadable() from None
    where = str(given.get("host") or given.get("hostaddr") or "localhost")
    database = str(given.get("dbname") or "the default database")
    ports = str(given.get("port") or "").split(",")
    is_shifted = "@" in where or ("@" in database and "%40" not in url)
    if is_shifted or not all(port.isdecimal() for port in ports if port):
        raise _unreadable()
    conninfo = make_conninfo("", **(_DEFAULTS | given | {"client_encoding": "UTF8"}))
    return Address(conninfo, f"{database} at {where}")


def _unreadable() -> InvalidUrl:
    return InvalidUrl("postgresql://…", f"it can't be read; check its options, and {_QUOTING}")
