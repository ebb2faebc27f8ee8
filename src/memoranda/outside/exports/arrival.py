"""An arrival: one thing that comes from elsewhere, as it will be remembered here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidJson, InvalidTime
from memoranda.kernel.json import JsonValue
from memoranda.kernel.json import parse as parse_json
from memoranda.ledger.time import parse_time

_DIGITS: Final = 32
_MS_FROM: Final = 10**11
"""Numbers from here on are milliseconds, below they are seconds: the year 1973, or 5138."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A thing with its id here, where it stands there, and what is said of it."""

    line: int
    id: str
    data: Any
    about: Mapping[str, Any] = field(default_factory=dict)
    """Under the names of `remember`."""


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that can't come in, and why."""

    line: int
    where: str
    why: str


Read = Arrival | Unread


def lines_of(contents: bytes) -> Iterator[tuple[int, JsonValue] | Unread]:
    """The values of a file of JSON lines, each with the number of its line."""
    for number, line in enumerate(contents.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield number, parse_json(line)
        except InvalidJson as refused:
            yield Unread(number, refused.where, refused.why)


def made_id(kind: str, value: JsonValue) -> str:
    """An id that follows from what is said, so that the same comes in once."""
    return f"{kind}:{sha256_hex(canonical_bytes(value))[:_DIGITS]}"


def without_nothing(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value not in (None, [], {}, ())}


def milliseconds(given: object) -> int | None:
    """A time as others write it: RFC 3339, SQL's, seconds or milliseconds; InvalidTime else.

    One without a zone is UTC: that is what SQL's CURRENT_TIMESTAMP writes.
    """
    if given is None or given == "":
        return None
    if isinstance(given, datetime):
        return round(_zoned(given).timestamp() * 1000)
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise InvalidTime(str(given), "a time is a text or a number")
    if isinstance(given, str) and not _is_number(given):
        try:
            return round(_zoned(datetime.fromisoformat(given.strip())).timestamp() * 1000)
        except ValueError:
            return parse_time(given)
    number = float(given)
    return round(number) if abs(number) >= _MS_FROM else round(number * 1000)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _zoned(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def times(created: object, updated: object) -> dict[str, JsonValue]:
    """When it was made and changed there, for its meta."""
    return without_nothing(
        {"created_at": milliseconds(created), "updated_at": milliseconds(updated)}
    )
