"""What a search costs: the postings that match, never the session or the scope, in SQLite's steps.

Steps of its virtual machine are counted, not time: the same on every machine.
"""

from functools import partial
from pathlib import Path

import apsw
import pytest

from memoranda.ledger.codec import PLAIN
from memoranda.plans.items import RetrievedItem, read_retrieved
from memoranda.stores.items import insert_item, item_id
from memoranda.stores.sqlite.connection import connect, migrate
from memoranda.stores.sqlite.items import BODIES, NEWEST, OCCURRING, POSTED, THERE, SqliteItemSearch
from memoranda.stores.sqlite.reader import Notes, run
from memoranda.testkit.items.opening import at, item

QUERY = "What did we say about the parrot and the memory?"
MATCHING = 10


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    path = str(tmp_path / "items.db")
    connection = connect(path)
    migrate(connection, path, 0)
    return connection


def fill(
    connection: apsw.Connection,
    session: str,
    count: int,
    *,
    journal: int = 1,
    matching: int = MATCHING,
) -> None:
    """A session in which ten items match, and the rest begins like it or does not."""
    with connection:
        for n in range(count):
            words = ("parrot", f"n{n}") if n < matching else (f"parole{n}", f"zebra{n % 7}")
            id = f"{n:08x}-0000-4000-8000-000000000000"  # random ones take a step more or less
            given = item(session, *words, id=id, timestamp=at(n))
            run(connection, journal, insert_item(given, PLAIN))


def read(session: str, id: bytes, body: bytes) -> RetrievedItem:
    """An item as it is stored here."""
    return read_retrieved(PLAIN.unpack(body), id=item_id(id), session_ref=session)


def steps(
    connection: apsw.Connection, session: str, notes: Notes | None = None, *, query: str = QUERY
) -> int:
    """The steps that a search for the best ten takes."""
    taken = 0

    def count() -> bool:
        nonlocal taken
        taken += 1
        return False

    search = SqliteItemSearch(1, session, query, MATCHING, partial(read, session))
    connection.set_progress_handler(count, 1)
    found = search(connection.cursor(), {} if notes is None else notes)
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


def test_of_a_single_keyword_that_occurs_only_the_newest_items_are_read(
    connection: apsw.Connection,
) -> None:
    fill(connection, "few", 20, matching=20)
    fill(connection, "many", 500, matching=500)

    assert steps(connection, "many") < steps(connection, "few") + 20


def test_with_several_keywords_each_posting_costs_a_few_steps(connection: apsw.Connection) -> None:
    query = f"{QUERY} n3?"
    fill(connection, "few", 20, matching=20)
    fill(connection, "many", 500, matching=500)

    more = steps(connection, "many", query=query) - steps(connection, "few", query=query)
    assert 0 < more < (500 - 20) * 10


def test_a_beginning_that_was_asked_for_once_is_not_asked_for_again(
    connection: apsw.Connection,
) -> None:
    fill(connection, "mine", 50)
    notes: Notes = {}
    first = steps(connection, "mine", notes)
    again = steps(connection, "mine", notes)

    assert again * 2 < first
    assert steps(connection, "mine", notes, query=f"{QUERY} Zz") > again


def test_what_is_noted_of_a_session_has_a_limit(connection: apsw.Connection) -> None:
    notes: Notes = {}
    most = 0
    for n in range(60):
        query = "".join(chr(0xAC00 + (131 * n + 7 * m) % 11_000) for m in range(200))
        SqliteItemSearch(1, "mine", query, MATCHING, partial(read, "mine"))(
            connection.cursor(), notes
        )
        (noted,) = notes.values()
        most = max(most, len(noted.asked))

    assert 1_000 < most < 6_000


@pytest.mark.parametrize(
    ("select", "parameters"), [(THERE, 3), (OCCURRING, 4), (NEWEST, 3), (POSTED, 1), (BODIES, 3)]
)
def test_a_search_walks_along_keys_only(
    connection: apsw.Connection, select: str, parameters: int
) -> None:
    plan = connection.execute(f"EXPLAIN QUERY PLAN {select}", (None,) * parameters).fetchall()
    taken = [str(row[3]) for row in plan]

    assert any(step.startswith("SEARCH") for step in taken)
    scans = {step.split()[1] for step in taken if step.startswith("SCAN")}
    assert scans <= {"n"}, "the beginnings in the query"
