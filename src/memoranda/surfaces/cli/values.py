"""Values that stand as text on a command line, and are something else in Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from memoranda.journeys.govern.moments import milliseconds_of
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue, parse
from memoranda.surfaces.cli.errors import wrong_use


@dataclass(frozen=True, slots=True)
class Value:
    """How what is given with an option becomes what the function takes."""

    read: Callable[[Any, str], Any]
    """From what was given, and the name of the option."""
    given_as: Any = str | None


def json_value(text: str | bytes, option: str) -> JsonValue:
    """A JSON value; wrong use, with the place, where it is none."""
    try:
        return parse(text)
    except InvalidJson as refused:
        raise wrong_use(f"{option} is not JSON: {refused.why}, at {refused.where}.") from None


def json_object(text: str, option: str) -> JsonValue:
    """A JSON object."""
    found = json_value(text, option)
    if not isinstance(found, dict):
        raise wrong_use(f'{option} is not a JSON object, such as {{"name": "value"}}.')
    return found


def _since(text: str, _: str) -> int | None:
    return milliseconds_of(text, SystemClock().now_ms())


def _until(text: str, _: str) -> int | None:
    return milliseconds_of(text, SystemClock().now_ms(), is_end=True)


def name_of(file: Any) -> str:
    """The name of a file that was given, for messages."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and name != "<stdin>" else "standard input"


JSON: Final = Value(json_value)
JSON_OBJECT: Final = Value(json_object)
SINCE: Final = Value(_since)
"""A moment as people write it; a day is its start."""
UNTIL: Final = Value(_until)
"""The same; a day is its end."""
AT: Final = Value(lambda text, _: int(text) if text.isdecimal() else text)
"""A number is that of an entry, anything else a time."""
