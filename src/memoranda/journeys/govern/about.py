"""What a caller says of a statement besides its content, and how that is checked.

Every verb that writes takes the same members, `About`. One that is absent has its default where
something is new, and passes on where it follows an earlier version. None says that there is none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypedDict, TypeVar, Unpack, get_args

from pydantic import ValidationError

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.times import Moment, milliseconds_or_none
from memoranda.journeys.records.contents import UNCHANGED, Unchanged
from memoranda.kernel.errors import (
    InvalidJson,
    InvalidObject,
    InvalidRecord,
    InvalidTime,
    ReasonMissing,
)
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.wire import place_and_reason
from memoranda.ledger.fields import MOST_PATHS, is_path
from memoranda.ledger.model import SourceRef
from memoranda.ledger.object import TEMPORAL_SCOPES, VERDICT_TYPES, VerdictType
from memoranda.ledger.time import TemporalScope

T_co = TypeVar("T_co", covariant=True)

Source = str | Mapping[str, JsonValue]

Declared = Literal["SourceStatement", "DerivedStatement"]
"""What a caller may say of the type of a statement: the others follow from who wrote it, or how."""

MAX_NAME: Final = 512
_NO_SOURCE: Final = "a source is a text or an object; give one, or a list of them"


class About(TypedDict, total=False):
    """What may be said of a statement; see `docs/writing.md`."""

    tags: Sequence[str] | None
    meta: Mapping[str, Any] | None
    subject: str | None
    source: Source | Sequence[Source] | None
    keep_sources: bool
    valid_from: Moment | None
    valid_to: Moment | None
    expires: Moment | None
    thread: str | None
    speaker: str | None
    said_at: Moment | None
    jurisdiction: str | None
    verdict: VerdictType
    statement_type: Declared | None
    applicability_scope: Mapping[str, JsonValue] | None
    temporal_scope: TemporalScope | None
    media_type: str | None
    indexed: bool
    embed: Sequence[str] | bool | None


@dataclass(frozen=True, init=False)  # with slots, Memo[T](...) fails on Python 3.11
class Memo(Generic[T_co]):
    """One thing to be remembered, with what is said of it: for `remember_many`."""

    data: T_co
    id: str | None
    about: Mapping[str, Any]

    def __init__(self, data: T_co, id: str | None = None, **about: Unpack[About]) -> None:
        for name, value in (("data", data), ("id", id), ("about", MappingProxyType({**about}))):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Said:
    """What was said of a statement, checked and by value: what is not in it was not said."""

    members: Mapping[str, JsonValue]
    """Under the names of `About`; times are milliseconds, sources a list of objects."""
    tags: Sequence[str] | Unchanged | None = UNCHANGED
    meta: Mapping[str, Any] | Unchanged | None = UNCHANGED

    @property
    def is_nothing(self) -> bool:
        return not self.members and self.tags is UNCHANGED and self.meta is UNCHANGED

    @property
    def verdict(self) -> VerdictType:
        """The verdict that was said, or that nothing is known."""
        found: VerdictType = self.members.get("verdict", "Unanswered")
        return found

    @property
    def request(self) -> JsonValue:
        """The same as a part of a request that may be retried."""
        named = {"tags": self.tags, "meta": self.meta}
        return {
            **self.members,
            **{name: value for name, value in named.items() if value is not UNCHANGED},
        }


NOTHING_SAID: Final = Said({})


def said_of_new(about: Mapping[str, Any], where: str = "$") -> Said:
    """What is said of something new, where nothing was before."""
    if not about:
        return NOTHING_SAID
    if "keep_sources" in about:
        raise InvalidRecord(f"{where}.keep_sources", "it is new: there are no sources to keep")
    return checked(about, where)


def said_of_next(about: Mapping[str, Any], verb: str, reason: str | None) -> Said:
    """What is said of a version that follows another one; refused before anything is read."""
    said = checked(about)
    if said.members.get("keep_sources"):
        if "source" in said.members:
            raise InvalidRecord("$.keep_sources", "other sources are given; name one of the two")
        if reason is None:
            why = "sources that were given with another statement are kept for a reason alone"
            raise ReasonMissing(verb, f"{why}; say why with a reason")
    return said


def checked(about: Mapping[str, Any], where: str = "$") -> Said:
    """What was said, if it can be: InvalidRecord, InvalidObject or InvalidTime with the place."""
    members: dict[str, JsonValue] = {}
    for name, value in about.items():
        if name not in About.__annotations__:
            near = get_close_matches(str(name), About.__annotations__, n=1)
            known = near[0] if near else ", ".join(About.__annotations__)
            why = f"nothing of this name can be said of a statement; there is {known}"
            raise InvalidRecord(f"{where}.{name}", why)
        if (check := _CHECKS.get(name)) is not None:
            members[name] = check(value, f"{where}.{name}")
    return Said(members, about.get("tags", UNCHANGED), about.get("meta", UNCHANGED))


# ----------------------------------------------------------------------- each member


def check_verdict(verdict: object, where: str = "$.verdict") -> VerdictType:
    """Refuse what is not a verdict."""
    if verdict not in VERDICT_TYPES:
        raise InvalidObject(where, f"it must be one of {', '.join(VERDICT_TYPES)}")
    return verdict  # type: ignore[return-value]  # it is one of them


def check_name(text: object, where: str) -> str | None:
    """Refuse a subject, a thread or the like that names nothing."""
    if text is None:
        return None
    if not isinstance(text, str) or is_blank(text) or len(text) > MAX_NAME or not storable(text):
        raise InvalidObject(where, f"it must be a text of 1 to {MAX_NAME} characters, not blank")
    return text


def sources_of(source: object, where: str = "$.source") -> list[Mapping[str, JsonValue]]:
    """Sources as an object names them; a text is the uri of one."""
    if source is None:
        return []
    named: object = [source] if isinstance(source, str | Mapping) else source
    if not isinstance(named, Sequence) or isinstance(named, bytes | bytearray | memoryview):
        raise InvalidObject(where, _NO_SOURCE)
    found: list[Mapping[str, JsonValue]] = []
    for place, value in enumerate(named):
        if not isinstance(value, str | Mapping):
            raise InvalidObject(f"{where}[{place}]", _NO_SOURCE)
        given = {"uri": value} if isinstance(value, str) else dict(value)
        try:
            SourceRef.model_validate(given)
            found.append(decode(canonical_bytes(given)))
        except ValidationError as refused:
            inside, why = place_and_reason(refused)
            raise InvalidObject(f"{where}[{place}]{inside[1:]}", why) from None
        except InvalidJson as refused:
            raise InvalidObject(f"{where}[{place}]{refused.where[1:]}", refused.why) from None
    return found


def _moment(value: Any, where: str) -> int | None:
    try:
        return milliseconds_or_none(value)
    except InvalidTime as refused:
        raise InvalidTime(refused.time, f"{refused.why}; it was given as {where}") from None


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidRecord(where, "it is neither True nor False")
    return value


def _declared(value: object, where: str) -> object:
    if value is not None and value not in get_args(Declared):
        why = f"what may be said of it is one of {', '.join(get_args(Declared))}"
        raise InvalidObject(where, why)
    return value


def check_temporal(value: object, where: str = "$.temporal_scope") -> object:
    """Refuse what is not a temporal scope."""
    if value is not None and value not in TEMPORAL_SCOPES:
        raise InvalidObject(where, f"it must be one of {', '.join(TEMPORAL_SCOPES)}")
    return value


def _applies(value: object, where: str) -> JsonValue:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidObject(where, "it is an object, or null")
    try:
        return decode(canonical_bytes(dict(value)))
    except InvalidJson as refused:
        raise InvalidObject(f"{where}{refused.where[1:]}", refused.why) from None


def _media_type(value: object, where: str) -> str | None:
    text = check_name(value, where)
    if text is not None and ("/" not in text or not text.isascii() or not text.isprintable()):
        raise InvalidObject(where, "it is no media type, such as image/png")
    return text


def _paths(value: object, where: str) -> JsonValue:
    """The paths of what is embedded; None for all of it."""
    if value is None or isinstance(value, bool):
        return [] if value is False else None
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray | memoryview):
        raise InvalidRecord(where, "it is a list of paths, such as $.text, or True or False")
    if len(value) > MOST_PATHS:
        raise InvalidRecord(where, f"it has at most {MOST_PATHS} paths")
    for place, path in enumerate(value):
        check_name(path, f"{where}[{place}]")
        if not is_path(path):
            why = "it is no path, such as $.text, $.lines[0].text or $.lines[*].text"
            raise InvalidRecord(f"{where}[{place}]", why)
    return list(value)


_CHECKS: Final[Mapping[str, Callable[[Any, str], JsonValue]]] = {
    "subject": check_name,
    "source": sources_of,
    "keep_sources": _flag,
    "valid_from": _moment,
    "valid_to": _moment,
    "expires": _moment,
    "thread": check_name,
    "speaker": check_name,
    "said_at": _moment,
    "jurisdiction": check_name,
    "verdict": check_verdict,
    "statement_type": _declared,
    "applicability_scope": _applies,
    "temporal_scope": check_temporal,
    "media_type": _media_type,
    "indexed": _flag,
    "embed": _paths,
}
"""All but tags and meta, which are a part of the record and checked with it."""
