"""Of what was erased no vector is left in any byte: it can be turned back into much of a text."""

from pathlib import Path

import apsw
import pytest

import memoranda
from memoranda.recall.embedder import embedded, stored_as
from tests.handles import inside
from tests.journeys.embeddings.conftest import embed_all, index_of
from tests.journeys.embeddings.toy import ScatteringEmbedder
from tests.stores.postgres.server import PostgresServer
from tests.stores.postgres.test_erasing import files_with, tables_with

TEXTS = [f"a secret of {n} people, and how they kept it" for n in range(40)]


def bytes_of(path: Path) -> bytes:
    """Everything that is on disk."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(path.name + "*")))


@pytest.mark.parametrize("dimensions", [64, 1536])  # in a page, and in pages of its own
async def test_no_vector_is_left_in_the_file_its_log_or_a_backup(
    tmp_path: Path, dimensions: int
) -> None:
    embedder = ScatteringEmbedder(dimensions=dimensions)
    path, backup = tmp_path / "secrets.db", tmp_path / "backup.db"
    vectors = await embedded(embedder, TEXTS)
    # A page holds the end of a long vector elsewhere than its beginning: both are looked for.
    parts = [(vector[:64], vector[-64:]) for vector in vectors]
    async with memoranda.open(f"sqlite:///{path}") as memory:
        ids = [one.id for one in await memory.remember_many(TEXTS)]
        await embed_all(memory, embedder)
        seen = [any(part in bytes_of(path) for part in both) for both in parts]
        assert all(seen), "they can be seen at all"

        await memory.update(ids[0], "another text")
        for n in (0, 3, 17, 39):
            await memory.erase(ids[n], reason="a test")

        data = bytes_of(path)
        left = [n for n, both in enumerate(parts) if any(part in data for part in both)]
        assert left == [n for n in range(40) if n not in {0, 3, 17, 39}]
        source, target = apsw.Connection(str(path)), apsw.Connection(str(backup))
        with target.backup("main", source, "main") as copying:
            copying.step()
        source.close()
        target.close()
        assert not any(part in bytes_of(backup) for n in (0, 3, 17, 39) for part in parts[n])
        assert (await index_of(memory).contents(stored_as(embedder))).vectors == 36


async def test_no_vector_is_left_in_a_table_nor_after_rewriting_in_a_file(
    postgres_server: PostgresServer,
) -> None:
    embedder = ScatteringEmbedder()
    url = postgres_server.create_database()
    erased, kept = await embedded(embedder, TEXTS[:2])
    async with memoranda.open(url, scope="s") as memory:
        ids = [one.id for one in await memory.remember_many(TEXTS[:2])]
        await embed_all(memory, embedder)
        assert tables_with(url, erased) == {"vectors"}

        await memory.erase(ids[0], reason="a test")

        assert tables_with(url, erased) == set()
        assert tables_with(url, kept) == {"vectors"}
        assert files_with(url, erased), "else this shows nothing"
        await inside(memory).ledger.scrub(rewrite=True)
        assert files_with(url, erased) == set()
        assert files_with(url, kept) == {"vectors"}
    postgres_server.drop_database(url)
