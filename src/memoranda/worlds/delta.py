"""The difference of two JSON values, small enough to be stored in place of the second.

A change is one of::

    ["set", path, value]                     the member or item is this now
    ["unset", path]                          the member is gone
    ["splice", path, index, count, items]    in this array, these items stand for that many

and a path is a list of member names and array indexes; [] is the whole value. Equality is that of
the canonical form: 1 and 1.0 are equal, 1 and true are not. Nothing that is given is changed; what
comes back shares its unchanged parts, so all of it is to be read only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue, path

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_NUMBERS: Final = frozenset({int, float})
_ABSENT: Final = object()

Path = tuple[str | int, ...]


def changes(before: JsonValue, after: JsonValue) -> list[JsonValue]:
    """What leads from one value to the other, in the order in which it is to be applied.

    Objects are compared member by member. Arrays of one length are compared item by item; of two
    lengths, what stands between their common beginning and end is spliced. What both share is
    found by its identity, so that a small change of a large state costs little.
    """
    found: list[JsonValue] = []
    _compare(before, after, (), found)
    return found


def applied(before: JsonValue, changes: Sequence[JsonValue]) -> JsonValue:
    """The value that the changes lead to, or InvalidWorld where they don't fit this one."""
    value, fresh = before, _Fresh()
    for number, change in enumerate(changes):
        try:
            value = _applied(value, change, fresh)
        except (LookupError, TypeError, ValueError):
            raise InvalidWorld(f"$[{number}]", "this change does not fit what is changed") from None
    return value


# ------------------------------------------------------------------------ comparing


def _compare(before: JsonValue, after: JsonValue, path: Path, found: list[JsonValue]) -> None:
    if _same(before, after):
        return
    if type(before) is dict and type(after) is dict:
        found += [["unset", [*path, name]] for name in sorted(before.keys() - after.keys())]
        for name in sorted(name for name in after if before.get(name, _ABSENT) is not after[name]):
            if name in before:
                _compare(before[name], after[name], (*path, name), found)
            else:
                found.append(["set", [*path, name], after[name]])
    elif not isinstance(before, list | tuple) or not isinstance(after, list | tuple):
        found.append(["set", list(path), after])
    elif len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            _compare(old, new, (*path, index), found)
    else:
        found.append(_splice(before, after, path))


def _splice(before: Sequence[JsonValue], after: Sequence[JsonValue], path: Path) -> JsonValue:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and _same(before[start], after[start]):
        start += 1
    end = 0
    while end < shorter - start and _same(before[-1 - end], after[-1 - end]):
        end += 1
    items = list(after[start : len(after) - end])
    return ["splice", list(path), start, len(before) - end - start, items]


def _same_scalar(old: object, new: object) -> bool:
    """Whether both are scalars, and equal in canonical form; containers are looked into later."""
    kind = type(old)
    if kind is type(new):
        return kind in _SCALARS and old == new
    return kind in _NUMBERS and type(new) in _NUMBERS and old == new


def _same(before: JsonValue, after: JsonValue) -> bool:
    if before is after or _same_scalar(before, after):
        return True
    if type(before) is dict and type(after) is dict:
        return len(before) == len(after) and all(
            name in after and _same(old, after[name]) for name, old in before.items()
        )
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        return len(before) == len(after) and all(map(_same, before, after))
    return False


# ------------------------------------------------------------------------- applying


class _Fresh:
    """The containers that were copied for this result, which alone may be changed."""

    def __init__(self) -> None:
        self._kept: dict[int, dict[str, JsonValue] | list[JsonValue]] = {}

    def copy(self, container: JsonValue) -> dict[str, JsonValue] | list[JsonValue]:
        """A container that may be changed: a copy, or itself where it is one already."""
        if id(container) in self._kept:
            return self._kept[id(container)]
        if type(container) is dict:
            made: dict[str, JsonValue] | list[JsonValue] = dict(container)
        elif isinstance(container, list | tuple):
            made = list(container)
        else:
            raise TypeError(container)
        self._kept[id(made)] = made  # kept, so that its id is not given to another
        return made


def _applied(value: JsonValue, change: JsonValue, fresh: _Fresh) -> JsonValue:
    verb, path, *rest = change
    if verb == "set" and not path:
        (whole,) = rest
        return whole
    root = fresh.copy(value)
    target = root
    for step in path if verb == "splice" else path[:-1]:
        held = fresh.copy(_member(target, step))
        target[step] = held
        target = held
    match verb, rest:
        case "set", [new] if isinstance(target, dict) and isinstance(path[-1], str):
            target[path[-1]] = new
        case "set", [new]:
            _member(target, path[-1])
            target[path[-1]] = new
        case "unset", [] if isinstance(target, dict):
            del target[path[-1]]
        case "splice", [int(index), int(count), [*items]] if isinstance(target, list):
            if not 0 <= index <= index + count <= len(target):
                raise IndexError(index)
            target[index : index + count] = items
        case _:
            raise ValueError(verb)
    return root


def _member(container: JsonValue, step: JsonValue) -> JsonValue:
    """What stands there; an index counts from the front only."""
    if isinstance(container, list) and not (type(step) is int and step >= 0):
        raise IndexError(step)
    return container[step]


# --------------------------------------------------------------------- differences

# Where two JSON values differ, place by place, and which differences a scope allows.


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""Stands for a member or an item that is not there."""


@dataclass(frozen=True, slots=True)
class ValueDifference:
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
) -> Iterator[ValueDifference]:
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
    elif not _same_scalar(before, after):
        yield ValueDifference(steps, before, after)


def leaves_scope(before: JsonValue, after: JsonValue, allowed: Sequence[str]) -> str | None:
    """The first path that changed and that the patterns don't allow, or None.

    A pattern is a dotted path, in which ``*`` and ``?`` stand for any characters of one step; it
    allows what it names and everything below. Making or removing an object changes its leaves.
    """
    patterns = [pattern.replace("[", "[[]").split(".") for pattern in allowed]
    for change in differences(before, after):
        for steps in _leaves(change):
            if not any(_covers(pattern, steps) for pattern in patterns):
                return ValueDifference(steps, None, None).path
    return None


def _leaves(change: ValueDifference) -> Iterator[tuple[str | int, ...]]:
    sides = (change.before, change.after)
    whole = next((side for side in sides if isinstance(side, dict) and side), None)
    if whole is None or ABSENT not in sides:
        yield change.steps
        return
    for name, member in whole.items():
        yield from _leaves(ValueDifference((*change.steps, name), ABSENT, member))


def _covers(pattern: Sequence[str], steps: Sequence[str | int]) -> bool:
    return len(pattern) <= len(steps) and all(
        fnmatchcase(str(step), wanted) for wanted, step in zip(pattern, steps, strict=False)
    )


def _item(items: Sequence[JsonValue], index: int) -> JsonValue:
    return items[index] if index < len(items) else ABSENT


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be")
