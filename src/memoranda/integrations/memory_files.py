"""Files of a model in governed memory: what the commands of Anthropic's memory tool do.

A file is a record whose id is its path and whose data is its text. A folder is there as long as a
file is in it. Replies and refusals are those of Anthropic's own file tool, word for word, because
models know them.
"""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memoranda import Memory, MemoryFilter
from memoranda.errors import (
    InvalidInput,
    RecordExists,
    RecordNotFound,
    VersionConflict,
)
from memoranda.types import Event, Remembered

FOLDER: Final = "/memories"
FILE: Final = "file:"
MAX_LINES: Final = 999_999
WIDTH: Final = len(str(MAX_LINES))
DEPTH: Final = 2
AROUND: Final = 2
"""Lines shown before and after a change."""
UNITS: Final = "BKMG"


class FileRefused(Exception):
    """What the model asked for can't be done; the text is for the model."""


class MemoryFiles:
    """The files below ``/memories`` of one scope."""

    def __init__(self, memory: Memory[Any]) -> None:
        self._memory: Final = memory

    async def view(self, path: str, lines: Sequence[int] | None = None) -> str:
        """A file with line numbers, or what is in a folder, two levels deep."""
        place = _place(path)
        found = await self._file(place)
        if found is not None:
            return _numbered(path, _text(found), lines)
        inside = await self._inside(place)
        if not inside and place != FOLDER:
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, place, inside)

    async def create(self, path: str, text: str) -> str:
        """A new file."""
        place = _place(path)
        await self._check_free(place, f"File {path} already exists")
        await self._check_parents(place)
        try:
            await self._memory.remember({"text": text}, id=FILE + place)
        except RecordExists:
            raise FileRefused(f"File {path} already exists") from None
        except InvalidInput as refused:
            raise FileRefused(str(refused)) from None
        return f"File created successfully at: {path}"

    async def str_replace(self, path: str, old: str, new: str) -> str:
        """Replace a text that stands in a file exactly once."""
        found = await self._existing(path)
        text = _text(found)
        count = text.count(old) if old else 0
        if count == 0:
            raise FileRefused(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        if count > 1:
            raise FileRefused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, _lines_with(text, old)))}. Please ensure it is unique"
            )
        line = text[: text.find(old)].count("\n")
        changed = text.replace(old, new)
        await self._write(found, changed, path)
        shown = changed.split("\n")
        first, last = max(0, line - AROUND), min(len(shown), line + AROUND + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            "numbers):\n" + _with_numbers(shown[first:last], first + 1)
        )

    async def insert(self, path: str, line: int, text: str) -> str:
        """Put lines after the line with this number; 0 is the beginning."""
        found = await self._existing(path)
        lines = _text(found).split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= line <= len(lines):
            raise FileRefused(
                f"Invalid `insert_line` parameter: {line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(line, text.rstrip("\n"))
        changed = "\n".join(lines)
        await self._write(found, changed if changed.endswith("\n") else f"{changed}\n", path)
        return f"The file {path} has been edited."

    async def delete(self, path: str) -> str:
        """Forget a file, or all files in a folder; history keeps them."""
        place = _place(path)
        if place == FOLDER:
            raise FileRefused("Cannot delete the /memories directory itself")
        ids = await self._ids(place)
        if not ids:
            raise FileRefused(f"The path {path} does not exist")
        await self._memory.records.delete_many(ids, reason=f"deleted by the command: {path}")
        return f"Successfully deleted {path}"

    async def rename(self, old: str, new: str) -> str:
        """Move a file or a folder, in one transaction; each file says where it was before."""
        source, target = _place(old), _place(new)
        if source == FOLDER:
            raise FileRefused("Cannot rename the /memories directory itself")
        await self._check_free(target, f"The destination {new} already exists")
        ids = await self._ids(source)
        if not ids:
            raise FileRefused(f"The path {old} does not exist")
        if target.startswith(f"{source}/"):
            raise FileRefused(f"Cannot move {old} into itself")
        await self._check_parents(target)
        try:
            await self._move(ids, source, target)
        except (RecordExists, VersionConflict):
            raise FileRefused(f"The destination {new} already exists") from None
        return f"Successfully renamed {old} to {new}"

    async def clear(self) -> str:
        """Forget all files."""
        every = MemoryFilter(id_prefix=FILE)
        await self._memory.records.forget_where(every, reason="all memory was cleared")
        return "All memory cleared"

    # ---------------------------------------------------------------- what no file system has

    async def history(self, path: str) -> Sequence[Event[Any]]:
        """Everything that happened to a file, the first step first."""
        return await self._memory.history(FILE + _place(path))

    async def undo(self, path: str) -> str:
        """Take the last change of a file back: as its next version, so that it stays on record."""
        place = _place(path)
        try:
            events = await self._memory.history(FILE + place)
        except RecordNotFound:
            raise FileRefused(f"The path {path} does not exist") from None
        last, before = events[-1], events[-2] if len(events) > 1 else None
        shown = last.remembered
        why = f"undone: version {last.version}"
        if shown is not None and shown.status == "invalidated":
            await self._memory.govern.reinstate(last.id, reason=why)
        elif shown is not None and (came_from := shown.meta.get("renamed_from")) and before is None:
            await self._move([last.id], place, str(came_from))
        elif before is None or before.remembered is None or before.remembered.status != "active":
            await self._memory.forget(last.id, reason=why)
        else:
            await self._memory.update(
                last.id, before.remembered.data, reason=why, expected_version=last.version
            )
        return f"The last change of {path} was taken back."

    # ----------------------------------------------------------------------------- the records

    async def _file(self, place: str) -> Remembered[Any] | None:
        return await self._memory.get(FILE + place)

    async def _existing(self, path: str) -> Remembered[Any]:
        place = _place(path)
        found = await self._file(place)
        if found is None:
            if place == FOLDER or await self._inside(place):
                raise FileRefused(f"The path {path} is not a file.")
            raise FileRefused(f"The path {path} does not exist. Please provide a valid path.")
        return found

    async def _inside(self, place: str) -> Mapping[str, int]:
        """The files below a folder, each with its size in bytes."""
        found = await self._memory.list(id_prefix=f"{FILE}{place}/")
        return {one.id.removeprefix(FILE): len(_text(one).encode()) for one in found}

    async def _ids(self, place: str) -> list[str]:
        """The file at a place, or all files below it."""
        if await self._file(place) is not None:
            return [FILE + place]
        return await self._memory.records.ids(MemoryFilter(id_prefix=f"{FILE}{place}/"))

    async def _check_free(self, place: str, refusal: str) -> None:
        if place == FOLDER or await self._ids(place):
            raise FileRefused(refusal)

    async def _check_parents(self, place: str) -> None:
        """A file has no files in it."""
        parents = list(_parents(place))
        if parents:
            files = MemoryFilter(ids=tuple(FILE + parent for parent in parents))
            for id in await self._memory.records.ids(files):
                raise FileRefused(f"The path {id.removeprefix(FILE)} is not a directory.")

    async def _write(self, found: Remembered[Any], text: str, path: str) -> None:
        try:
            await self._memory.update(found.id, {"text": text}, expected_version=found.version)
        except VersionConflict:
            raise FileRefused(f"The file {path} was changed meanwhile; view it again.") from None
        except InvalidInput as refused:
            raise FileRefused(str(refused)) from None

    async def _move(self, ids: Sequence[str], source: str, target: str) -> None:
        files = await self._memory.list(ids=ids)
        async with self._memory.batch(reason=f"renamed from {source} to {target}") as batch:
            for one in files:
                place = one.id.removeprefix(FILE)
                moved = target + place.removeprefix(source)
                batch.forget(one.id, cause="obsolescence", expected_version=one.version)
                batch.remember(
                    one.data, id=FILE + moved, meta={**one.meta, "renamed_from": place},
                    source=[{"uri": f"{FILE}{place}", "version": str(one.version)}],
                )  # fmt: skip


def _place(path: str) -> str:
    """The path of a file or a folder, without detours; refused if it leads elsewhere."""
    if path != FOLDER and not path.startswith(f"{FOLDER}/"):
        raise FileRefused(f"Path must start with /memories, got: {path}")
    place = posixpath.normpath(path)
    if place != FOLDER and not place.startswith(f"{FOLDER}/"):
        raise FileRefused(f"Path {path} would escape /memories directory")
    return place


def _parents(place: str) -> Iterator[str]:
    while (place := posixpath.dirname(place)) != FOLDER:
        yield place


def _text(found: Remembered[Any]) -> str:
    return str(found.data["text"])


def _numbered(path: str, text: str, asked: Sequence[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        raise FileRefused(f"File {path} exceeds maximum line limit of 999,999 lines.")
    first, last = 0, len(lines)
    if asked is not None and len(asked) == DEPTH:
        first = max(1, asked[0]) - 1
        last = len(lines) if asked[1] == -1 else asked[1]
    shown = _with_numbers(lines[first:last], first + 1)
    return f"Here's the content of {path} with line numbers:\n{shown}"


def _with_numbers(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _listing(path: str, place: str, files: Mapping[str, int]) -> str:
    """What is in a folder: sizes and paths, sorted by name, without what begins with a dot."""
    sizes: dict[tuple[str, ...], int] = {}
    folders: set[tuple[str, ...]] = set()
    for file, size in files.items():
        steps = tuple(file.removeprefix(f"{place}/").split("/"))
        if any(step.startswith(".") for step in steps):
            continue
        for depth in range(1, len(steps) + 1):
            sizes[steps[:depth]] = sizes.get(steps[:depth], 0) + size
            if depth < len(steps):
                folders.add(steps[:depth])
    lines = [f"{_size(sum(files.values()))}\t{path}"]
    for steps in sorted(one for one in sizes if len(one) <= DEPTH):
        end = "/" if steps in folders else ""
        lines.append(f"{_size(sizes[steps])}\t{path}/{'/'.join(steps)}{end}")
    head = f"Here're the files and directories up to 2 levels deep in {path}"
    return f"{head}, excluding hidden items:\n" + "\n".join(lines)


def _size(bytes_: int) -> str:
    if bytes_ == 0:
        return "0B"
    power = min((bytes_.bit_length() - 1) // 10, len(UNITS) - 1)
    size = bytes_ / 1024**power
    return f"{size:g}{UNITS[power]}" if size == int(size) else f"{size:.1f}{UNITS[power]}"


def _lines_with(text: str, part: str) -> Iterator[int]:
    start = text.find(part)
    while start != -1:
        yield text[:start].count("\n") + 1
        start = text.find(part, start + 1)
