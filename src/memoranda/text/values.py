"""What of a JSON value can be searched, and how it is shown.

Searched are its strings and its numbers, and the names of its members: who asks for a discount
means what is called `max_discount`. A name counts once, however many members have it, and is read
as its words: `maxDiscount` and `max-discount` as the same two. Names that all records of a kind
have weigh next to nothing in a ranking. true, false and null are no words: their names are.

Shown is all of it: each name with its value.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from memoranda.kernel.json import JsonValue

_WRITTEN_AS_INTEGER_BELOW: Final = 1e21
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def texts(value: JsonValue) -> Iterator[str]:
    """The searchable texts of a JSON value, in the order of the document; each name once.

    A number is written the same whether it was just sent (1.0) or read from a store (1). No
    recursion: the depth of a value is no concern here (`kernel.json` limits it to 64).
    """
    named: set[str] = set()
    for steps, member in _leaves(value):
        for step in steps():
            if isinstance(step, str) and step not in named:
                named.add(step)
                yield _HUMP.sub(" ", step)
        if isinstance(member, str):
            yield member
        elif isinstance(member, int | float) and not isinstance(member, bool):
            yield written(member)


def shown(value: JsonValue) -> str:
    """A JSON value for somebody to read: a text as it is, else a line for each value in it.

    Each line has the path to the value before it: ``max_discount: 20``, ``lines[0].price: 3``.
    """
    if isinstance(value, str):
        return value
    lines = []
    for steps, member in _leaves(value):
        said = member if isinstance(member, str) else written(member)
        path = "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in steps())
        lines.append(f"{path.removeprefix('.')}: {said}" if path else said)
    return "\n".join(lines)


Step = str | int
Where = tuple["Where", Step] | tuple[()]
"""The steps to a value, the last one first: each has those before it, and none is copied."""


def _leaves(value: JsonValue) -> Iterator[tuple[Callable[[], list[Step]], object]]:
    """The values that hold no others, each with what tells the steps that lead to it."""
    start: tuple[Where, object] = ((), value)
    waiting = [iter([start])]
    while waiting:
        for where, member in waiting[-1]:
            if isinstance(member, dict) and member:
                waiting.append(iter([((where, name), one) for name, one in member.items()]))
                break
            if isinstance(member, list | tuple) and member:
                waiting.append(iter([((where, at), one) for at, one in enumerate(member)]))
                break
            yield partial(_steps, where), member
        else:
            waiting.pop()


def _steps(where: Where) -> list[Step]:
    steps = []
    while where:
        where, step = where
        steps.append(step)
    return steps[::-1]


def written(value: object) -> str:
    """A value without a name or a text, as JSON has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case float() if not value.is_integer() or abs(value) >= _WRITTEN_AS_INTEGER_BELOW:
            return repr(value)
        case int() | float():
            return str(int(value))
        case dict():
            return "{}"
        case _:
            return "[]"
