"""Anthropic's memory tool: what ours replies is what the SDK's own file tool replies."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

import memoranda
from memoranda import Memory
from memoranda.errors import MemorandaError
from memoranda.integrations import BlockingMemoryTool, MemorandaMemoryTool

Command = dict[str, Any]
LONG = "\n".join(f"line {number}" for number in range(1, 30))


def view(path: str, *lines: int) -> Command:
    return {"command": "view", "path": path, **({"view_range": list(lines)} if lines else {})}


def create(path: str, text: str) -> Command:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str) -> Command:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> Command:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> Command:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> Command:
    return {"command": "rename", "old_path": old, "new_path": new}


SESSIONS: list[list[Command]] = [
    [create("/memories/a.txt", "one\ntwo\nthree\n"), view("/memories/a.txt"),
     view("/memories/a.txt", 2, 3), view("/memories/a.txt", 2, -1), view("/memories/a.txt", 0, 1),
     create("/memories/a.txt", "again"), view("/memories/none.txt")],
    [create("/memories/l.txt", LONG), replace("/memories/l.txt", "line 15", "changed\nhere"),
     replace("/memories/l.txt", "nowhere", "x"), replace("/memories/l.txt", "line 2", "x"),
     view("/memories/l.txt"), replace("/memories/none", "a", "b"), replace("/memories", "a", "b")],
    [create("/memories/i.txt", "a\nb\n"), insert("/memories/i.txt", 0, "first\n"),
     insert("/memories/i.txt", 3, "last"), insert("/memories/i.txt", 9, "x"),
     insert("/memories/i.txt", -1, "x"), view("/memories/i.txt"),
     create("/memories/crlf.txt", "a\r\nb"), insert("/memories/crlf.txt", 1, "m"),
     view("/memories/crlf.txt"), insert("/memories/no", 0, "x")],
    [create("/memories/f/x.txt", "x"), create("/memories/f/y.txt", "y"),
     delete("/memories/f/x.txt"),
     view("/memories/f/x.txt"), delete("/memories/f"), view("/memories/f"), delete("/memories"),
     delete("/memories/f")],
    [create("/memories/f/x.txt", "x"), create("/memories/g.txt", "g"),
     rename("/memories/f", "/memories/h/deep"), view("/memories/h/deep/x.txt"),
     view("/memories/f/x.txt"), rename("/memories/g.txt", "/memories/h/deep/x.txt"),
     rename("/memories/none", "/memories/z"), rename("/memories", "/memories/z"),
     rename("/memories/g.txt", "/memories/new/g.txt"), view("/memories/new/g.txt")],
    [view("/etc/passwd"), create("/memories/../out.txt", "x"), view("/memories/../../etc"),
     create("/memories/a/../b.txt", "b"), view("/memories/b.txt"), create("/memories/", "x"),
     create("/memories/한글.txt", "기억\n"), view("/memories/한글.txt"), create("/memories/e", ""),
     view("/memories/e"), replace("/memories/e", "x", "y")],
]  # fmt: skip


async def replied(tool: MemorandaMemoryTool, commands: Sequence[Command]) -> list[str]:
    found = []
    for command in commands:
        try:
            found.append(str(await tool.call(command)))
        except ToolError as refused:
            found.append(f"error: {refused}")
    return found


def theirs(folder: Path, commands: Sequence[Command]) -> list[str]:
    tool = BetaLocalFilesystemMemoryTool(str(folder))
    found = []
    for command in commands:
        try:
            found.append(str(tool.call(command)))
        except ToolError as refused:
            found.append(f"error: {refused}")
    return found


@pytest.fixture
async def tool(memory: Memory[Any]) -> MemorandaMemoryTool:
    return MemorandaMemoryTool(memory)


@pytest.mark.parametrize("commands", SESSIONS, ids=range(len(SESSIONS)))
async def test_it_replies_word_for_word_as_the_sdks_own_tool(
    tool: MemorandaMemoryTool, tmp_path: Path, commands: list[Command]
) -> None:
    ours = await replied(tool, commands)

    assert ours == await asyncio.to_thread(theirs, tmp_path, commands)


async def test_a_folder_is_listed_as_theirs_but_for_the_sizes_of_folders(
    tool: MemorandaMemoryTool, tmp_path: Path
) -> None:
    commands = [
        create("/memories/b.txt", "x" * 2_000),
        create("/memories/a/deep/er/c.txt", "x"),
        create("/memories/a/.hidden", "x"),
        create("/memories/a/big.txt", "x" * 3_072),
        view("/memories"),
        view("/memories/a"),
    ]

    ours = await replied(tool, commands)
    other = await asyncio.to_thread(theirs, tmp_path, commands)

    def listed(reply: str) -> list[str]:
        lines = reply.split("\n")
        return [one for one in lines if one.endswith(".txt") or "Here" in one] + [
            one.split("\t")[1] for one in lines[1:]
        ]

    assert [listed(one) for one in ours[-2:]] == [listed(one) for one in other[-2:]]


async def test_a_rename_is_one_transaction_and_says_where_a_file_was(
    tool: MemorandaMemoryTool, memory: Memory[Any]
) -> None:
    await replied(tool, [create("/memories/f/a", "a"), create("/memories/f/b", "b")])
    before = (await memory.journal.head()).size

    await replied(tool, [rename("/memories/f", "/memories/g")])

    entries = await memory.journal.entries(before)
    assert [entry.kind for entry in entries] == ["invalidate", "create"] * 2
    found = await memory.get("file:/memories/g/a")
    assert found is not None
    assert found.meta["renamed_from"] == "/memories/f/a"
    assert [source["uri"] for source in found.sources] == ["file:/memories/f/a"]


async def test_each_change_is_on_record_and_can_be_taken_back(
    tool: MemorandaMemoryTool, memory: Memory[Any]
) -> None:
    path = "/memories/a.txt"
    await replied(tool, [create(path, "one"), replace(path, "one", "two"), delete(path)])

    texts = []
    for _ in range(2):
        await tool.undo(path)
        texts.append((await replied(tool, [view(path)]))[0].split("\t")[-1])
    events = await tool.history(path)

    assert [event.act for event in events] == [
        "create", "update", "invalidate", "reinstate", "invalidate",
    ]  # fmt: skip
    assert texts[0] == "two"
    assert texts[1].startswith("error: ")  # taken back: that it was taken back
    await replied(tool, [create("/memories/b", "b"), rename("/memories/b", "/memories/c")])
    await tool.undo("/memories/c")
    assert "b" in (await replied(tool, [view("/memories/b")]))[0]
    assert "does not exist" in (await replied(tool, [view("/memories/c")]))[0]
    with pytest.raises(ToolError):
        await tool.undo("/memories/never")
    assert (await memory.verify()).is_sound


async def test_a_file_is_no_folder_and_a_folder_no_file(tool: MemorandaMemoryTool) -> None:
    made = await replied(
        tool,
        [create("/memories/a", "x"), create("/memories/a/b", "y"), create("/memories/f/x", "x"),
         create("/memories/f", "y"), rename("/memories/f", "/memories/f/g")],
    )  # fmt: skip

    assert [one.startswith("error") for one in made] == [False, True, False, True, True]


async def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    tool: MemorandaMemoryTool, memory: Memory[Any]
) -> None:
    made = await replied(tool, [create("/memories/a", "a\x00b")])

    assert made[0].startswith("error: ")
    assert await memory.list() == []


async def test_what_a_file_says_is_recalled_and_all_can_be_cleared(
    tool: MemorandaMemoryTool, memory: Memory[Any]
) -> None:
    await replied(tool, [create("/memories/kim.md", "Kim prefers email")])

    found = await memory.recall("how does Kim want to be reached, email?", top_k=1)
    assert found.items[0].id == "file:/memories/kim.md"
    assert await tool.clear_all_memory() == "All memory cleared"
    assert len((await replied(tool, [view("/memories")]))[0].split("\n")) == 2


def test_the_blocking_tool_does_the_same(url: str, scope: str) -> None:
    with memoranda.open_sync(url, scope=scope, actor="agent:claude") as memory:
        tool = BlockingMemoryTool(memory)
        assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
        assert tool.call(create("/memories/a", "x")) == "File created successfully at: /memories/a"
        assert "x" in str(tool.call(view("/memories/a")))
        assert tool.call(replace("/memories/a", "x", "y"))
        assert tool.call(insert("/memories/a", 0, "first"))
        assert tool.call(rename("/memories/a", "/memories/b"))
        assert [one.act for one in tool.history("/memories/b")] == ["create"]
        assert tool.undo("/memories/b")
        assert tool.call(delete("/memories/a"))
        assert tool.clear_all_memory() == "All memory cleared"
        with pytest.raises(ToolError):
            tool.call(view("/memories/a"))


async def test_a_closed_database_is_no_reply_to_the_model(url: str, scope: str) -> None:
    async with memoranda.open(url, scope=scope) as memory:
        tool = MemorandaMemoryTool(memory)
    with pytest.raises(MemorandaError):
        await tool.call(view("/memories"))
