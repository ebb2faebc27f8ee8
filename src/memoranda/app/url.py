"""Database URLs: which store, and where."""

from dataclasses import dataclass
from os import PathLike, fsdecode, fsencode, fspath
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

from memoranda.kernel.errors import InvalidUrl
from memoranda.kernel.json import storable
from memoranda.stores.sqlite.connection import MEMORY

StoreKind = Literal["dict", "sqlite", "postgresql"]


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A database by kind and place: a path for SQLite, the URL itself for PostgreSQL."""

    kind: StoreKind
    place: str

    @property
    def is_private(self) -> bool:
        """Whether each opening is a database of its own, which ends when it is closed."""
        return self.kind == "dict" or (self.kind == "sqlite" and self.place == MEMORY)


def url_of(given: str | PathLike[str]) -> str:
    """The URL that was given; for a path, that of a SQLite file. InvalidUrl for neither."""
    if isinstance(given, PathLike) and isinstance(path := fspath(given), str):
        return f"sqlite:///{_quoted(path)}"
    if not isinstance(given, str) or not given or not storable(given):
        raise InvalidUrl("…", "it is neither a URL nor a path")
    if "://" in given:
        return given
    if "@" in given or "=" in given or given.lower().startswith("postgres"):
        # What it is nobody knows, so it is not repeated: it might hold a password.
        raise InvalidUrl("…", "it is neither a URL nor the path of a file")
    return f"sqlite:///{_quoted(given)}"


def parse_url(url: str | PathLike[str]) -> DatabaseUrl:
    """What a URL or a path names; InvalidUrl, with the forms that are understood, otherwise."""
    url = url_of(url)
    scheme, _, rest = url.partition("://")
    match scheme.lower():
        case "dict" if not rest:
            return DatabaseUrl("dict", "")
        case "dict":
            raise InvalidUrl(hidden(url), "dict:// takes no path: it is always in memory")
        case "sqlite":
            return DatabaseUrl("sqlite", _sqlite_path(url, rest))
        case "postgresql" | "postgres":
            return DatabaseUrl("postgresql", "postgresql://" + rest)
        case _:
            raise InvalidUrl(hidden(url), f"there is no store called {scheme!r}")


def file_of(url: str) -> str | None:
    """The database's own file; None where it has none (PostgreSQL), or a private one."""
    named = parse_url(url)
    return None if named.kind != "sqlite" or named.is_private else named.place


def file_url(path: str | Path) -> str:
    """The URL of a SQLite file, whatever characters its name has."""
    return f"sqlite:///{_quoted(str(Path(path).absolute()))}"


def _quoted(path: str) -> str:
    """The path as a part of a URL."""
    try:
        return quote(fsencode(path))
    except UnicodeEncodeError:
        raise InvalidUrl("…", "no file can have this name") from None


def hidden(url: str) -> str:
    """The URL as far as it can hold no password, for messages: no user, no options."""
    scheme, _, rest = url.partition("://")
    place = rest.partition("?")[0].partition("#")[0].rpartition("@")
    return f"{scheme}://{'…@' if place[1] else ''}{place[2]}"


def _sqlite_path(url: str, rest: str) -> str:
    if rest == MEMORY:
        return rest
    if not rest.startswith("/"):
        raise InvalidUrl(hidden(url), "a file has three slashes, as in sqlite:///memory.db")
    if "?" in rest or "#" in rest:
        raise InvalidUrl(hidden(url), "a file takes no options (write ? as %3F and # as %23)")
    path = fsdecode(unquote_to_bytes(rest[1:]))
    if not path or "\x00" in path:
        raise InvalidUrl(hidden(url), "it names no file")
    if not storable(path):
        raise InvalidUrl("…", "the name of the file is not UTF-8; SQLite takes no other")
    return path
