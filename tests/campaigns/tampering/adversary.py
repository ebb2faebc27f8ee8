"""`TamperedDatabase`: someone who can write the database, and wants nobody to notice.

A simulator, over a real database and real SQL. It picks its places by chance, from a seed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.entry import NOTICES, Entry, read_entry
from tests.campaigns.adversity.chance import Random
from tests.campaigns.tampering.book import Book, Hand, relist, renote
from tests.campaigns.tampering.clean import KEY, SCOPES, CleanDatabase
from tests.campaigns.tampering.index import words_in
from tests.campaigns.tampering.tables import OF_A_JOURNAL, Row, Tables
from tests.verify.journals import Signer, sha256

T = TypeVar("T")

OTHER_KEY = Signer(KEY.name, sha256(b"another seed"))
"""A key of the same name that nobody knows: whoever signs with it has another key id."""


@dataclass(frozen=True)
class Pretender:
    """Signs with a key of its own, and says that it was the known one."""

    def line(self, text: str) -> str:
        """A signature line with the known key's id that does not hold."""
        return Signer.line(_Pretended(KEY.name, OTHER_KEY.seed), text)


class _Pretended(Signer):
    @property
    def key_id(self) -> bytes:
        return KEY.key_id


class NotHere(Exception):
    """There is nothing in this place that this could be done to: another one is to be tried."""


class TamperedDatabase:
    """A copy of a clean database in the hands of an attacker."""

    def __init__(self, clean: CleanDatabase, url: str, tables: Tables, chance: Random) -> None:
        self.clean = clean
        self.url = url
        self.tables = tables
        self.chance = chance

    # ------------------------------------------------------------------------ looking

    @cached_property
    def journals(self) -> dict[str, Row]:
        """Every journal, by scope."""
        return {row["scope"]: row for row in self.tables.rows("journals")}

    def number(self, scope: str) -> int:
        """The number of a scope's journal."""
        return int(self.journals[scope]["number"])

    def size(self, scope: str) -> int:
        """How many entries it has."""
        return int(self.journals[scope]["size"])

    def scope(self) -> str:
        """Some scope of a user's."""
        return self.chance.choice(SCOPES)

    def two_scopes(self) -> tuple[str, str]:
        """Two of them."""
        one, other = self.chance.sample(SCOPES, 2)
        return one, other

    def inside(self, scope: str, *, first: int = 0, last: int = 2) -> int:
        """Some entry, not one of the last ones."""
        return self.chance.randrange(first, self.size(scope) - last)

    def entry(self, scope: str, seq: int) -> Entry:
        """An entry."""
        (row,) = self.tables.rows("entries", journal=self.number(scope), seq=seq)
        return read_entry(row["entry"])

    def rows(self, scope: str, table: str) -> list[Row]:
        """The rows of a table that belong to a scope."""
        return self.tables.rows(table, journal=self.number(scope))

    def some(self, rows: Sequence[Row], fits: Callable[[Row], Any] = lambda _: True) -> Row:
        """Some row that fits."""
        return self.pick([row for row in rows if fits(row)])

    def pick(self, choices: Sequence[T]) -> T:
        """Some of these, if there are any."""
        if not choices:
            raise NotHere
        return self.chance.choice(choices)

    def some_body(self, scope: str, fits: Callable[[Row], Any] = lambda _: True) -> Row:
        """Some body that is there."""
        return self.some(self.rows(scope, "bodies"), fits)

    def some_version(self, scope: str, fits: Callable[[Row], Any]) -> Row:
        """Some version's row."""
        return self.some(self.rows(scope, "versions"), fits)

    def some_notice(self, scope: str) -> Row:
        """Some entry about the memory as a whole."""
        return self.some(
            self.rows(scope, "entries"), lambda row: read_entry(row["entry"]).kind in NOTICES
        )

    def some_words(self, scope: str) -> tuple[int, dict[str, int]]:
        """Some entry that the word index has, and its words."""
        index = words_in(self.tables, self.number(scope))
        seq = self.pick(sorted(index))
        return seq, index[seq]

    def where(self, row: Row, *columns: str) -> Row:
        """The columns by which a row is found again."""
        return {name: row[name] for name in ("journal", *columns)}

    # ---------------------------------------------------------------------- forging

    def book(self, scope: str) -> Book:
        """A journal to be changed at will."""
        return Book.read(self.tables, self.number(scope))

    def pass_off(
        self,
        book: Book,
        *,
        keeps_notes: bool = False,
        keeps_directory: bool = False,
        hands: Sequence[Hand] = (),
    ) -> None:
        """Make everything in the database fit a journal that was changed, as far as is asked."""
        book.rechain()
        book.store(self.tables)
        if not keeps_notes:
            renote(self.tables, book, hands)
        if not keeps_directory:
            directory = self.book(DIRECTORY)
            relist(self.tables, directory, book)
            renote(self.tables, directory, hands)

    def drop(self, scope: str) -> str:
        """Remove a scope with everything in it; its origin is returned."""
        number = self.number(scope)
        for table in OF_A_JOURNAL:
            self.tables.remove(table, journal=number)
        self.tables.remove("journals", number=number)
        return str(self.journals[scope]["origin"])

    def edit_entry(self, scope: str, seq: int, raw: bytes) -> None:
        """Put other bytes into the place of an entry."""
        self.tables.change("entries", {"journal": self.number(scope), "seq": seq}, entry=raw)

    def hash(self) -> str:
        """Some hash."""
        return self.chance.randbytes(32).hex()
