"""What both databases do, written once: procedures that yield questions and receive rows.

A procedure is a generator. It yields what it wants to know or to write (`ask`, `EachRow` and
others) and is sent the rows; it never waits. Whoever runs it does: `sqlite.reader.run` on a
thread that has a connection, `postgres.journal.run` on the event loop. So one text serves both,
inside whatever transaction it is run in. A `Statement` has what each database is asked, which is
mostly the same.

Parameters have names. The journal, and its origin, are always among them: no procedure names them.
"""

import re
from collections.abc import Callable, Generator, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from memoranda.ledger.codec import BodyCodec
from memoranda.stores.compared import Compared

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

_TABLE: Final = re.compile(r"\{(\w+)\}")
_IN_LIST: Final = re.compile(r"IN :(\w+)")
_PARAMETER: Final = re.compile(r"(?<!:):([a-z]\w*)")


class Texts(list[str | None]):
    """A list of texts as one parameter: JSON in SQLite, a text[] in PostgreSQL."""


class Integers(list[int | None]):
    """A list of integers, likewise: a bigint[]."""


class Blobs(list[bytes]):
    """A list of bytes: a bytea[]. SQLite takes none."""


Values = dict[str, Any]


class Statement:
    """One question to a journal, in the words of each database; `:name` is a parameter.

    Where one of them needs to do nothing, because another statement did, its words are empty.
    Parameters are bound by their places, which takes less time: `of_sqlite` and `of_postgres` give
    the values in the order of each.
    """

    def __init__(self, sqlite: str, postgres: str) -> None:
        self.sqlite = sqlite
        self.postgres = _PARAMETER.sub("%s", postgres)
        self.of_sqlite = _picked(list(dict.fromkeys(_PARAMETER.findall(sqlite))))
        self.of_postgres = _picked(_PARAMETER.findall(postgres))


def _picked(names: Sequence[str]) -> Callable[[Values], Sequence[Any]]:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: [values[name] for name in names]


def shared(sql: str) -> Statement:
    """A statement that both databases understand.

    A table is named in braces, ``{marks}``, and `x IN :names` asks whether a list has it.
    """
    return Statement(
        _IN_LIST.sub(r"IN (SELECT value FROM json_each(:\1))", _TABLE.sub(r"\1", sql)),
        _IN_LIST.sub(r"= ANY (:\1)", _TABLE.sub(r"memoranda.\1", sql)),
    )


class Question(NamedTuple):
    """A statement with its parameters: the procedure is sent all of its rows."""

    statement: Statement
    values: Values


class Portions(NamedTuple):
    """The rows of a statement, so many at a time: each portion is handed to a function.

    Where a procedure runs on the event loop, the function is called on another thread.
    """

    statement: Statement
    values: Values
    size: int
    take: Callable[[list[Any]], object]


class Each(NamedTuple):
    """A statement for each of these parameters, in few trips: all rows of all of them."""

    statement: Statement
    several: Sequence[Values]


class EachRow(NamedTuple):
    """A statement for each of some rows, whose columns are given as lists of the same length.

    SQLite runs it row by row. PostgreSQL gets the lists, and unnests them.
    """

    statement: Statement
    columns: Values


class PlainStatement(NamedTuple):
    """A statement in the words of the database that is asked, with its parameters in order."""

    sql: str
    parameters: Sequence[Any]


Procedure = Generator[Question | Portions | Each | EachRow | PlainStatement, Any, R_co]


def ask(statement: Statement, **values: Any) -> Question:
    return Question(statement, values)


class JournalRows(Protocol):
    """One journal of a database, as procedures are run on it."""

    @property
    def database(self) -> str:
        """Its name, for messages."""
        ...

    @property
    def bodies(self) -> BodyCodec:
        """How bodies are stored."""
        ...

    @property
    def compared(self) -> Compared:
        """What makes rows into values."""
        ...

    async def rows(
        self, make: Callable[[Any], R], statement: Statement, /, **values: Any
    ) -> list[R]:
        """The rows of a statement that reads, in a single trip, each made into a value."""
        ...

    async def read(self, procedure: Callable[[], Procedure[R]]) -> R:
        """Run what only reads, all of it at one moment."""
        ...

    async def glimpse(self, procedure: Callable[[], Procedure[R]]) -> R:
        """The same for what reads little: where it was short, no other thread was asked."""
        ...

    async def write(self, procedure: Callable[[], Procedure[R]]) -> R:
        """Run what writes, in one transaction that has locked the journal; maybe more than once."""
        ...

    async def change(self, procedure: Callable[[], Procedure[R]]) -> R:
        """The same where PostgreSQL is asked a single thing: a function that locks it itself."""
        ...
