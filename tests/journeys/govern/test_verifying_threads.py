"""A verification checks each portion in a thread: the event loop goes on meanwhile."""

import threading
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda.ledger.rows import RowWalk
from memoranda.ledger.walk import Walk
from memoranda.recall.sums import WordSums


@pytest.mark.parametrize("walk", [Walk, RowWalk, WordSums])
async def test_no_portion_is_checked_on_the_event_loop(
    walk: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, threads = walk.feed, []

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return feed(*given)

    monkeypatch.setattr(walk, "feed", noted)
    async with memoranda.open(f"sqlite:///{tmp_path}/a.db", scope="a") as memory:
        await memory.remember("one note")
        await memory.maintain.reindex()

        audit = await memory.verify()

    assert audit.is_sound
    assert threads
    assert threading.main_thread() not in threads
