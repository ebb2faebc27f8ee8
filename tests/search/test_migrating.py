"""A file from before there were postings gets its index anew, from its journal."""

from pathlib import Path

import recollect
from recollect.ledger.unit import Index
from recollect.stores.sqlite.connection import connect
from recollect.stores.sqlite.places import place
from recollect.stores.sqlite.schema import MIGRATIONS, migrate
from recollect.text import TOKENIZER
from tests.search.conftest import merge_all

COPIED = ("entries", "bodies", "notices", "nodes", "checkpoints", "versions", "tags", "retries")
_JOURNALS = "number, scope, origin, opened_at, size, head, head_at, indexed, tokenizer"


def as_it_was(path: Path, older: Path) -> None:
    """The same memory in a file of the third schema, whose words are in FTS5."""
    connection = connect(str(older))
    migrate(connection, str(older), 0, known=MIGRATIONS[:3])
    connection.execute("ATTACH ? AS now", (str(path),))
    connection.execute("BEGIN")
    connection.execute(
        f"INSERT INTO journals ({_JOURNALS}) SELECT {_JOURNALS} FROM now.journals"  # noqa: S608
    )
    for table in COPIED:
        connection.execute(f"INSERT INTO {table} SELECT * FROM now.{table}")  # noqa: S608 - ours
    words = "INSERT INTO words (rowid, tokens) VALUES (?, '1:note')"
    connection.execute(words, (place(1, 0),))
    connection.execute("COMMIT")
    connection.close()


async def test_words_of_fts5_become_postings(tmp_path: Path) -> None:
    path, older = tmp_path / "now.db", tmp_path / "older.db"
    async with recollect.open(f"sqlite:///{path}") as memory:
        await memory.remember_many([f"note {n}" for n in range(20)])
        await memory.remember("something else", source="talk:1")
        await merge_all(memory)
    as_it_was(path, older)

    async with recollect.open(f"sqlite:///{older}") as memory:
        assert await memory._ledger.index() == Index(0, TOKENIZER)
        assert len(await memory.search("note", limit=None)) == 20
        assert (await memory.verify()).report.damages.found == []

        await merge_all(memory)

        index = await memory._ledger.index()
        assert (index.documents, index.length) == (21, 42)
        assert len(await memory.search("note", limit=None)) == 20
        assert (await memory.verify()).report.damages.found == []
    assert b"fts5" not in older.read_bytes()
