"""Erasing many cycles at once: theirs goes, nobody else's does, and each session is read once."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from memoranda import Memory
from memoranda.ledger.attachments import ItemOrigin, NewItem
from memoranda.ledger.codec import PLAIN
from memoranda.stores.attachments import landed
from memoranda.stores.erasing import KEYWORDS
from memoranda.stores.sqlite.connection import connect, migrate
from memoranda.stores.sqlite.erase import forget_cycles
from memoranda.stores.sqlite.reader import parameters, run
from memoranda.testkit.items.opening import item
from tests.handles import inside
from tests.journeys.sessions.cycles import cold, end
from tests.journeys.sessions.cycles import item as new_item
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import ANSWER, Counting, found, talk


def item_id(n: int) -> str:
    """An id of an item."""
    return f"{n:08x}-0000-4000-8000-000000000000"


@pytest.mark.rule("GOV-FORGET")
async def test_cycles_of_several_sessions_go_together_and_all_others_stay(
    memory: Memory[Any], tables: Tables
) -> None:
    sessions, before = [], tables.counts()
    for name in ("one", "other"):
        turns = await memory.turns.open(talk(), model=Counting(), session=name, record=True)
        for n in range(6):
            # Each but the third is given what those before it stored.
            said = "Something quite different" if n == 2 else "Was the invoice of Ada paid?"
            await turns.take(said, cycle_id=f"{name}-{n}")
        assert turns.session is not None
        sessions.append(turns.session.session_id)
    one, other = sessions

    dry = await memory.erase("one-0", reason="asked for", dry_run=True)
    done = await memory.erase("one-0", reason="asked for")

    assert done.counts == dry.counts
    assert (done.counts.cycles, done.counts.items) == (5, 5)
    assert len(await found(memory, one, ANSWER)) == 1
    assert len(await found(memory, other, ANSWER)) == 6
    after = tables.counts()
    added = {name: after[name] - before[name] for name in after}
    assert {added[t] for t in ("memories", "item_origins", "cycle_salts", "recordings")} == {7}
    assert (await memory.verify()).is_sound


async def test_an_item_of_another_session_with_the_same_id_stays(memory: Memory[Any]) -> None:
    ledger, one, other = inside(memory).turning.scope.table.ledger, cold(), cold()
    id = item_id(7)
    await end(ledger, "c-1", [new_item(one, id)])
    await end(ledger, "c-2", [new_item(other, id)])

    done = await memory.erase("c-1", reason="asked for")

    assert (done.counts.items, done.counts.keywords) == (1, 1)
    assert await found(memory, one.session_id, "refund") == []
    assert [item.id for item in await found(memory, other.session_id, "refund")] == [id]
    assert (await memory.verify()).is_sound


# ---------------------------------------------------------------------- what it costs


def steps_of_erasing(path: Path, count: int) -> int:
    """The steps of SQLite to count the keywords of so many cycles, and to erase all of them."""
    connection = connect(str(path))
    migrate(connection, str(path), 0)
    cycles = [f"c-{n}" for n in range(count)]
    with connection:
        for n, cycle in enumerate(cycles):
            given = item("s", "invoice", "paid", f"word{n}", id=item_id(n))
            kept = NewItem(**vars(given))
            run(connection, 1, landed([kept, ItemOrigin("s", given.id, cycle)], PLAIN))
    taken = 0

    def step() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection.set_progress_handler(step, 1)
    asked = parameters(KEYWORDS, 1, {"ids": cycles})
    counted: Any = connection.execute(KEYWORDS.sqlite, asked).fetchall()
    with connection:
        forget_cycles(connection, 1, cycles)
    connection.set_progress_handler(None)
    assert {cycle: count for _, cycle, count in counted} == dict.fromkeys(cycles, 3)
    assert _rows(connection) == 0
    connection.close()
    return taken


def _rows(connection: apsw.Connection) -> int:
    tables = ("memories", "item_keywords", "item_postings", "item_origins")
    return sum(connection.execute(f"SELECT count(*) FROM {t}").get for t in tables)  # noqa: S608


def test_twice_as_many_cycles_cost_twice_as_much(tmp_path: Path) -> None:
    """Each erased cycle once read all postings of its session: that was four times as much."""
    few = steps_of_erasing(tmp_path / "few.db", 100)
    many = steps_of_erasing(tmp_path / "many.db", 200)

    assert many < 2.5 * few
