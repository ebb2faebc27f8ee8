"""Patches: what an action may return in place of a whole new state.

As in the core protocol: ``Set``, ``Unset`` and ``Merge`` at a dotted path that starts at the data.
A path may be given as a tuple of names and indexes too, for a name that has a dot in it; the empty
path is the whole state. Objects that are missing on the way to a `Set` or a `Merge` are made;
arrays are gone through by index, and never grow or shrink: set the whole array for that.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue, path
from memoranda.worlds.readonly import taken

Path = str | tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """The member or item at the path becomes this value."""

    path: Path
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Unset:
    """The member at the path goes; one that is not there is no error."""

    path: Path


@dataclass(frozen=True, slots=True)
class Merge:
    """The object at the path takes these members over its own, one level deep."""

    path: Path
    value: Mapping[str, JsonValue]


Patch = Set | Unset | Merge
"""A change to a state: what an action returns."""

_MISSING: Final = object()


def patched(data: JsonValue, patches: Iterable[Patch]) -> JsonValue:
    """The data after the patches, in their order, or InvalidWorld with where and why.

    The data is never touched; what the patches leave alone is shared with it.
    """
    root: dict[str | int, JsonValue] = {"": data}
    fresh: dict[int, JsonValue] = {}
    for patch in patches:
        _apply(root, patch, fresh)
    return root[""]


def _apply(root: JsonValue, patch: Patch, fresh: dict[int, JsonValue]) -> None:
    """Copy the containers along the way, unless they were copied for this result already."""
    *way, last = steps = ("", *_steps(patch.path))
    holder, where = root, "$"
    for step, following in zip(way, steps[1:], strict=True):
        held = _held(holder, step, where)
        if held is _MISSING:
            if isinstance(patch, Unset):
                return
            held = {}
        where = path(where, following)
        if not isinstance(held, dict | list):
            raise InvalidWorld(where, "it lies in something that is neither object nor array")
        if id(held) not in fresh:
            held = held.copy()
            fresh[id(held)] = held  # kept, so that no other object gets its id
        holder[_key(holder, step, where)] = held
        holder = held
    match patch:
        case Set(value=value):
            holder[_key(holder, last, where)] = taken(value)
        case Unset():
            if holder is root or isinstance(holder, list):
                raise InvalidWorld(where, "only a member of an object can be unset")
            holder.pop(last, None)
        case Merge(value=value):
            merged = taken(value)
            held = _held(holder, last, where)
            own = {} if held is _MISSING else held
            if not isinstance(own, dict) or not isinstance(merged, dict):
                raise InvalidWorld(where, "only an object can be merged into an object")
            holder[_key(holder, last, where)] = own | merged


def _steps(given: Path) -> tuple[str | int, ...]:
    if isinstance(given, str):
        return tuple(given.split(".")) if given else ()
    return given


def _held(holder: JsonValue, step: str | int, where: str) -> JsonValue:
    key = _key(holder, step, where)
    return holder.get(key, _MISSING) if isinstance(holder, dict) else holder[key]


def _key(holder: JsonValue, step: str | int, where: str) -> str | int:
    """The name of a member, or the index of an item that is there."""
    if isinstance(holder, dict):
        if not isinstance(step, str):
            raise InvalidWorld(where, "an object has names, not indexes")
        return step
    if isinstance(step, str) and step.isascii() and step.isdigit():
        step = int(step)
    if type(step) is not int or not 0 <= step < len(holder):
        raise InvalidWorld(where, f"the array has no item {step!r}")
    return step
