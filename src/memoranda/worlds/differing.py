"""Where two JSON values differ, place by place, and which differences a scope allows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from memoranda.kernel.json import JsonValue, path


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""Stands for a member or an item that is not there."""

_CONTAINERS: Final = dict | list | tuple


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two values differ; `ABSENT` stands for nothing there."""

    steps: tuple[str | int, ...]
    before: JsonValue
    after: JsonValue

    @property
    def path(self) -> str:
        """The place, such as ``$.data.items[3]``."""
        where = "$"
        for step in self.steps:
            where = path(where, step)
        return where


def differences(
    before: JsonValue, after: JsonValue, steps: tuple[str | int, ...] = ()
) -> Iterator[Difference]:
    """Each place where they differ, in canonical order; none where their canonical bytes agree."""
    if before is after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys(), key=_utf16):
            yield from differences(
                before.get(name, ABSENT), after.get(name, ABSENT), (*steps, name)
            )
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        for index in range(max(len(before), len(after))):
            yield from differences(_item(before, index), _item(after, index), (*steps, index))
    elif not _same(before, after):
        yield Difference(steps, before, after)


def leaves_scope(before: JsonValue, after: JsonValue, allowed: Sequence[str]) -> str | None:
    """The first path that changed and that the patterns don't allow, or None.

    A pattern is a dotted path, in which ``*`` and ``?`` stand for any characters of one step; it
    allows what it names and everything below. Making or removing an object changes its leaves.
    """
    patterns = [pattern.replace("[", "[[]").split(".") for pattern in allowed]
    for change in differences(before, after):
        for steps in _leaves(change):
            if not any(_covers(pattern, steps) for pattern in patterns):
                return Difference(steps, None, None).path
    return None


def _leaves(change: Difference) -> Iterator[tuple[str | int, ...]]:
    sides = (change.before, change.after)
    whole = next((side for side in sides if isinstance(side, dict) and side), None)
    if whole is None or ABSENT not in sides:
        yield change.steps
        return
    for name, member in whole.items():
        yield from _leaves(Difference((*change.steps, name), ABSENT, member))


def _covers(pattern: Sequence[str], steps: Sequence[str | int]) -> bool:
    return len(pattern) <= len(steps) and all(
        fnmatchcase(str(step), wanted) for wanted, step in zip(pattern, steps, strict=False)
    )


def _item(items: Sequence[JsonValue], index: int) -> JsonValue:
    return items[index] if index < len(items) else ABSENT


def _same(before: JsonValue, after: JsonValue) -> bool:
    """Whether two values, not both of them containers of one kind, are one in canonical form."""
    if isinstance(before, _CONTAINERS) or isinstance(after, _CONTAINERS):
        return False
    return isinstance(before, bool) is isinstance(after, bool) and bool(before == after)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")
