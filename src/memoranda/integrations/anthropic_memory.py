"""Anthropic's memory tool (``memory_20250818``) over one scope: files with history and undo."""

from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memoranda import Memory
from memoranda.app.crossing import Crossing
from memoranda.integrations.memory_files import FileRefused, MemoryFiles
from memoranda.types import BlockingMemory, Event

R = TypeVar("R")


class MemorandaMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`; every command that changes a file is an entry.

    ::

        tool = MemorandaMemoryTool(memory)
        client.beta.messages.tool_runner(tools=[tool], …)

    Its files are what is remembered, so `recall` finds what is in them. Beyond the commands of the
    model there are `history` and `undo`, for whoever looks after it.
    """

    def __init__(
        self,
        memory: Memory[Any] | BlockingMemory[Any],
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._crossing: Final = Crossing(memory)
        self._files: Final = MemoryFiles(self._crossing.memory)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await self._run(self._files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await self._run(self._files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        files = self._files
        return await self._run(files.str_replace(command.path, command.old_str, command.new_str))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        files = self._files
        return await self._run(files.insert(command.path, command.insert_line, command.insert_text))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await self._run(self._files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await self._run(self._files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        return await self._run(self._files.clear())

    async def history(self, path: str) -> list[Event[Any]]:
        """Everything that happened to a file, the first step first."""
        return list(await self._run(self._files.history(path)))

    async def undo(self, path: str) -> str:
        """Take the last change of a file back."""
        return await self._run(self._files.undo(path))

    async def _run(self, work: Coroutine[Any, Any, R]) -> R:
        try:
            return await self._crossing.here(work)
        except FileRefused as refused:
            raise ToolError(str(refused)) from None


class BlockingMemoryTool(BetaAbstractMemoryTool):
    """The same for `Anthropic`, which does not await."""

    def __init__(
        self,
        memory: Memory[Any] | BlockingMemory[Any],
        *,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._crossing: Final = Crossing(memory)
        self._files: Final = MemoryFiles(self._crossing.memory)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return self._run(self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return self._run(self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        files = self._files
        return self._run(files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        files = self._files
        return self._run(files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return self._run(self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return self._run(self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        return self._run(self._files.clear())

    def history(self, path: str) -> list[Event[Any]]:
        """Everything that happened to a file, the first step first."""
        return list(self._run(self._files.history(path)))

    def undo(self, path: str) -> str:
        """Take the last change of a file back."""
        return self._run(self._files.undo(path))

    def _run(self, work: Coroutine[Any, Any, R]) -> R:
        try:
            return self._crossing.wait(work)
        except FileRefused as refused:
            raise ToolError(str(refused)) from None
