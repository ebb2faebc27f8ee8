"""What a search costs: the postings that match, never the session or the scope, in SQLite's steps.

Steps of its virtual machine are counted, not time: the same on every machine.
"""

from pathlib import Path

import apsw
import pytest

from recollect.ledger.codec import PLAIN
from recollect.stores.keywords import asked
from recollect.stores.sqlite.connection import connect
from recollect.stores.sqlite.items import _MATCHING, insert_item
from recollect.stores.sqlite.schema import migrate
from recollect.testkit.items.giving import at, item

QUERY = "What did we say about the parrot and the memory?"
MATCHING = 10


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    path = str(tmp_path / "items.db")
    connection = connect(path)
    migrate(connection, path, 0)
    return connection


def fill(connection: apsw.Connection, session: str, count: int, *, journal: int = 1) -> None:
    """A session in which ten items match, and the rest begins like it or does not."""
    with connection:
        for n in range(count):
            words = ("parrot", f"n{n}") if n < MATCHING else (f"parole{n}", f"zebra{n % 7}")
            id = f"{n:08x}-0000-4000-8000-000000000000"  # random ones take a step more or less
            given = item(session, *words, id=id, timestamp=at(n))
            insert_item(connection, journal, given, PLAIN)


def steps(connection: apsw.Connection, session: str) -> int:
    """The steps that a search takes."""
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    grams, folded, marked = asked(QUERY)
    listed = "[" + ",".join(f'"{gram}"' for gram in sorted(grams)) + "]"
    connection.set_progress_handler(count, 1)
    found = connection.execute(_MATCHING, (1, session, listed, folded, marked)).fetchall()
    connection.set_progress_handler(None)
    assert len(found) == MATCHING
    return taken


def test_other_sessions_and_other_scopes_cost_nothing(connection: apsw.Connection) -> None:
    fill(connection, "mine", 50)
    alone = steps(connection, "mine")
    for n in range(20):
        fill(connection, f"other {n}", 50)
    fill(connection, "mine", 200, journal=2)

    assert steps(connection, "mine") == alone


def test_items_that_do_not_match_cost_nothing_unless_their_keywords_begin_like_the_query(
    connection: apsw.Connection,
) -> None:
    fill(connection, "small", 20)
    fill(connection, "large", 500)
    false_starts = (500 - 20) * 20  # a row that begins with 'par' is looked at, and no more

    assert steps(connection, "large") < steps(connection, "small") + false_starts
    with connection:
        connection.execute("DELETE FROM item_keywords WHERE folded LIKE 'parole%'")
    assert steps(connection, "large") == steps(connection, "small")


def test_a_search_walks_along_keys_only(connection: apsw.Connection) -> None:
    plan = connection.execute(
        "EXPLAIN QUERY PLAN " + _MATCHING, (1, "mine", "[]", "", "")
    ).fetchall()
    scans = {str(row[3]).split()[1] for row in plan if str(row[3]).startswith("SCAN")}

    assert scans == {"n"}, "the grams of the query"
