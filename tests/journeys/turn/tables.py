"""The tables of a database, as whoever owns them reads and writes them."""

from pathlib import Path
from typing import Any, Final

import apsw
import psycopg

from memoranda.app.databases import file_of
from memoranda.ledger.codec import PLAIN
from memoranda.stores.shorthand import InShorthand

OF_A_CYCLE: Final = (
    "memories", "item_keywords", "item_postings", "item_origins", "cycle_salts", "recordings",
)  # fmt: skip


class Tables:
    """Run statements on them: tables are named in braces, placeholders are ``?``."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.file = file_of(url)

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement; its rows."""
        named = statement.replace("{", "" if self.file else "memoranda.").replace("}", "")
        if self.file:
            connection = apsw.Connection(self.file)
            try:
                found: list[Any] = connection.execute(named, values).fetchall()
                return found
            finally:
                connection.close()
        with psycopg.connect(self.url, autocommit=True) as owner:
            done = owner.execute(named.replace("?", "%s").encode(), values)
            return done.fetchall() if done.description else []

    def counts(self) -> dict[str, int]:
        """How many rows there are of what cycles leave, in all scopes."""
        return {t: self.run(f"SELECT count(*) FROM {{{t}}}")[0][0] for t in OF_A_CYCLE}  # noqa: S608

    def packed(self, body: bytes) -> bytes:
        """A body as it is stored."""
        return (InShorthand(PLAIN) if self.file else PLAIN).pack(body, None)

    def unpacked(self, stored: bytes) -> bytes:
        """A body that is stored so."""
        return (InShorthand(PLAIN) if self.file else PLAIN).unpack(bytes(stored))

    def id(self, id: str) -> Any:
        """The id of an item as it is stored."""
        return bytes.fromhex(id.replace("-", "")) if self.file else id

    def holding(self, text: str) -> set[str]:
        """Where a text is: in which tables of PostgreSQL, or whether in the files of SQLite."""
        raw = text.encode()
        if self.file:
            files = Path(self.file).parent.glob(f"{Path(self.file).name}*")
            return {"the file"} if any(raw in file.read_bytes() for file in files) else set()
        with psycopg.connect(self.url) as owner:
            names = owner.execute(
                "SELECT relname FROM pg_class"
                " WHERE relnamespace = 'memoranda'::regnamespace AND relkind = 'r'"
            ).fetchall()
            return {name for (name,) in names if _is_in(owner, name, raw)}


def _is_in(owner: psycopg.Connection[Any], table: str, raw: bytes) -> bool:
    rows = owner.execute(f"SELECT t.* FROM memoranda.{table} t".encode())  # noqa: S608
    return any(raw in _bytes(value) for row in rows for value in row)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
