"""Which fields of a record are embedded, each text for itself, on both databases."""

from typing import Any

import apsw
import psycopg
import pytest

from memoranda.app.databases import file_of
from memoranda.identity import canonical_bytes
from memoranda.ledger.fields import MOST_TEXTS, embedded_texts, is_path
from memoranda.recall.embedder import stored_as
from tests.journeys.embeddings.conftest import Opens, index_of
from tests.journeys.embeddings.test_verified_vectors import run
from tests.journeys.embeddings.toy import ToyEmbedder

EMBEDDER = ToyEmbedder()
MODEL = stored_as(EMBEDDER)
MINUTES: dict[str, Any] = {
    "title": "minutes of the board",
    "lines": ["quinces are ripe in autumn", "the ferry leaves at noon"],
    "about": {"author": "Kim", "pages": 3, "draft": False, "note": None},
}


def stored(url: str, id: str) -> bytes:
    """What is kept of a record in the table of vectors."""
    path, asked = file_of(url), "SELECT vector FROM {} WHERE id = {} AND model = {}"
    if path is not None:
        connection = apsw.Connection(path)
        ((vector,),) = connection.execute(asked.format("vectors", "?", "?"), (id, MODEL))
        connection.close()
        return bytes(vector)
    with psycopg.connect(url, autocommit=True) as owner:
        query = asked.format("memoranda.vectors", "%s", "%s").encode()
        ((vector,),) = owner.execute(query, (id, MODEL)).fetchall()
        return bytes(vector)


@pytest.mark.parametrize(
    ("paths", "texts"),
    [
        (["$.title"], ["minutes of the board"]),
        (["$.lines[*]"], MINUTES["lines"]),
        (["$.lines.*"], MINUTES["lines"]),
        (["$.lines[-1]", "$.lines[1]"], ["the ferry leaves at noon"]),
        (["$.about.*"], ["Kim", "false", "3"]),
        (["$.about"], ["author: Kim\ndraft: false\nnote: null\npages: 3"]),
        (["$.lines[2]", "$.title[0]", "$.nobody.x", "$.lines.title", "title", "$..x"], []),
        ([], []),
    ],
    ids=str,
)
def test_a_path_leads_to_texts(paths: list[str], texts: list[str]) -> None:
    document = {"statement": canonical_bytes(MINUTES).decode(), "format": "json", "embed": paths}

    assert embedded_texts(document) == texts


def test_the_whole_is_one_text_and_so_is_what_is_no_object() -> None:
    assert embedded_texts({"statement": "a plum", "embed": ["$"]}) == ["a plum"]
    assert embedded_texts({"statement": "a plum", "embed": ["$.text"]}) == []
    many = {"statement": canonical_bytes([str(n) for n in range(99)]).decode(), "format": "json"}
    assert len(embedded_texts({**many, "embed": ["$[*]"]})) == MOST_TEXTS
    assert [is_path(path) for path in ("$", "$[0].a[*]", "$.", "$[x]", "$.a.", "a", "$a")] == [
        True, True, False, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize("selector", ["meaning", "context"])
async def test_each_text_has_a_vector_and_the_nearest_counts(opens: Opens, selector: str) -> None:
    async with opens(embedder=EMBEDDER) as memory:
        await memory.remember("a cat sat on the mat", id="cat")
        await memory.remember(MINUTES, id="lines", embed=["$.lines[*]"])
        await memory.remember(MINUTES, id="title", embed=["$.title"])
        await memory.remember(MINUTES, id="none", embed=False)
        assert (await memory.maintain.embed()).refused == ()
        assert await index_of(memory).count_missing(MODEL) == 0

        found = await memory.recall("the ferries are leaving by noon", selector=selector, top_k=9)

        ids = [item.id for item in found]
        assert ids[0] == "lines"
        assert ("none" in ids) is (selector == "context"), "words find it all the same"
        exact = await memory.recall(MINUTES["lines"][0], selector="meaning", top_k=1)
        assert exact.items[0].id == "lines"
        assert exact.items[0].score == pytest.approx(1, abs=1e-5)
        assert (await memory.verify()).is_sound


async def test_the_paths_pass_on_and_a_version_has_vectors_of_its_own(opens: Opens) -> None:
    async with opens(embedder=EMBEDDER) as memory:
        await memory.remember(MINUTES, id="a", embed=["$.lines[*]"])
        await memory.update("a", {"lines": ["plums", "figs", "pears"]})
        assert [one.texts for one in await index_of(memory).missing(MODEL, 9)] == [
            ["plums", "figs", "pears"]
        ]
        kept = await memory.get("a")
        assert kept is not None
        assert kept.embed == ("$.lines[*]",)
        await memory.govern.revise("a", reason="r", embed=True)
        assert "embed" not in await memory.journal.object("a")
        assert len((await index_of(memory).missing(MODEL, 9))[0].texts) == 1


async def test_verify_knows_how_many_vectors_there_are_to_be(opens: Opens, url: str) -> None:
    async with opens(embedder=EMBEDDER) as memory:
        two, one, none = (f"{name}-to-be" for name in ("two", "one", "none"))
        for id, embed in ((two, ["$.lines[*]"]), (one, ["$.title"]), (none, [])):
            await memory.remember(MINUTES, id=id, embed=embed)
        await memory.maintain.embed()
        whole = [stored(url, id) for id in (two, one, none)]
        assert [len(vectors) // (4 * EMBEDDER.dimensions) for vectors in whole] == [2, 1, 0]

        run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", whole[1], two, MODEL)
        run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", whole[0], one, MODEL)
        run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", whole[1], none, MODEL)

        damages = (await memory.verify()).report.damages.found
        assert [damage.check for damage in damages] == ["vector"] * 3
        counts = (await memory.erase(two, reason="asked for")).counts
        assert counts.vectors == 1, "those of one model are one row"
