"""A turn goes on with nothing that is not what a cycle left: it fails, and `verify` names it."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import CycleFailed, EntryDamaged, ItemDamaged, SessionDamaged
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import ANSWER, Answering, talk

Deed = Callable[[Tables, str], None]


def a_summary_is_edited(tables: Tables, session: str) -> None:
    for id, body in tables.run("SELECT id, body FROM {memories} WHERE session = ?", session):
        document = decode(tables.unpacked(body)) | {"summary": "It was never paid."}
        forged = tables.packed(canonical_bytes(document))
        tables.run(
            "UPDATE {memories} SET body = ? WHERE session = ? AND id = ?", forged, session, id
        )


def a_posting_is_deleted(tables: Tables, session: str) -> None:
    tables.run(
        "DELETE FROM {item_postings} WHERE keyword ="
        " (SELECT max(number) FROM {item_keywords} WHERE session = ?)",
        session,
    )


def the_index_is_emptied(tables: Tables, session: str) -> None:
    tables.run("DELETE FROM {item_keywords} WHERE session = ?", session)


def an_item_is_of_no_cycle(tables: Tables, session: str) -> None:
    tables.run("DELETE FROM {item_origins} WHERE session = ?", session)


DEEDS = [
    a_summary_is_edited,
    a_posting_is_deleted,
    the_index_is_emptied,
    an_item_is_of_no_cycle,
]


@pytest.mark.rule("ING-PARTIAL")
@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
async def test_a_damaged_retrieval_fails_the_cycle(
    memory: Memory[Any], tables: Tables, deed: Deed
) -> None:
    model = Answering()
    turns = await memory.turns.open(talk(), model=model)
    await turns.take("Was the invoice of Ada paid?")
    assert turns.session is not None
    deed(tables, turns.session.session_id)
    asked = len(model.asked)

    with pytest.raises(CycleFailed) as caught:
        await turns.take(ANSWER)

    assert isinstance(caught.value.__cause__, ItemDamaged)
    assert len(model.asked) == asked, "the model was asked"
    assert "item" in (await memory.verify()).report.damages.counts


@pytest.mark.rule("ING-SESSION")
async def test_a_session_that_has_the_id_of_another_is_named_and_not_gone_on_with(
    memory: Memory[Any], tables: Tables
) -> None:
    sessions = {}
    for name in ("alice", "bob"):
        turns = await memory.turns.open(talk(), model=Answering(), session=name)
        await turns.take("Was the invoice paid?")
        assert turns.session is not None
        sessions[name] = turns.session.session_id
    found = "SELECT body FROM {sessions} WHERE session_id = ?"
    ((body,),) = tables.run(found, sessions["bob"])
    document = decode(tables.unpacked(body)) | {"sessionId": sessions["alice"]}
    assert (await memory.verify()).is_sound
    tables.run(
        "UPDATE {sessions} SET session_id = ?, body = ? WHERE session_id = ?",
        sessions["alice"],
        tables.packed(canonical_bytes(document)),
        sessions["bob"],
    )

    with pytest.raises(SessionDamaged):
        await memory.turns.open(talk(), model=Answering(), session="bob")
    (damage,) = (await memory.verify()).report.damages.found

    assert damage.check == "session"
    assert "'bob'" in damage.why
    assert (await memory.turns.open(talk(), model=Answering(), session="alice")).session is not None


@pytest.mark.rule("ING-SESSION")
@pytest.mark.parametrize("cycle", ["", "c-2", "nowhere"])
async def test_a_session_that_is_said_to_be_of_another_cycle_is_named(
    memory: Memory[Any], tables: Tables, cycle: str
) -> None:
    turns = await memory.turns.open(talk(), model=Answering(), session="one")
    await turns.take("Was the invoice paid?", cycle_id="c-1")
    other = await memory.turns.open(talk(), model=Answering(), session="two")
    await other.take("Was the invoice paid?", cycle_id="c-2")
    assert turns.session is not None
    where = "UPDATE {sessions} SET cycle = ? WHERE session_id = ?"
    tables.run(where, cycle, turns.session.session_id)

    with pytest.raises(SessionDamaged):
        await memory.turns.open(talk(), model=Answering(), session="one")

    assert set((await memory.verify()).report.damages.counts) == {"session"}


async def test_a_session_whose_cycle_was_erased_goes_on(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was the invoice paid?", cycle_id="c-1")
    await memory.erase("c-1", reason="asked for")

    again = await memory.turns.open(talk(), model=Answering())
    await again.take("And now?")

    assert (await memory.verify()).is_sound


@pytest.mark.rule("R-2")
@pytest.mark.parametrize("way", ["edited", "deleted"])
async def test_a_recording_that_is_not_what_its_cycle_left_is_named_and_not_used(
    memory: Memory[Any], tables: Tables, way: str
) -> None:
    turns = await memory.turns.open(talk(), model=Answering(), record=True)
    cycle = f"recorded in {memory.scope}"
    await turns.take("Was the invoice paid?", cycle_id=cycle)
    if way == "edited":
        ((body,),) = tables.run("SELECT body FROM {recordings} WHERE cycle = ?", cycle)
        forged = tables.unpacked(body).replace(b"invoice", b"pension")
        tables.run("UPDATE {recordings} SET body = ? WHERE cycle = ?", tables.packed(forged), cycle)
    else:
        tables.run("DELETE FROM {recordings} WHERE cycle = ?", cycle)

    replay = await memory.turns.replay(cycle)
    with pytest.raises(EntryDamaged) as caught:
        await turns.take("Was the invoice paid?", cycle_id=cycle)
    (damage,) = (await memory.verify()).report.damages.found

    assert replay.difference is not None
    assert replay.difference.where == "the recording"
    assert caught.value.part == "recording"
    assert damage.check == "recording"
    assert damage.seq == caught.value.entry


@pytest.mark.parametrize("column", ["about", "seq", "at", "entries"])
async def test_a_retry_that_answers_with_another_entry_is_named(
    memory: Memory[Any], tables: Tables, column: str
) -> None:
    first = await memory.remember("one", id=f"one in {memory.scope}", idempotency_key="k-1")
    second = await memory.remember("two", id=f"two in {memory.scope}", idempotency_key="k-2")
    assert (await memory.verify()).is_sound
    forged = {"about": first.id, "seq": first.seq, "at": 2**45, "entries": 1_000}[column]
    tables.run(f"UPDATE {{retries}} SET {column} = ? WHERE about = ?", forged, second.id)  # noqa: S608

    assert set((await memory.verify()).report.damages.counts) == {"retry"}
