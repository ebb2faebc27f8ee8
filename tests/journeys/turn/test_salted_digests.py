"""Nobody can guess from a journal what was said in a turn: its digests are salted."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import freeze
from memoranda.journeys.audit.export import export
from memoranda.kernel.errors import WriteFailed
from tests.handles import inside
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import Answering, salt_of, talk, told

SAID = "Yes."


def digests_in(document: dict[str, Any]) -> set[str]:
    """Every digest in the fact of a cycle that is of what was said."""
    return {document["turn"], *document["items"], *(digest for _, digest in document["steps"])}


@pytest.mark.rule("ING-RAW")
async def test_no_digest_in_an_export_is_that_of_a_text_that_can_be_guessed(
    memory: Memory[Any],
) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    turn = await turns.take(SAID, cycle_id="c-1")
    ledger = inside(memory).turning.scope.table.ledger

    exported = b"".join([line async for line in export(ledger, memory.scope)])

    guessed = freeze({"text": SAID, "session": "default"})
    assert guessed.digest.encode() not in exported
    for output in turn.outputs.values():
        assert output.digest.encode() not in exported
    assert (await salt_of(memory, "c-1")).hex().encode() not in exported
    (cycle,) = await told(memory, "c-1")
    assert all(digest.encode() in exported for digest in digests_in(dict(cycle.document)))


async def test_two_cycles_that_are_the_same_share_no_digest(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(top_k=0), model=Answering())
    await turns.take(SAID, cycle_id="c-1")
    await turns.take(SAID, cycle_id="c-2")
    (one,), (other,) = await told(memory, "c-1"), await told(memory, "c-2")

    assert digests_in(dict(one.document)).isdisjoint(digests_in(dict(other.document)))


async def test_without_its_salt_a_cycle_is_not_compared(
    memory: Memory[Any], tables: Tables
) -> None:
    turns = await memory.turns.open(talk(), model=Answering(), record=True)
    cycle = f"of {memory.scope}"
    await turns.take(SAID, cycle_id=cycle)
    tables.run("DELETE FROM {cycle_salts} WHERE cycle = ?", cycle)

    replay = await memory.turns.replay(cycle)
    assert replay.difference is not None
    assert replay.difference.where == "the salt"
    with pytest.raises(WriteFailed):
        await turns.take(SAID, cycle_id=cycle)
