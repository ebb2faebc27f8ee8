"""What SQLite leaves of cells that it moved is overwritten, and nothing else is."""

from pathlib import Path

import apsw

from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.erase import clean_gaps, scrub


def filled(path: Path) -> apsw.Connection:
    """A file in which cells were moved about, and one that shows it: words that nobody has."""
    connection = connect(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE t (k TEXT, v BLOB, PRIMARY KEY (k)) WITHOUT ROWID")
    connection.execute("CREATE TABLE long (n INTEGER PRIMARY KEY, v BLOB)")
    for number in range(3_000):
        word = f"word{number * 7_919 % 3_000:05}"
        connection.execute("INSERT INTO t VALUES (?, ?)", (word, bytes(number % 37)))
    for number in range(40):
        connection.execute("INSERT INTO long VALUES (?, ?)", (number, b"\x0d" * 9_000))
    for number in range(0, 3_000, 7):
        word = f"word{number:05}"
        connection.execute("UPDATE t SET v = ? WHERE k = ?", (bytes(90), word))
    return connection


def seen(path: Path, numbers: range) -> int:
    data = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    return sum(f"word{number:05}".encode() in data for number in numbers)


def test_no_copy_of_a_deleted_cell_is_left(tmp_path: Path) -> None:
    path = tmp_path / "gaps.db"
    connection = filled(path)
    gone = range(0, 3_000, 3)
    for number in gone:
        connection.execute("DELETE FROM t WHERE k = ?", (f"word{number:05}",))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert seen(path, gone) > 0, "they can be seen at all"
    before = connection.execute("SELECT * FROM t").fetchall()
    long = connection.execute("SELECT * FROM long").fetchall()

    scrub(lambda: connect(str(path)), str(path), rewrite=False)

    assert seen(path, gone) == 0
    for again in (connection, connect(str(path))):
        assert again.execute("SELECT * FROM t").fetchall() == before
        assert again.execute("SELECT * FROM long").fetchall() == long
        assert again.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.execute("INSERT INTO t VALUES ('another', x'')")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    assert seen(path, gone) == 0, "nobody goes on with pages as they were"


def test_nothing_is_overwritten_while_something_is_in_the_log(tmp_path: Path) -> None:
    path = tmp_path / "busy.db"
    connection = filled(path)
    before = path.read_bytes()

    assert not clean_gaps(connect(str(path)))

    assert path.read_bytes() == before
    connection.close()


def test_the_locks_of_this_process_stay(tmp_path: Path) -> None:
    """A file that is opened and closed beside SQLite would take them away."""
    path = tmp_path / "locked.db"
    connection = filled(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    reading = connect(str(path))
    cursor = reading.execute("SELECT * FROM t")
    next(cursor)
    locks = own_locks(path)

    assert clean_gaps(connection)

    assert locks
    assert own_locks(path) >= locks
    assert len(cursor.fetchall()) == 2_999


def own_locks(path: Path) -> set[str]:
    """The locks on a file, as the system lists them."""
    inode = str(path.stat().st_ino)
    lines = Path("/proc/locks").read_text().splitlines()
    return {" ".join(line.split()[1:]) for line in lines if f":{inode} " in line}
