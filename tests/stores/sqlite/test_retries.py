"""The retries that go with an object are found by its entries, however many others there are."""

from pathlib import Path

import pytest

from memoranda.stores.sqlite.connection import connect, migrate
from memoranda.stores.sqlite.retries import retries_of_entries

_ROW = "INSERT INTO retries VALUES (1, ?, x'', x'', 'a', ?, 2, 0)"


def _steps(path: Path, count: int) -> int:
    """The steps of SQLite to find the retry of one entry among so many."""
    connection = connect(str(path))
    migrate(connection, str(path), 0)
    with connection:
        for n in range(count):
            connection.execute(_ROW, (b"%d" % n, 2 * n))
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection.set_progress_handler(step, 1)
    found = retries_of_entries(connection, 1, [count + 1])
    connection.set_progress_handler(None)
    connection.close()
    assert found == {b"%d" % ((count + 1) // 2)}
    return taken


@pytest.mark.backend("sqlite")
def test_the_retry_of_an_entry_costs_as_much_among_many_as_among_few(tmp_path: Path) -> None:
    assert _steps(tmp_path / "few.db", 10) == _steps(tmp_path / "many.db", 1_000)
