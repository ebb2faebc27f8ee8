"""Another tokenizer is another index: made anew, logged, and never mixed with the old one."""

from dataclasses import replace
from typing import Any

import pytest

from memoranda.identity import decode
from memoranda.journeys.maintain import upkeep as journey
from memoranda.kernel.errors import IndexStale
from memoranda.ledger.governance import fingerprint_body
from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING, WORDS
from memoranda.ledger.unit import Unit
from tests.handles import inside
from tests.stores.search.conftest import Opens, merge_all

OLDER = "memoranda-text/0 of another time"


async def as_of_another_tokenizer(memory: Any, tokenizer: str = OLDER) -> None:
    """The index as an older memoranda would have left it."""
    await merge_all(memory)
    before = (await inside(memory).scoped.conformance.state()).fingerprint
    assert before is not None
    await inside(memory).scoped.conformance._append("system:test", [("maintenance", older(before))])
    unit = Unit("system:test", 1, lambda _: [], tokenizer=tokenizer)
    await inside(memory).ledger.commit(unit)


def older(fingerprint: Any) -> bytes:
    return fingerprint_body(replace(fingerprint, index=OLDER))


async def reindexings(memory: Any) -> list[Any]:
    bodies = [decode(one.body) for one in await inside(memory).ledger.notices() if one.body]
    return [body for body in bodies if body["type"] == "Maintenance"]


async def test_a_small_index_is_made_anew_with_the_first_write_and_that_is_logged(
    opens: Opens,
) -> None:
    async with opens() as memory:
        await memory.remember("one note")
        await as_of_another_tokenizer(memory)

    async with opens() as memory:
        with pytest.raises(IndexStale):
            await memory.list(text="note")
        assert await reindexings(memory) == []
        assert (await memory.govern.status()).breaks == {}
        await memory.remember("another")
        assert len(await memory.list(text="note")) == 1
        (logged,) = await reindexings(memory)
        assert logged["what"] == "reindex"
        assert (logged["tokenizer_before"], logged["tokenizer"]) == (OLDER, INDEX_FORM)
        assert logged["objects"] == 1
        assert (await memory.govern.status()).breaks == {}, "what is logged is no break"
        assert (await memory.verify()).report.damages.found == []
    async with opens() as memory:
        assert len(await reindexings(memory)) == 1, "once"


async def test_a_large_one_is_left_and_searches_say_what_to_do(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journey, "SMALL", 1)
    async with opens() as memory:
        await memory.remember_many(["one note", "another note"])
        await as_of_another_tokenizer(memory)

    async with opens() as memory:
        with pytest.raises(IndexStale) as caught:
            await memory.list(text="note")
        assert caught.value.code == "store.index_stale"
        assert "memoranda reindex" in str(caught.value)
        report = (await memory.verify()).report
        assert (report.damages.found, report.indexed) == ([], None)
        assert (await memory.govern.status()).breaks == {}

        await memory.remember("a third note")
        made = await memory.maintain.reindex()

        assert (made.before, made.tokenizer, made.objects) == (OLDER, INDEX_FORM, 3)
        assert len(await memory.list(text="note")) == 3
    async with opens() as memory:
        assert (await memory.govern.status()).breaks == {}


async def test_an_erasure_in_a_stale_index_takes_its_words_all_the_same(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journey, "SMALL", 1)
    async with opens() as memory:
        gone, _ = await memory.remember_many(["one note", "another note"])
        await as_of_another_tokenizer(memory)

        await memory.erase(gone.id, reason="a test")

        async with inside(memory).ledger.snapshot() as snapshot:
            found = [some async for chunk in snapshot.rows(WORDS) for some in chunk]
            words = {token for some in found for token in some.tokens}
        assert "one" not in words


async def test_a_rebuild_that_was_broken_off_starts_anew(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("one note")
        await as_of_another_tokenizer(memory, REBUILDING)
        with pytest.raises(IndexStale):
            await memory.list(text="note")

    async with opens() as memory:
        with pytest.raises(IndexStale):
            await memory.list(text="note")
        await memory.remember("another")
        assert len(await memory.list(text="note")) == 1
        assert (await memory.govern.status()).breaks == {}


async def test_the_digest_is_that_of_the_postings(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember_many(["one note", "another note"])
        first = await memory.maintain.reindex()
        again = await memory.maintain.reindex()
        await memory.remember("a third")
        third = await memory.maintain.reindex()

    assert first.digest == again.digest != third.digest


async def test_other_scopes_of_the_database_are_found_as_before(opens: Opens) -> None:
    async with opens("one") as one, opens("other") as other:
        await one.remember("note of one")
        await other.remember("note of the other")
        await merge_all(one)
        await merge_all(other)

        await one.maintain.reindex()

        assert len(await other.list(text="note")) == 1
        assert (await other.verify()).report.damages.found == []
