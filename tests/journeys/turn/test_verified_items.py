"""`verify` finds whatever was done to the items of turns, and names it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import CycleFailed, WriteFailed
from memoranda.plans.items import RetrievedItem
from tests.handles import inside
from tests.journeys.sessions.cycles import cold, end, item
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import ANSWER, Answering, Counting, found, talk
from tests.journeys.turn.test_failing import Broken

OTHER_ID = "6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a10"


class Stored(NamedTuple):
    """What is there before something is done to it: an item, of two in its session."""

    tables: Tables
    session: str
    item: RetrievedItem
    cycle: str

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.tables.run(statement, *values)

    @property
    def where(self) -> tuple[str, Any]:
        return self.session, self.tables.id(self.item.id)

    @property
    def keyword(self) -> tuple[Any, ...]:
        """A keyword of the item: its number, and how it is folded."""
        return self.run(
            "SELECT k.number, k.folded FROM {item_keywords} k JOIN {item_postings} p"
            " ON p.keyword = k.number WHERE k.session = ? AND p.id = ? ORDER BY k.folded LIMIT 1",
            *self.where,
        )[0]


async def _talked(memory: Memory[Any], tables: Tables) -> Stored:
    turns = await memory.turns.open(talk(top_k=0), model=Counting())
    await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")
    turns_of_other = await memory.turns.open(
        talk(), model=Answering(), session="other", record=True
    )
    await turns_of_other.take("And that of Grace?", cycle_id="c-2")
    await turns.take("When is the next one due?", cycle_id="c-3")
    assert turns.session is not None
    session = turns.session.session_id
    items = await found(memory, session, ANSWER)
    assert len(items) == 2
    query = "SELECT cycle FROM {item_origins} WHERE session = ? AND id = ?"
    ((cycle,),) = tables.run(query, session, tables.id(items[0].id))
    return Stored(tables, session, items[0], cycle)


async def test_nothing_is_found_in_what_turns_leave(memory: Memory[Any], tables: Tables) -> None:
    await _talked(memory, tables)
    model = Broken()
    failing = await memory.turns.open(talk(), model=model, session="broken")
    with pytest.raises(CycleFailed):
        await failing.take("Was it paid?", cycle_id="c-4")
    model.is_broken = False
    await failing.take("Was it paid?", cycle_id="c-4")
    without = await memory.turns.open(talk(without="scan keep"), model=Answering(), session="plain")
    await without.take("Was it paid?")

    assert list((await memory.verify()).report.damages.found) == []


# ------------------------------------------------------------------------------- items


def an_item_is_edited(stored: Stored) -> None:
    ((body,),) = stored.run(
        "SELECT body FROM {memories} WHERE session = ? AND id = ?", *stored.where
    )
    document = decode(stored.tables.unpacked(body)) | {"summary": "It was never paid."}
    _put(stored, canonical_bytes(document))


def an_item_is_written_otherwise(stored: Stored) -> None:
    """The same item, not in canonical form."""
    ((body,),) = stored.run(
        "SELECT body FROM {memories} WHERE session = ? AND id = ?", *stored.where
    )
    _put(stored, b" " + stored.tables.unpacked(body))


def an_item_is_made_unreadable(stored: Stored) -> None:
    _put(stored, b'{"id":')


def an_item_is_deleted(stored: Stored) -> None:
    stored.run("DELETE FROM {memories} WHERE session = ? AND id = ?", *stored.where)
    stored.run("DELETE FROM {item_postings} WHERE id = ?", stored.where[1])


def an_item_is_moved_to_another_session(stored: Stored) -> None:
    for table in ("memories", "item_origins"):
        moving = f"UPDATE {{{table}}} SET session = 's2' WHERE session = ? AND id = ?"  # noqa: S608
        stored.run(moving, *stored.where)


def an_item_is_said_to_be_of_another_cycle(stored: Stored) -> None:
    stored.run(
        "UPDATE {item_origins} SET cycle = 'c-2' WHERE session = ? AND id = ?", *stored.where
    )


def an_item_is_said_to_be_of_no_cycle(stored: Stored) -> None:
    stored.run("DELETE FROM {item_origins} WHERE session = ? AND id = ?", *stored.where)


def _put(stored: Stored, body: bytes) -> None:
    statement = "UPDATE {memories} SET body = ? WHERE session = ? AND id = ?"
    stored.run(statement, stored.tables.packed(body), *stored.where)


ITEMS = [
    an_item_is_edited,
    an_item_is_written_otherwise,
    an_item_is_made_unreadable,
    an_item_is_deleted,
    an_item_is_moved_to_another_session,
    an_item_is_said_to_be_of_another_cycle,
    an_item_is_said_to_be_of_no_cycle,
]


@pytest.mark.parametrize("deed", ITEMS, ids=lambda deed: deed.__name__)
async def test_an_item_that_is_not_what_its_cycle_stored_is_named(
    memory: Memory[Any], tables: Tables, deed: Callable[[Stored], None]
) -> None:
    stored = await _talked(memory, tables)
    deed(stored)

    found = (await memory.verify()).report.damages

    assert set(found.counts) == {"item"}
    if deed in ITEMS[:3]:
        assert found.counts["item"] == 1, "one edit is one finding"
    first = found.found[0].why
    assert stored.item.id in first
    assert stored.session in first or "'s2'" in first


async def test_an_item_of_no_cycle_is_named(memory: Memory[Any], tables: Tables) -> None:
    stored = await _talked(memory, tables)
    columns = "journal, session, id, body"
    adding = (
        f"INSERT INTO {{memories}} ({columns}) SELECT journal, session, ?, body FROM {{memories}}"  # noqa: S608
    )
    stored.run(f"{adding} WHERE session = ? AND id = ?", tables.id(OTHER_ID), *stored.where)

    (damage,) = (await memory.verify()).report.damages.found

    assert damage.check == "item"
    assert OTHER_ID in damage.why
    assert stored.session in damage.why


async def test_an_item_that_is_gone_with_its_origin_is_named_by_its_cycle(
    memory: Memory[Any], tables: Tables
) -> None:
    stored = await _talked(memory, tables)
    an_item_is_deleted(stored)
    stored.run("DELETE FROM {item_origins} WHERE session = ? AND id = ?", *stored.where)

    found = (await memory.verify()).report.damages.found

    missing = [one for one in found if one.seq is not None]
    assert len(missing) == 1
    assert repr(stored.cycle) in missing[0].why
    assert repr(stored.session) in missing[0].why


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {cycle_salts} WHERE cycle = ? AND journal = ?",
        "UPDATE {cycle_salts} SET cycle = 'c-9' WHERE cycle = ? AND journal = ?",
        "UPDATE {cycle_salts} SET salt = journal_salt WHERE cycle = ? AND journal = ?",
    ],
    ids=["gone", "of another cycle", "another one"],
)
async def test_a_salt_that_is_not_the_cycles_is_named(
    memory: Memory[Any], tables: Tables, statement: str
) -> None:
    stored = await _talked(memory, tables)
    ((journal,),) = stored.run(
        "SELECT journal FROM {memories} WHERE session = ? AND id = ?", *stored.where
    )
    other = "zeroblob(16)" if tables.file else "decode(repeat('00', 16), 'hex')"
    stored.run(statement.replace("journal_salt", other), stored.cycle, journal)

    found = (await memory.verify()).report.damages

    assert set(found.counts) == {"item"}
    assert any(repr(stored.cycle) in one.why for one in found.found)


async def test_a_salt_is_missed_also_where_no_item_is(memory: Memory[Any], tables: Tables) -> None:
    turns = await memory.turns.open(talk(without="scan keep"), model=Answering())
    lost, moved = f"lost in {memory.scope}", f"moved in {memory.scope}"
    await turns.take("Was it paid?", cycle_id=lost)
    await turns.take("Was it paid?", cycle_id=moved)
    tables.run("DELETE FROM {cycle_salts} WHERE cycle = ?", lost)
    tables.run("UPDATE {cycle_salts} SET cycle = ? WHERE cycle = ?", f"nowhere, {moved}", moved)

    found = (await memory.verify()).report.damages.found

    assert {one.check for one in found} == {"item"}
    assert sorted(one.seq is None for one in found) == [False, False, True]
    for cycle in (lost, moved, f"nowhere, {moved}"):
        assert any(repr(cycle) in one.why for one in found)


async def test_a_salt_that_is_another_one_is_named_and_blames_nothing_else(
    memory: Memory[Any], tables: Tables
) -> None:
    turns = await memory.turns.open(talk(without="scan keep"), model=Answering(), record=True)
    cycle = f"of {memory.scope}"
    await turns.take("Was it paid?", cycle_id=cycle)
    tables.run("UPDATE {cycle_salts} SET salt = ? WHERE cycle = ?", b"x" * 16, cycle)

    (damage,) = (await memory.verify()).report.damages.found

    assert damage.check == "item"
    assert damage.seq is not None
    assert repr(cycle) in damage.why
    replay = await memory.turns.replay(cycle)
    assert replay.difference is not None
    assert replay.difference.where == "the salt"
    with pytest.raises(WriteFailed):  # what is said is the same: it is no conflict
        await turns.take("Was it paid?", cycle_id=cycle)


async def test_of_two_items_of_a_cycle_each_is_named(memory: Memory[Any], tables: Tables) -> None:
    """One is edited, and one is gone with all that led to it."""
    ledger, session = inside(memory).turning.scope.table.ledger, cold()
    ids = [f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2)]
    await end(ledger, "c-1", [item(session, id) for id in ids])
    assert (await memory.verify()).is_sound
    at = (session.session_id, tables.id(ids[0]))
    tables.run(
        "UPDATE {memories} SET body = ? WHERE session = ? AND id = ?", tables.packed(b"{}"), *at
    )
    gone = (session.session_id, tables.id(ids[1]))
    for table in ("memories", "item_origins"):
        tables.run(f"DELETE FROM {{{table}}} WHERE session = ? AND id = ?", *gone)  # noqa: S608
    tables.run("DELETE FROM {item_postings} WHERE id = ?", gone[1])

    edited, missing = (await memory.verify()).report.damages.found

    assert ids[0] in edited.why
    assert missing.seq is not None
    assert "'c-1'" in missing.why


# ------------------------------------------------------------------------------- index


def a_posting_is_deleted(stored: Stored) -> None:
    number, _ = stored.keyword
    stored.run("DELETE FROM {item_postings} WHERE keyword = ? AND id = ?", number, stored.where[1])


def a_posting_is_said_to_be_older(stored: Stored) -> None:
    stored.run("UPDATE {item_postings} SET at = at - 1 WHERE id = ?", stored.where[1])


def a_keyword_is_deleted(stored: Stored) -> None:
    stored.run("DELETE FROM {item_keywords} WHERE number = ?", stored.keyword[0])


def a_keyword_is_another(stored: Stored) -> None:
    stored.run("UPDATE {item_keywords} SET folded = 'mallory' WHERE number = ?", stored.keyword[0])


def a_keyword_is_marked_otherwise(stored: Stored) -> None:
    """It would be found at boundaries where it is none, and come first."""
    stored.run("UPDATE {item_keywords} SET marked = folded WHERE number = ?", stored.keyword[0])


def a_keyword_begins_otherwise(stored: Stored) -> None:
    stored.run("UPDATE {item_keywords} SET gram = 'zzz' WHERE number = ?", stored.keyword[0])


def a_keyword_moves_to_another_session(stored: Stored) -> None:
    stored.run("UPDATE {item_keywords} SET session = 's2' WHERE number = ?", stored.keyword[0])


INDEX = [
    a_posting_is_deleted,
    a_posting_is_said_to_be_older,
    a_keyword_is_deleted,
    a_keyword_is_another,
    a_keyword_is_marked_otherwise,
    a_keyword_begins_otherwise,
    a_keyword_moves_to_another_session,
]


@pytest.mark.parametrize("deed", INDEX, ids=lambda deed: deed.__name__)
async def test_an_index_that_does_not_follow_from_the_items_is_named(
    memory: Memory[Any], tables: Tables, deed: Callable[[Stored], None]
) -> None:
    stored = await _talked(memory, tables)
    folded = stored.keyword[1]
    deed(stored)

    found = (await memory.verify()).report.damages

    assert set(found.counts) == {"item"}
    named = [one.why for one in found.found if stored.item.id in one.why]
    assert any(repr(folded) in why and repr(stored.session) in why for why in named)


async def test_a_posting_that_no_item_has_is_named(memory: Memory[Any], tables: Tables) -> None:
    stored = await _talked(memory, tables)
    number, folded = stored.keyword
    columns = "keyword, at, id" if tables.file else "keyword, at, id, journal"
    given = columns.replace("id", "?")
    adding = f"INSERT INTO {{item_postings}} ({columns}) SELECT {given} FROM {{item_postings}}"  # noqa: S608
    where = " WHERE keyword = ? AND id = ?"
    stored.run(adding + where, tables.id(OTHER_ID), number, stored.where[1])

    (damage,) = (await memory.verify()).report.damages.found

    assert OTHER_ID in damage.why
    assert repr(folded) in damage.why


async def test_a_keyword_that_is_left_behind_is_named(memory: Memory[Any], tables: Tables) -> None:
    stored = await _talked(memory, tables)
    number, folded = stored.keyword
    stored.run("DELETE FROM {item_postings} WHERE keyword = ?", number)

    found = (await memory.verify()).report.damages.found

    assert any(one.why.endswith("and for no item") and folded in one.why for one in found)
