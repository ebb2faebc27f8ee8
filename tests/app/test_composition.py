"""How a handle is composed: each journey is made when a verb first needs it, and only then."""

from pathlib import Path

import pytest

import memoranda
from memoranda.kernel.errors import CapabilityMissing
from tests.handles import inside

RECALL = {"recaller", "recalling", "meaning", "_originals"}
WRITE = {"table", "writer", "_telling"}


async def test_a_verb_makes_the_journeys_that_it_needs_and_no_others(tmp_path: Path) -> None:
    def made() -> set[str]:
        return {name for name in vars(inside(memory)) if name in vars(type(inside(memory)))}

    async with memoranda.open(tmp_path / "m.db", scope="s", actor="agent:a") as memory:
        assert made() == set()

        await memory.remember("The customer prefers email")
        assert made() == WRITE

        await memory.get("nowhere")
        assert made() == WRITE | {"reading"}

        await memory.recall("how does the customer like it?", top_k=1)
        assert made() == WRITE | RECALL | {"reading"}


async def test_all_handles_of_a_scope_share_what_is_not_their_own(tmp_path: Path) -> None:
    async with memoranda.connect(tmp_path / "m.db") as db:
        one, other = (db.scope("s", actor=f"agent:{name}") for name in "ab")
        await one.remember("something")
        await other.remember("something else")

        assert inside(one) is not inside(other)
        assert inside(one).scoped is inside(other).scoped
        assert inside(one).table is inside(other).table


async def test_a_dictionary_keeps_records_and_refuses_every_verb_of_governed_memory() -> None:
    async with memoranda.open("dict://", scope="s", actor="agent:a") as memory:
        id = await memory.records.create(memoranda.MemoryRecordInput(data="kept"))
        found = await memory.records.get(id)
        with pytest.raises(CapabilityMissing) as caught:
            await memory.remember("not kept")
        with pytest.raises(CapabilityMissing):
            memory.batch()

    assert found is not None
    assert found.data == "kept"
    assert caught.value.code == "store.capability_missing"
