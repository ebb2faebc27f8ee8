"""A database whose owner changes rows behind our back."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.ledger.entry import Entry, body_digest, entry_bytes, read_entry
from tests.campaigns.tampering.tables import OF_A_JOURNAL, Tables
from tests.handles import opened as handle_on

SCOPE = "read"


class Attacked(NamedTuple):
    """A database, and its tables as whoever owns it sees them."""

    url: str
    tables: Callable[[], Tables]

    def opened(self, **options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        return handle_on(self.url, scope=SCOPE, **{"actor": "agent:clerk", **options})

    def edit(self, seq: int, change: Callable[[Any], Any], *, is_rehashed: bool = False) -> None:
        """Have a body say something else; with its entry's digest made anew, if wanted."""
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            where = {"journal": journal["number"], "seq": seq}
            (row,) = tables.rows("bodies", **where)
            document = decode(row["body"])
            change(document)
            body = canonical_bytes(document)
            tables.change("bodies", where, body=body)
            if is_rehashed:
                (stored,) = tables.rows("entries", **where)
                digest = body_digest(row["salt"], body)
                forged = Entry._replace(read_entry(stored["entry"]), body_digest=digest)
                tables.change("entries", where, entry=entry_bytes(forged))

    def remove_body(self, seq: int) -> None:
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            tables.remove("bodies", journal=journal["number"], seq=seq)

    def overwrite(self, seq: int, body: bytes) -> None:
        """Put other bytes in the place of a body."""
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            tables.change("bodies", {"journal": journal["number"], "seq": seq}, body=body)

    def remove_entry(self, seq: int) -> None:
        """Lose an entry, with its body."""
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            for table in ("entries", "bodies"):
                tables.remove(table, journal=journal["number"], seq=seq)

    def everything(self) -> str:
        """All that is stored of the scope, but for the journal's own head."""
        with self.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            number = journal["number"]
            return str([tables.rows(table, journal=number) for table in OF_A_JOURNAL])
