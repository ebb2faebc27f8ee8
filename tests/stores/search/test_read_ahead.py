"""What was written is read ahead when nobody writes, so that a search finds its words in memory."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import Memory
from memoranda.ledger.codec import LenientCodec
from memoranda.stores import index, tail
from memoranda.stores.index import State
from memoranda.stores.scope_words import KnownScopes, ScopeWords
from memoranda.stores.sqlite.ledger import SqliteLedger
from memoranda.stores.sqlite.reader import parameters
from memoranda.stores.tail import SLICE, TailReader
from memoranda.stores.words import MERGED_WHEN_IDLE, words_in
from tests.stores.search.conftest import Opens, in_database
from tests.stores.search.test_merging import write_and_wait

NOTES = 3 * SLICE


async def read_ahead(memory: Memory[Any]) -> int:
    """Read ahead to the end, as spare time would; in how many slices."""
    ledger, slices = await in_database(memory), 0
    while await ledger.words.read_ahead():
        slices += 1
    return slices


async def remembered(memory: Memory[Any]) -> ScopeWords | None:
    """What this process remembers of the scope."""
    ledger = await in_database(memory)
    known = ledger._database.known if isinstance(ledger, SqliteLedger) else ledger._known
    return known.get(ledger._journal)


@pytest.fixture
def read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies whose words were found because they are not merged."""
    read: list[bytes] = []

    def noted(body: bytes) -> Any:
        read.append(body)
        return words_in(body)

    monkeypatch.setattr(tail, "words_in", noted)
    return read


async def test_a_search_reads_nothing_that_was_read_ahead(
    memory: Memory[Any], read_one_by_one: list[bytes]
) -> None:
    first = await memory.remember("an early note")
    await memory.remember_many([f"note {n}" for n in range(NOTES)])
    await memory.update(first.id, "a late remark")

    assert await read_ahead(memory) > 1, "no slice is long"
    assert read_one_by_one
    read_one_by_one.clear()

    assert len(await memory.list(text="note", limit=None)) == NOTES
    assert [one.id for one in await memory.list(text="remark")] == [first.id]
    assert read_one_by_one == []


async def test_who_wrote_much_reads_ahead_when_nobody_writes_and_lets_go_what_is_merged(
    memory: Memory[Any], read_one_by_one: list[bytes]
) -> None:
    await write_and_wait(memory, [f"note {n}" for n in range(MERGED_WHEN_IDLE + 40)])

    words = await remembered(memory)
    state = await (await in_database(memory)).words.index()
    assert words is not None
    assert words.indexed == state.indexed > 0
    read_one_by_one.clear()
    assert len(await memory.list(text="note", limit=None)) == MERGED_WHEN_IDLE + 40
    assert read_one_by_one == []


async def test_what_is_erased_leaves_what_was_read_ahead(memory: Memory[Any]) -> None:
    kept = await memory.remember("a plain note")
    gone = await memory.remember("a note on xylophones")
    await read_ahead(memory)
    before = await remembered(memory)
    assert before is not None
    assert "xylophon" in " ".join(before._tail.tokens)

    await memory.erase(gone.id, reason="a test")

    assert await remembered(memory) is None
    await read_ahead(memory)
    after = await remembered(memory)
    assert after is not None
    assert "xylophon" not in " ".join(after._tail.tokens)
    assert [one.id for one in await memory.list(text="note")] == [kept.id]
    assert (await memory.verify()).report.damages.found == []


async def test_nobody_begins_to_read_ahead_beside_a_long_index(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opens() as memory:
        await memory.remember_many([f"note {n}" for n in range(NOTES)])
        await (await in_database(memory)).words.tidy()
    monkeypatch.setattr(tail, "SHORT_INDEX", NOTES - 1)
    async with opens() as memory:
        await memory.remember("one more note")

        assert await read_ahead(memory) == 0
        assert await remembered(memory) is None
        assert len(await memory.list(text="note", limit=None)) == NOTES + 1


async def test_a_search_beside_one_who_reads_ahead_has_each_entry_once(tmp_path: Path) -> None:
    path = tmp_path / "both.db"
    async with memoranda.open(f"sqlite:///{path}") as memory:
        await memory.remember_many([f"note {n}" for n in range(NOTES)])
        ledger: Any = await in_database(memory)
        connection, journal = ledger._database.connect(), ledger._journal
        known = KnownScopes()
        reader = TailReader(journal, LenientCodec(ledger._database.bodies), known)

        def asked(question: Any) -> list[Any]:
            bound = parameters(question.statement, journal, question.values)
            found: list[Any] = connection.execute(question.statement.sqlite, bound).fetchall()
            return found

        def up_to_bodies(procedure: Generator[Any, Any, Any]) -> list[Any]:
            question = next(procedure)
            while question.statement is not index.BODIES:
                question = procedure.send(asked(question))
            return asked(question)

        try:
            (row,) = connection.execute(
                index.STATE.sqlite, parameters(index.STATE, journal, {})
            ).fetchall()
            ahead, search = reader.ahead(), reader.whole(State._make(row))
            slice_read, all_read = up_to_bodies(ahead), up_to_bodies(search)
            with pytest.raises(StopIteration):
                ahead.send(slice_read)
            with pytest.raises(StopIteration) as end:
                search.send(all_read)
        finally:
            assert isinstance(connection, apsw.Connection)
            connection.close()

        words: ScopeWords = end.value.value
        (postings,) = words.postings({}, ["note"]).values()
        assert postings.seqs.tolist() == [seq for seq, _ in all_read]
        assert not words.is_searched
