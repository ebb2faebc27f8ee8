"""The file tool, tried as the memory tool's commands are described."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.errors import VersionConflict
from memoranda.journeys.govern.table import GovernedTable
from tests.shapes.file_tool import FileTool

NOTES = "/memories/notes.txt"


@pytest.fixture
def files(memory: Memory[Any]) -> FileTool:
    return FileTool(memory)


async def test_a_file_is_created_viewed_and_edited(files: FileTool) -> None:
    await files.create(NOTES, "tea\nrain")
    assert await files.view(NOTES) == "1: tea\n2: rain"

    await files.str_replace(NOTES, "rain", "fog")
    await files.insert(NOTES, 1, "between")
    await files.insert(NOTES, 0, "first")
    assert await files.view(NOTES) == "1: first\n2: tea\n3: between\n4: fog"

    await files.create(NOTES, "")
    assert await files.view(NOTES) == "1: "


async def test_what_is_not_there_or_not_unique_is_refused(files: FileTool) -> None:
    await files.create(NOTES, "tea tea")
    for wrong in (files.str_replace(NOTES, "tea", "x"), files.str_replace(NOTES, "fog", "x")):
        with pytest.raises(ValueError, match="exactly once"):
            await wrong
    for missing in (
        files.view("/memories/none"),
        files.delete("/memories/none"),
        files.insert("/memories/none", 0, "x"),
        files.rename("/memories/none", "/memories/other"),
    ):
        with pytest.raises(FileNotFoundError):
            await missing
    assert await files.view(NOTES) == "1: tea tea"


async def test_a_folder_is_listed_without_reading_its_files(
    files: FileTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "sub/b.txt", "sub/c.txt"):
        await files.create(f"/memories/{name}", name * 1_000)
    await files.create("/memories2/other.txt", "not in it")

    def reading(*_: object) -> None:
        raise AssertionError("a body was read")

    with monkeypatch.context() as patched:
        patched.setattr(GovernedTable, "select", reading)
        patched.setattr(GovernedTable, "stream", reading)
        listed = await files.view("/memories")

    assert listed == "/memories/a.txt\n/memories/sub/b.txt\n/memories/sub/c.txt"
    await files.delete("/memories/sub")
    assert await files.view("/memories/") == "/memories/a.txt"


async def test_renaming_keeps_both_or_neither(files: FileTool) -> None:
    await files.create("/memories/a/1", "one")
    await files.create("/memories/a/2", "two")
    await files.create("/memories/b/2", "taken")

    with pytest.raises(FileExistsError):
        await files.rename("/memories/a", "/memories/b")
    assert await files.view("/memories") == "/memories/a/1\n/memories/a/2\n/memories/b/2"

    await files.rename("/memories/a", "/memories/c")
    await files.rename("/memories/c/1", "/memories/one")
    assert await files.view("/memories") == "/memories/b/2\n/memories/c/2\n/memories/one"
    assert await files.view("/memories/one") == "1: one"


async def test_two_who_edit_at_once_do_not_overwrite_each_other(files: FileTool) -> None:
    await files.create(NOTES, "a b c")

    done = await asyncio.gather(
        *(files.str_replace(NOTES, letter, letter.upper()) for letter in "abc"),
        return_exceptions=True,
    )

    assert {type(one) for one in done} <= {type(None), VersionConflict}
    text = await files.view(NOTES)
    assert sum(letter.isupper() for letter in text) == done.count(None) >= 1
