"""File systems that die, fail or lose their power at a call of one's choice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from recollect.outside.file_calls import FileCalls


class Died(BaseException):
    """The process ended here, as far as this run is concerned."""


@dataclass(eq=False)
class _File:
    """A file's content, and how much of it is on disk."""

    content: bytes
    is_synced: bool = False


@dataclass(eq=False)
class Disk:
    """A file system in memory that knows what would be left after a power cut.

    A folder is left as it was after one of its changes since it was brought to disk, none
    included; a file that was not brought to disk is left whole, in part or empty.
    """

    names_in: dict[Path, dict[str, _File]] = field(default_factory=dict)
    _history: dict[Path, list[dict[str, _File]]] = field(default_factory=dict)

    def may_write(self, _folder: Path) -> bool:
        return True

    def make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)  # for the lock, which is a real one
        self.names_in.setdefault(folder, {})
        self._history.setdefault(folder, [{}])

    def names(self, folder: Path) -> Sequence[str]:
        return sorted(self.names_in.get(folder, {}))

    def read(self, path: Path) -> bytes | None:
        found = self.names_in.get(path.parent, {}).get(path.name)
        return None if found is None else found.content

    def write_new(self, path: Path, content: bytes) -> None:
        if path.name in self.names_in[path.parent]:
            raise FileExistsError(path)
        self._change(path.parent, {path.name: _File(content)})

    def sync(self, path: Path) -> None:
        self.names_in[path.parent][path.name].is_synced = True

    def sync_folder(self, folder: Path) -> None:
        self._history[folder] = [dict(self.names_in[folder])]

    def move(self, path: Path, target: Path) -> None:
        moved = self.names_in[path.parent][path.name]
        if path.parent == target.parent:
            self._change(path.parent, {target.name: moved, path.name: None})
        else:
            self._change(target.parent, {target.name: moved})
            self._change(path.parent, {path.name: None})

    def remove(self, path: Path) -> None:
        self._change(path.parent, {path.name: None})

    def _change(self, folder: Path, changes: dict[str, _File | None]) -> None:
        changed = {**self.names_in[folder], **changes}
        self.names_in[folder] = {name: file for name, file in changed.items() if file is not None}
        self._history[folder].append(dict(self.names_in[folder]))

    # ------------------------------------------------------------------------- the power

    def cut(self, kept: int, torn: int) -> None:
        """Lose the power: of each folder's changes so many are kept, of each file so much."""
        for folder, history in self._history.items():
            left = history[min(kept, len(history) - 1)]
            for file in left.values():
                if not file.is_synced:
                    file.content = (file.content, file.content[:7], b"")[torn]
                    file.is_synced = True
            self.names_in[folder] = left
            self._history[folder] = [dict(left)]


@dataclass(eq=False)
class Watched:
    """Calls of a file system, counted; at one of them something happens."""

    calls: FileCalls
    strike: Callable[[], None] = lambda: None
    number: int = -1
    is_after: bool = False
    made: int = 0
    is_dead: bool = False

    def __getattr__(self, name: str) -> Callable[..., object]:
        call = getattr(self.calls, name)

        def watched(*arguments: object) -> object:
            if self.is_dead:
                raise Died
            number, self.made = self.made, self.made + 1
            if number == self.number and not self.is_after:
                self._struck()
            done = call(*arguments)
            if number == self.number:
                self._struck()
            return done

        return watched

    def die(self) -> None:
        """From now on nothing is done."""
        self.is_dead = True
        raise Died

    def _struck(self) -> None:
        self.number = -1
        self.strike()
