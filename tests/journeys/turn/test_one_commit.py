"""A turn is one durable commit, counted where SQLite writes them down."""

from itertools import pairwise
from pathlib import Path

import pytest

from bench.plans import commits
from memoranda.testkit.strategies import FrozenClock
from tests.handles import opened
from tests.journeys.turn.talking import Answering, talk


@pytest.mark.backend("sqlite")
@pytest.mark.rule("ING-PERSIST")
@pytest.mark.parametrize("is_recording", [False, True])
async def test_a_turn_is_one_durable_commit(tmp_path: Path, is_recording: bool) -> None:
    database = tmp_path / "memory.db"
    async with opened(f"sqlite:///{database}", clock=FrozenClock()) as memory:
        await memory.remember("the journal has begun")
        turns = await memory.turns.open(talk(), model=Answering(), record=is_recording)
        counts = [commits(database)]
        for number in range(5):
            await turns.take(f"Was invoice {number} paid?")
            counts.append(commits(database))

    assert [after - before for before, after in pairwise(counts)] == [1] * 5
