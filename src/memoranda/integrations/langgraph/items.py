"""How an item of LangGraph lies in a scope: its id, its tag, its filters.

The id is ``item:a.b..key`` for the namespace ``("a", "b")``. A label has no dot and is not empty,
so the first two dots end the namespace, whatever the key is; and ``item:a.b.`` begins the ids of
that namespace and of all below it, and no others. One tag names the namespace by itself.
"""

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from langgraph.store.base import Item, MatchCondition

from memoranda.types import JsonValue

Namespace = tuple[str, ...]

ROOT: Final = "item:"
LIFE, EXPIRES = "ttl_ms", "expires_at"
"""What meta says of an item with a time to live: how long, and until when."""
CREATED, UPDATED = "created_at", "updated_at"
"""What meta says where the record's own times are others: it came from elsewhere, or a read moved
its end."""
UNTIL: Final = f"meta.{EXPIRES}"
MINUTE_MS: Final = 60_000
SPARE: Final = 8
"""An eighth of its time to live is given on top, so that not every read has to move its end."""

_KEY: Final = re.compile(r"[\w .\\/:@+-]+\Z")
_LARGEST: Final = sys.float_info.max
_EXACT: Final = 2**53


class Nothing(Exception):
    """No item can fit a filter."""


class Lifetime(NamedTuple):
    """How long an item lives, in milliseconds."""

    ms: int

    @classmethod
    def of(cls, minutes: float | None) -> "Lifetime | None":
        return None if minutes is None else cls(round(minutes * MINUTE_MS))

    def end(self, now: int) -> int:
        """When it ends, read or written now."""
        return now + self.ms + self.ms // SPARE


def id_of(namespace: Sequence[str], key: str) -> str:
    return f"{ROOT}{'.'.join(namespace)}..{key}"


def ids_below(namespace: Sequence[str]) -> str:
    """How the ids of a namespace begin, and of those below it."""
    return f"{ROOT}{'.'.join(namespace)}." if namespace else ROOT


def tag_of(namespace: Sequence[str]) -> str:
    return ROOT + ".".join(namespace)


def namespace_of(tag: str) -> Namespace:
    return tuple(tag.removeprefix(ROOT).split("."))


def place_of(id: str) -> tuple[Namespace, str]:
    """The namespace and the key that an id stands for."""
    dotted, _, key = id.removeprefix(ROOT).partition("..")
    return tuple(dotted.split(".")), key


def item_of(
    id: str, data: Any, meta: Mapping[str, Any] | None, created: int, updated: int
) -> dict[str, Any]:
    """The members of an item; that its end was moved is no update of it."""
    namespace, key = place_of(id)
    if meta:
        created, updated = meta.get(CREATED, created), meta.get(UPDATED, updated)
    return {
        "value": data,
        "key": key,
        "namespace": namespace,
        "created_at": datetime.fromtimestamp(created / 1000, UTC),
        "updated_at": datetime.fromtimestamp(updated / 1000, UTC),
    }


def item(id: str, data: Any, meta: Mapping[str, Any] | None, created: int, updated: int) -> Item:
    return Item(**item_of(id, data, meta, created, updated))


# ----------------------------------------------------------------------------- namespaces


def matching(
    found: Sequence[Namespace], conditions: Sequence[MatchCondition], depth: int | None
) -> list[Namespace]:
    """The namespaces that fit all conditions, cut at a depth, in order, each once."""
    fit = (one for one in found if all(_fits(one, condition) for condition in conditions))
    return sorted({one[:depth] for one in fit})


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    wanted = condition.path
    if len(namespace) < len(wanted):
        return False
    if condition.match_type == "prefix":
        part = namespace[: len(wanted)]
    elif condition.match_type == "suffix":
        part = namespace[len(namespace) - len(wanted) :]
    else:
        raise ValueError(f"Unsupported match type: {condition.match_type}")
    return all(step in ("*", label) for step, label in zip(wanted, part, strict=True))


# --------------------------------------------------------------------- fields to be embedded


def paths(fields: Sequence[str]) -> list[str]:
    """Fields of LangGraph as paths of ours: ``a.b[*]`` is ``$.a.b[*]``, ``a.{b,c}`` are two."""
    return [path for field in fields for path in _paths(field)]


def _paths(field: str) -> Iterator[str]:
    before, brace, rest = field.partition("{")
    if brace:
        names, _, after = rest.partition("}")
        for name in names.split(","):
            yield from _paths(before + name.strip() + after)
    elif field in ("", "$") or field.startswith(("$.", "$[")):
        yield field or "$"
    else:
        yield f"${field}" if field.startswith("[") else f"$.{field}"


# -------------------------------------------------------------------------------- filters


def where(filter: Mapping[str, Any] | None) -> dict[str, JsonValue]:
    """A filter of LangGraph as conditions on data; Nothing where no value can fulfil it.

    ValueError for a name that can be no member's, or an operator that there is not.
    """
    found: dict[str, Any] = {}
    for path, operator, operand in _conditions("data", filter or {}):
        if operator in found.setdefault(path, {}):
            raise ValueError(f"Invalid filter key: {path!r} is asked for twice")
        found[path][operator] = operand
    return found


def _conditions(path: str, asked: Mapping[str, Any]) -> Iterator[tuple[str, str, JsonValue]]:
    for key, wanted in asked.items():
        if not isinstance(key, str) or not _KEY.match(key) or "" in key.split("."):
            raise ValueError(f"Invalid filter key: {key!r}")
        inner = f"{path}.{key}"
        if not isinstance(wanted, Mapping):
            yield from _condition(inner, "$eq", wanted)
        elif any(str(name).startswith("$") for name in wanted):
            for operator, operand in wanted.items():
                yield from _condition(inner, operator, operand)
        elif wanted:
            yield from _conditions(inner, wanted)
        else:
            yield inner, "$exists", True


def _condition(path: str, operator: str, operand: Any) -> Iterator[tuple[str, str, JsonValue]]:
    """One condition; a number that JSON has not is the largest that it has, or none at all."""
    if operator not in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in"):
        raise ValueError(f"Unsupported operator: {operator}")
    if isinstance(operand, int) and not isinstance(operand, bool) and abs(operand) > _EXACT:
        beyond = math.inf if operand > 0 else -math.inf
        operand = float(operand) if abs(operand) < _LARGEST else beyond
    if isinstance(operand, float) and not math.isfinite(operand):
        if operator == "$ne":
            return
        if math.isnan(operand) or operator == "$eq" or (operand > 0) == operator.startswith("$g"):
            raise Nothing
        operand = math.copysign(_LARGEST, operand)
    yield path, operator, operand
