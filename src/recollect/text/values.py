"""What of a JSON value can be searched: its strings and its numbers.

Not its keys: they are the form of a document, not what it says. Every record of a kind has the
same ones, so that a search for `text` or `name` would find them all. Nor true, false and null:
without their key they say nothing.
"""

from collections.abc import Iterator
from typing import Final

from recollect.kernel.json import JsonValue

_WRITTEN_AS_INTEGER_BELOW: Final = 1e21


def texts(value: JsonValue) -> Iterator[str]:
    """The searchable texts of a JSON value, in the order of the document.

    A number is written the same whether it was just sent (1.0) or read from a store (1). No
    recursion: the depth of a value is no concern here (`kernel.json` limits it to 64).
    """
    waiting = [iter((value,))]
    while waiting:
        for member in waiting[-1]:
            match member:
                case str():
                    yield member
                case bool() | None:
                    pass
                case int():
                    yield str(member)
                case float():
                    yield _number(member)
                case dict():
                    waiting.append(iter(member.values()))
                    break
                case list() | tuple():
                    waiting.append(iter(member))
                    break
        else:
            waiting.pop()


def _number(number: float) -> str:
    if number.is_integer() and abs(number) < _WRITTEN_AS_INTEGER_BELOW:
        return str(int(number))
    return repr(number)
