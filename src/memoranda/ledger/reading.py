"""Reading the text of an object or an event, ours or somebody else's."""

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue, parse


def read(document: str | bytes) -> JsonValue:
    """The value of a text, strictly; InvalidJson where it could be read in two ways.

    RFC 8785 writes the float 1e16 as an integer that is refused in a text of others. In canonical
    bytes it can only be that float, so what we wrote ourselves is always read.
    """
    try:
        return parse(document)
    except InvalidJson:
        raw = document.encode(errors="replace") if isinstance(document, str) else document
        value = _canonical(raw.strip())
        if value is None:
            raise
        return value


def _canonical(raw: bytes) -> JsonValue | None:
    try:
        value = decode(raw)
        return value if canonical_bytes(value) == raw else None
    except InvalidJson:
        return None
