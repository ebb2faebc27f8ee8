"""Procedures on either database: one text, two runners."""

from pathlib import Path
from typing import Any

import pytest

from memoranda.stores.postgres.connection import connect as connect_to_postgres
from memoranda.stores.postgres.connection import parse_address
from memoranda.stores.postgres.journal import run as run_on_postgres
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.reader import run
from memoranda.stores.statements import (
    Each,
    Integers,
    Portions,
    Procedure,
    Statement,
    Texts,
    ask,
    shared,
)

_LISTED = Statement(
    "SELECT value FROM json_each(:numbers) WHERE value < :end AND :journal = 7",
    "SELECT n FROM unnest(:numbers) AS n WHERE n < :end AND :journal = 7::bigint",
)
_PAIR = Statement("SELECT :first, :journal", "SELECT :first::text, :journal")
_ELSEWHERE = Statement("SELECT 'sqlite'", "")
_HAS = Statement(
    "SELECT 'b' IN (SELECT value FROM json_each(:names))", "SELECT ('b' = ANY (:names))::int"
)


def asking() -> Procedure[list[Any]]:
    """Each kind of question once."""
    found: list[Any] = list((yield ask(_LISTED, numbers=Integers([3, 1, 2]), end=3)))
    found += yield Each(_PAIR, [{"first": "a"}, {"first": "b"}])
    yield Portions(_LISTED, {"numbers": Integers(range(5)), "end": 5}, 2, found.append)
    found += yield ask(_HAS, names=Texts(["a", "b"]))
    found += yield ask(_ELSEWHERE)
    return found


ANSWERS = [(1,), (2,), ("a", 7), ("b", 7), [(0,), (1,)], [(2,), (3,)], [(4,)], (1,)]


def test_a_procedure_runs_on_a_connection_of_sqlite(tmp_path: Path) -> None:
    assert run(connect(str(tmp_path / "one.db")), 7, asking()) == [*ANSWERS, ("sqlite",)]


async def test_the_same_procedure_runs_on_postgres_and_asks_nothing_where_there_is_nothing(
    postgres_url: str,
) -> None:
    connection = await connect_to_postgres(parse_address(postgres_url))
    async with connection.transaction():
        found = await run_on_postgres(connection, 7, asking())
    await connection.close()

    assert found == ANSWERS


def test_what_a_procedure_raises_comes_out(tmp_path: Path) -> None:
    def failing() -> Procedure[None]:
        yield ask(_PAIR, first="a")
        raise LookupError

    with pytest.raises(LookupError):
        run(connect(str(tmp_path / "one.db")), 7, failing())


def test_what_both_understand_is_written_once() -> None:
    statement = shared(
        "SELECT m.seq FROM {marks} m WHERE m.journal = :journal AND m.name IN :names"
    )

    assert statement.sqlite == (
        "SELECT m.seq FROM marks m WHERE m.journal = :journal"
        " AND m.name IN (SELECT value FROM json_each(:names))"
    )
    assert statement.postgres == (
        "SELECT m.seq FROM memoranda.marks m WHERE m.journal = %s AND m.name = ANY (%s)"
    )
    assert statement.of_postgres({"names": ["a"], "journal": 7}) == (7, ["a"])
