"""Values that nobody should hand in, and the parameters of verbs that they are handed in for."""

import inspect
import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from hypothesis import strategies as st

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput, MemoryUpdate
from memoranda.app.groups import ActOptions, ConsolidationOptions
from memoranda.app.memory import ListOptions, RecallOptions
from memoranda.journeys.govern.about import About

_MEMBERS: Final = {"about": About, "options": ActOptions}
_OWN_MEMBERS: Final = {
    "list": ListOptions,
    "recall": RecallOptions,
    "govern.consolidate": ConsolidationOptions,
}
OWN_CODE: Final = {"progress", "count_tokens"}
"""Parameters that are called: what the code of a caller raises comes through as it is."""


def nested(depth: int, *, lists: bool) -> Any:
    """One value in as many others."""
    value: Any = 1
    for _ in range(depth):
        value = [value] if lists else {"a": value}
    return value


class Text(str):
    """A text of another type."""

    __slots__ = ()


ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, -1, 0, 3, 1e3, math.nan, math.inf, 2**70),
    *("", "x", "3", "  ", "\udcff", "a\x00b", "a" * 5_000, "one two " * 3_000, "\u0663", "\u200b"),
    *("9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "999999999w ago", "2026-02-30", Text("tea")),
    *(b"ab", bytearray(b"ab"), memoryview(b"ab"), [], (), {}, {1}, range(3), object(), int, len),
    *({"a": 1}, {1: 1}, {"\udcff": 1}, {"x": "\ud800"}, [None], ["\udcff"], [[1]], [{}], [b"x"]),
    *(nested(200, lists=True), nested(200, lists=False)),
    *(datetime(2020, 1, 1), datetime.min.replace(tzinfo=UTC)),  # noqa: DTZ001 - it has no zone
    *(datetime.max.replace(tzinfo=UTC), date(2020, 1, 1), Decimal("1.5")),
    *({"data.x": {"$bad": 1}}, {"data..x": 1}, {"data.x": {"$in": 5}}, {"data.x": {"$gt": "\x00"}}),
    memoranda.Memo("x", tags=5),  # type: ignore[arg-type]
    memoranda.Memo(b"x", id="\udcff", nothing=1),  # type: ignore[call-arg]
    [memoranda.Memo({1: 2})],
    MemoryFilter(ids=["tea"]),
    MemoryRecordInput(data=1, id="tea"),
    [MemoryUpdate("tea", {1: 1})],
)
UNSHOWN: Final[tuple[Any, ...]] = (10**5_000, nested(5_000, lists=True), nested(5_000, lists=False))
"""What can't even be shown: too long to write, too deep to go through."""
HUGE: Final = "x y " * 2_500_000
VERY_ODD: Final[tuple[Any, ...]] = (HUGE, {"a": [HUGE]})
"""For the long form alone: 10 MB each."""

_texts = st.text(st.characters(codec=None), max_size=20)
_leaves = st.sampled_from(ODD) | _texts | st.integers() | st.floats() | st.binary(max_size=10)
odd_values: Final[st.SearchStrategy[Any]] = st.recursive(
    _leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_texts, inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=6,
)


def parameters(method: Callable[..., Any], name: str) -> Iterator[str]:
    """What a verb can be given, by name, the members of its typed dicts among it."""
    for one in inspect.signature(method).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            members: Any = _OWN_MEMBERS.get(name) or _MEMBERS[one.name]
            yield from members.__annotations__
        else:
            yield one.name


def is_odd_for(parameter: str, name: str, value: Any) -> bool:
    """Whether a value is to be tried: some are no mistake, but wait, or call a caller's code."""
    if (name, parameter) == ("journal.tail", "after"):
        return value is not None
    return parameter not in OWN_CODE or not callable(value)
