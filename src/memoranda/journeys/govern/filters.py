"""Filters as callers name them: members of a `MemoryFilter`, with times as people write them."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypedDict

from pydantic.alias_generators import to_camel

from memoranda.journeys.govern.moments import Moment, is_relative, milliseconds_of
from memoranda.kernel.errors import UnknownFilterKey
from memoranda.kernel.json import JsonValue
from memoranda.records.filter import GOVERNED_KEYS, MemoryFilter, refuse_unknown_keys


class Filters(TypedDict, total=False):
    """Which records are asked for; all that is given must hold (docs/filters.md).

    Both ends of a span of time are included. None is the same as nothing.
    """

    ids: Sequence[str] | None
    tags: Sequence[str] | None
    """All of them."""
    where: Mapping[str, Any] | None
    """Conditions on data and meta (`records.where`)."""
    subject: str | None
    """Whom it is about."""
    thread: str | None
    """What it is a part of, such as a conversation: its first source, or what was said."""
    tag_prefix: str | None
    id_prefix: str | None
    created_after: Moment | None
    created_before: Moment | None
    updated_after: Moment | None
    updated_before: Moment | None


NAMES: Final = frozenset(Filters.__annotations__)
_STARTS: Final = ("created_after", "updated_after")
_ENDS: Final = ("created_before", "updated_before")


def filter_of(given: Mapping[str, Any], now: int, **page: Any) -> MemoryFilter:
    """The filter that was asked for; UnknownFilterKey for a member that there is not."""
    for name in given:
        if name not in NAMES:
            near = get_close_matches(name, sorted(NAMES), n=1)
            hint = (
                f"Did you mean {near[0]}?" if near else f"Name some of {', '.join(sorted(NAMES))}."
            )
            raise UnknownFilterKey(name[:80], hint)
    times = {
        name: milliseconds_of(given.get(name), now, is_end=name in _ENDS)
        for name in (*_STARTS, *_ENDS)
    }
    found = MemoryFilter.model_validate({**given, **times, **page})
    refuse_unknown_keys(found, GOVERNED_KEYS)
    return found


def as_asked(filter: MemoryFilter, given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What a filter asks for, without its page: the same for the same question.

    A time that is told from now stands there as it was written.
    """
    asked: dict[str, JsonValue] = filter.unpaged.model_dump(mode="json", exclude_defaults=True)
    relative = {to_camel(name): value for name, value in given.items() if is_relative(value)}
    return {**asked, **{name: value for name, value in relative.items() if name in asked}}
