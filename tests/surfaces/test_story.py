"""The demo story on both databases: for whoever wants one with something real in it."""

from pathlib import Path

import pytest

import memoranda
from memoranda.errors import ScopeExists
from memoranda.surfaces.story import COPY, told


async def test_the_story_leaves_a_sound_database_with_something_of_everything(
    url: str, scope: str, tmp_path: Path
) -> None:
    titles = [scene.title async for scene in told(url, tmp_path, scope=scope)]
    with pytest.raises(ScopeExists):
        await anext(told(url, tmp_path, scope=scope))

    assert len(titles) == 11
    assert (tmp_path / COPY).exists()
    async with memoranda.open(url, scope=scope, actor="human:auditor") as memory:
        assert (await memory.verify()).is_sound
        assert {one.subject for one in await memory.list()} == {"kim", "minji", None}
        kinds = {entry.kind for entry in await memory.journal.entries(limit=100)}
    assert {"create", "trace", "proposal", "decision", "execution", "erasure"} <= kinds
