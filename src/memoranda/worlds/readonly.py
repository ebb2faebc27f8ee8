"""Read-only views of JSON values: what an action or a projection sees of the state.

A view is made when a member is read, so that looking at one member of a large state costs one
small object. It reads as what comes back from a store does: members in the order of their names,
1.0 as 1. Whoever reads it can't tell whether the state was just made or was restored, which is
what makes a replay the same. Views compare equal to plain values; `plain` makes one of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NoReturn, overload

from pydantic import BaseModel

from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import MAX_DEPTH, MAX_INTEGER, JsonValue

_EXACT: Final = frozenset({str, int, bool, type(None)})


class ReadOnly(TypeError):
    """The state of a run can't be changed in place: return a new state, or patches."""

    def __init__(self) -> None:
        super().__init__(
            "the state is read-only: return a new state, or patches (Set, Unset, Merge); "
            "plain(view) is a copy that you may change"
        )


def _refused(_self: object, *_arguments: object, **_named: object) -> NoReturn:
    raise ReadOnly


class ReadOnlyObject(Mapping[str, JsonValue]):
    """A JSON object that can be read, at every depth."""

    __slots__ = ("_of",)

    def __init__(self, of: dict[str, JsonValue]) -> None:
        self._of = of

    def __getitem__(self, name: str) -> JsonValue:
        return read_only(self._of[name])

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._of))

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, name: object) -> bool:
        return name in self._of

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReadOnlyObject):
            return self._of == other._of
        if isinstance(other, Mapping):
            return self._of == dict(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a dict has none

    def __or__(self, other: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {**other, **self}

    def __repr__(self) -> str:
        return repr(plain(self))

    def __copy__(self) -> JsonValue:
        return dict(self)

    def __deepcopy__(self, _memo: object) -> JsonValue:
        return plain(self)

    __setitem__ = __delitem__ = __ior__ = _refused
    update = setdefault = pop = popitem = clear = _refused


class ReadOnlyArray(Sequence[JsonValue]):
    """A JSON array that can be read, at every depth."""

    __slots__ = ("_of",)

    def __init__(self, of: list[JsonValue]) -> None:
        self._of = of

    @overload
    def __getitem__(self, index: int) -> JsonValue: ...
    @overload
    def __getitem__(self, index: slice) -> "ReadOnlyArray": ...
    def __getitem__(self, index: int | slice) -> JsonValue:
        return read_only(self._of[index])

    def __iter__(self) -> Iterator[JsonValue]:
        return map(read_only, self._of)

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, item: object) -> bool:
        return item in self._of

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReadOnlyArray):
            return self._of == other._of
        if isinstance(other, list | tuple):
            return self._of == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as a list has none

    def __add__(self, other: Sequence[JsonValue]) -> list[JsonValue]:
        return [*self, *other]

    def __radd__(self, other: Sequence[JsonValue]) -> list[JsonValue]:
        return [*other, *self]

    def __repr__(self) -> str:
        return repr(plain(self))

    def __copy__(self) -> JsonValue:
        return list(self)

    def __deepcopy__(self, _memo: object) -> JsonValue:
        return plain(self)

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refused
    append = extend = insert = remove = pop = clear = sort = reverse = _refused


def read_only(value: JsonValue) -> JsonValue:
    """A JSON value for somebody who may read it and not change it; nothing is copied."""
    kind = type(value)
    if kind in _EXACT:
        return value
    if kind is dict:
        return ReadOnlyObject(value)
    if kind is list:
        return ReadOnlyArray(value)
    if kind is tuple:
        return ReadOnlyArray(list(value))
    return as_stored(value) if kind is float else value


def plain(value: JsonValue) -> JsonValue:
    """A fresh plain value of a view, or of a value that holds views or pydantic models.

    What is not JSON stays as it is: whoever stores the value refuses it, with its place.
    """
    return _taken(value, 1, shares=False)


def taken(value: JsonValue) -> JsonValue:
    """What somebody hands back: copied, so that what they do to it later does not reach it.

    What lies behind a view is taken as it is, for nobody can change it: a state that keeps most
    of the one before shares it, and costs no more than what is new in it. Not for a caller who
    might change what comes back.
    """
    return _taken(value, 1, shares=True)


def as_stored(number: float) -> float:
    """A number as canonical JSON gives it back: 1.0 is 1, and -0.0 is 0."""
    return int(number) if number.is_integer() and abs(number) <= MAX_INTEGER else number


def _taken(value: JsonValue, depth: int, *, shares: bool) -> JsonValue:
    kind = type(value)
    if kind in _EXACT:
        return value
    if depth > MAX_DEPTH:
        raise InvalidJson("$", f"nested deeper than {MAX_DEPTH}")
    match value:
        case ReadOnlyObject(_of=inner) | ReadOnlyArray(_of=inner):
            return inner if shares else _taken(inner, depth, shares=False)
        case Mapping():
            names = value if shares else sorted(value, key=str)
            return {
                _text(name): member
                if type(member := value[name]) in _EXACT
                else _taken(member, depth + 1, shares=shares)
                for name in names
            }
        case list() | tuple():
            return [
                item if type(item) in _EXACT else _taken(item, depth + 1, shares=shares)
                for item in value
            ]
        case BaseModel():
            return _taken(value.model_dump(mode="json", by_alias=True), depth, shares=shares)
        case str():
            return _text(value)
        case int():  # a bool is exact
            return int(value)
        case float():
            return as_stored(float(value))
    return value


def _text(name: JsonValue) -> JsonValue:
    """A text as JSON has it: of an enum's member, its value."""
    return str.__str__(name) if isinstance(name, str) else name
