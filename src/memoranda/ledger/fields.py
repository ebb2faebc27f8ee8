"""Which texts of an object are embedded: all that it says as one, or those at the paths it names.

A path is ``$``, what the object says as a whole, and then steps down: ``.name`` to a member,
``[0]`` to an item, ``[-1]`` to the last one, ``.*`` and ``[*]`` to each. One that leads nowhere
gives no text. Each text has a vector of its own, so a long document can be found by one sentence.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import data_of, is_indexed
from memoranda.text.tokens import shown

MOST_PATHS: Final = 16
MOST_TEXTS: Final = 32
"""Texts of one object that have a vector; those that come after them have none."""

_STEP: Final = r"\.([^.\[\]]+)|\[(\*|-?[0-9]{1,9})\]"
_STEPS: Final = re.compile(_STEP)
_PATH: Final = re.compile(rf"\$(?:{_STEP})*\Z")
_EACH: Final = "*"


def is_path(path: str) -> bool:
    return _PATH.match(path) is not None


def text_of(document: Mapping[str, JsonValue]) -> str:
    """What an object says, as it is shown. Where that is empty, its statement, which never is."""
    return shown(data_of(document)) or str(document["statement"])


def embedded_texts(document: Mapping[str, JsonValue]) -> list[str]:
    """The texts of an object that are to have a vector, each once, in the order of its paths."""
    if not is_indexed(document):
        return []
    if (paths := document.get("embed")) is None:
        return [text_of(document)]
    data = data_of(document)
    texts = (shown(value).strip() for path in paths for value in _values(data, path))
    return [text for text in dict.fromkeys(texts) if text][:MOST_TEXTS]


def _values(data: JsonValue, path: str) -> list[JsonValue]:
    """The values at a path but those that say nothing."""
    if not is_path(path):
        return []
    found = [data]
    for name, number in _STEPS.findall(path):
        found = [inner for value in found for inner in _below(value, name, number)]
    return [value for value in found if value not in (None, [], {})]


def _below(value: JsonValue, name: str, number: str) -> Iterator[JsonValue]:
    if isinstance(value, dict) and name == _EACH:
        yield from value.values()
    elif isinstance(value, dict) and name in value:
        yield value[name]
    elif isinstance(value, list) and _EACH in (name, number):
        yield from value
    elif isinstance(value, list) and number and -len(value) <= int(number) < len(value):
        yield value[int(number)]
