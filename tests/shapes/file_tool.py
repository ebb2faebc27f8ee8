"""Files in memory, shaped like the memory tool of the Anthropic API: paths are ids."""

from typing import Any

from memoranda import Memory, MemoryFilter
from memoranda.errors import RecordExists


class FileTool:
    """Six commands on texts under paths; a folder is whatever paths begin with."""

    def __init__(self, memory: Memory[Any]) -> None:
        self._memory = memory

    async def view(self, path: str) -> str:
        (first, *more) = await self._paths(path)
        if (first, more) != (path, []):
            return "\n".join(sorted([first, *more]))
        lines = (await self._file(path)).data["text"].split("\n")
        return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=1))

    async def create(self, path: str, file_text: str) -> None:
        await self._memory.put(path, {"text": file_text})

    async def str_replace(self, path: str, old: str, new: str) -> None:
        found = await self._file(path)
        if found.data["text"].count(old) != 1:
            raise ValueError(f"{old!r} must stand exactly once in {path}")
        text = found.data["text"].replace(old, new)
        await self._memory.update(path, {"text": text}, expected_version=found.version)

    async def insert(self, path: str, line: int, text: str) -> None:
        found = await self._file(path)
        lines = found.data["text"].split("\n")
        text = "\n".join([*lines[:line], text, *lines[line:]])
        await self._memory.update(path, {"text": text}, expected_version=found.version)

    async def delete(self, path: str) -> None:
        await self._memory.records.delete_many(await self._paths(path))

    async def rename(self, old: str, new: str) -> None:
        try:
            async with self._memory.batch(reason=f"renamed to {new}") as batch:
                for path in await self._paths(old):
                    found = await self._file(path)
                    batch.remember(found.data, id=new + path.removeprefix(old))
                    batch.forget(path, expected_version=found.version)
        except RecordExists as taken:
            raise FileExistsError(new) from taken

    async def _paths(self, path: str) -> list[str]:
        below = MemoryFilter(id_prefix=f"{path.rstrip('/')}/")
        is_file = await self._memory.records.version(path) is not None
        if not (paths := [path] if is_file else await self._memory.records.ids(below)):
            raise FileNotFoundError(path)
        return paths

    async def _file(self, path: str) -> Any:
        (path,) = await self._paths(path)
        return await self._memory.get(path)
