"""Messages as callers hand them over."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.journeys.govern.about import check_name
from memoranda.journeys.govern.times import milliseconds_or_none
from memoranda.kernel.errors import InvalidObject, InvalidRecord, InvalidTime
from memoranda.kernel.json import JsonValue, storable
from memoranda.plans.facts import PERSON, ChatMessage

MAX_MESSAGES: Final = 10_000
MAX_CONTENT: Final = 1_000_000
_DIGITS: Final = 32


_KNOWN: Final = ("at", "content", "id", "name", "role", "speaker")
"""What a message may have; `name` is another word for `speaker`."""


class ReadMessage(NamedTuple):
    """A message that was read: what it says, what it is called as a source, and its own digest."""

    message: ChatMessage
    source: Mapping[str, JsonValue]
    digest: str


def read_messages(given: object, thread: str | None) -> list[ReadMessage]:
    """The messages, each with its source; InvalidRecord or InvalidTime for what is no message.

    A message is known again by all that is said of it, and its thread: other words, another time
    or another speaker make another message of it.
    """
    if isinstance(given, Mapping | str | bytes) or not isinstance(given, Sequence):
        raise InvalidRecord("messages", "it is a list of messages: objects with a content")
    if len(given) > MAX_MESSAGES:
        raise InvalidRecord("messages", f"there are more than {MAX_MESSAGES:,}; hand over fewer")
    return [_read(one, f"messages[{place}]", thread) for place, one in enumerate(given)]


def _read(given: object, where: str, thread: str | None) -> ReadMessage:
    if not isinstance(given, Mapping):
        raise InvalidRecord(where, "it is an object: role, content, speaker, at, id")
    for name in given:
        if name not in _KNOWN:
            why = f"a message has no such member; there are {', '.join(_KNOWN)}"
            raise InvalidRecord(f"{where}.{name}", why)
    content = given.get("content")
    if not isinstance(content, str) or not storable(content) or len(content) > MAX_CONTENT:
        why = f"it is a text of at most {MAX_CONTENT:,} characters"
        raise InvalidRecord(f"{where}.content", why)
    role, id = (_name(given.get(member), f"{where}.{member}") for member in ("role", "id"))
    speakers = {
        name
        for member in ("name", "speaker")
        if (name := _name(given.get(member), f"{where}.{member}")) is not None
    }
    if len(speakers) > 1:
        raise InvalidRecord(f"{where}.name", "it is not the same as the speaker; name one of them")
    try:
        at = milliseconds_or_none(given.get("at"))
    except InvalidTime as refused:
        raise InvalidTime(refused.time, f"{refused.why}; it was given as {where}.at") from None
    message = ChatMessage(content, role or PERSON, next(iter(speakers), None), at)
    digest = _digest(message, thread, id)
    uri = f"message:{digest[:_DIGITS] if id is None else id}"
    return ReadMessage(message, {"uri": uri}, digest)


def _name(given: object, where: str) -> str | None:
    try:
        return check_name(given, where)
    except InvalidObject as refused:
        raise InvalidRecord(refused.where, refused.why) from None


def _digest(message: ChatMessage, thread: str | None, id: str | None) -> str:
    said: list[JsonValue] = [
        thread, id, message.role, message.speaker, message.at, message.content
    ]  # fmt: skip
    return sha256_hex(canonical_bytes(said))
