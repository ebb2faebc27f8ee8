"""Thread, speaker and time, said outright: what is guessed without them is only guessed then."""

from typing import Any, NamedTuple

import pytest

from memoranda import Memory
from memoranda.identity.canonical import thread_digest
from memoranda.ledger.snapshot import DOCUMENTS, ROWS
from tests.fixtures import Opens
from tests.handles import inside

MINUTE = 60_000


class Placed(NamedTuple):
    """An object in its thread."""

    thread: str
    said_at: int
    id: str
    speaker: str


async def rows(memory: Memory[Any]) -> list[Placed]:
    """What is in a thread, in their order, once it is in the index."""
    await memory.maintain.reindex()
    async with inside(memory).ledger.snapshot() as snapshot:
        ids = {row.seq: row.version.id async for some in snapshot.rows(ROWS) for row in some}
        found = [row async for some in snapshot.rows(DOCUMENTS) for row in some]
    return sorted(
        Placed(row.thread, row.said_at, ids[row.seq], row.speaker) for row in found if row.thread
    )


async def test_a_thread_is_kept_by_the_digest_of_what_was_said(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a", thread="talk", source="elsewhere")
    await memory.remember("x", id="b", source="talk")
    await memory.remember("x", id="c")

    assert [(row.id, row.thread) for row in await rows(memory)] == [
        ("a", thread_digest("talk")), ("b", thread_digest("talk"))
    ]  # fmt: skip
    assert (await memory.verify()).is_sound


async def test_a_correction_stays_in_the_thread_until_another_is_said(memory: Memory[Any]) -> None:
    await memory.remember("x", id="a", thread="talk", source="s/1")
    await memory.remember("x", id="b", source="s/1")
    await memory.update("a", "y", source="s/2")
    await memory.update("b", "y", source="s/2")
    said, guessed = await memory.journal.object("a"), await memory.journal.object("b")
    assert (said["thread"], "in_thread" in said) == ("talk", False)
    assert (guessed["in_thread"], "thread" in guessed) == (thread_digest("s/1"), False)
    assert {row.id: row.thread for row in await rows(memory)} == {
        "a": thread_digest("talk"), "b": thread_digest("s/1")
    }  # fmt: skip

    await memory.govern.revise("a", reason="r", thread=None)
    await memory.govern.revise("b", reason="r", thread="other")
    assert {row.id: row.thread for row in await rows(memory)} == {
        "a": thread_digest("s/2"), "b": thread_digest("other")
    }  # fmt: skip
    assert (await memory.verify()).is_sound


async def test_who_said_it_is_not_guessed_where_it_is_said(memory: Memory[Any]) -> None:
    await memory.remember("Note: call back", id="a", thread="t", speaker="Kim Minji")
    await memory.remember("Note: call back", id="b", thread="t")
    await memory.remember({"speaker": "Lee"}, id="c", thread="t", speaker="Kim")

    assert [row.speaker for row in await rows(memory)] == ["kim minji", "note ~", "kim"]
    assert (await memory.verify()).is_sound


async def test_what_was_said_is_in_the_order_of_when_it_was_said(memory: Memory[Any]) -> None:
    start = 1_763_000_000_000
    for id, minutes in (("a", 7), ("c", 9), ("b", 8)):
        await memory.remember("a part", id=id, thread="t", said_at=start - minutes * MINUTE)
    await memory.remember("written now", id="now", thread="t")

    assert [row.id for row in await rows(memory)] == ["c", "b", "a", "now"]
    found = await memory.get("c")
    assert found is not None
    assert (found.created_at, found.said_at) == (start, start - 9 * MINUTE)
    assert (await memory.verify()).is_sound


@pytest.mark.parametrize("is_merged", [False, True])
async def test_words_of_neighbours_in_a_thread_lead_to_the_answer(
    opens: Opens, is_merged: bool
) -> None:
    async with opens() as memory:
        lines = ["a refund for the blue shoes please", "of course, it takes 14 days"]
        start = 1_600_000_000_000
        await memory.remember(lines[1], id="answer", thread="t", said_at=start + MINUTE)
        await memory.remember(lines[0], id="question", thread="t", speaker="Anna", said_at=start)
        await memory.remember("it takes all day", id="elsewhere")
        if is_merged:
            await memory.maintain.reindex()

        found = await memory.recall("how long does the refund for Anna take", top_k=2)

        assert [item.id for item in found] == ["question", "answer"]
        assert "1 record before" in found.items[1].reason
