"""What mem0 takes and shows, in the terms of memoranda and back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from memoranda.app.moving_in import ARRIVED
from memoranda.types import Event, Remembered

WHO: Final = ("user_id", "agent_id", "run_id")
MARK: Final = "mem0"
"""The tag of all that was added under these names."""

_OPERATORS: Final = {
    "eq": "$eq", "ne": "$ne", "in": "$in", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte",
}  # fmt: skip

Given = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Results = dict[str, Any]


# ----------------------------------------------------------------------------- what is given


def who_of(**given: object) -> dict[str, str]:
    """The ids that were given, as texts."""
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        text = str(value).strip()
        if not text or len(text.split()) > 1:
            raise ValueError(f"{name} must be a text that is not empty and has no spaces in it")
        found[name] = text
    return found


def tags_of(who: Mapping[str, str]) -> list[str]:
    return [f"{name}:{value}" for name, value in who.items()]


def messages_of(given: Given) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [dict(given)]
    if not isinstance(given, Sequence) or not all(isinstance(one, Mapping) for one in given):
        raise ValueError("messages must be str, dict, or list[dict]")
    return [dict(one) for one in given if isinstance(one, Mapping)]


def said_by(message: Mapping[str, Any]) -> dict[str, Any]:
    named = {"role": message.get("role"), "actor_id": message.get("name")}
    return {name: value for name, value in named.items() if value is not None}


def speaker_of(message: Mapping[str, Any]) -> dict[str, Any]:
    name = message.get("name") or message.get("role")
    return {"speaker": name} if name else {}


def end_of(given: object) -> datetime | None:
    """The end of the last day on which a memory is shown."""
    if given is None:
        return None
    try:
        day = given if isinstance(given, date) else date.fromisoformat(str(given))
    except ValueError:
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from None
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return midnight + timedelta(days=1)


def narrowed(filters: Mapping[str, Any] | None, who: Mapping[str, str]) -> dict[str, Any]:
    """Filters of mem0 as those of `list` and `recall`; ValueError for what has no such form."""
    where: dict[str, dict[str, Any]] = {}
    named = dict(who)
    for key, wanted in _flat(filters or {}):
        if key in WHO and isinstance(wanted, str | int):
            named |= who_of(**{key: wanted})
            continue
        path = "meta." + key.replace("\\", "\\\\").replace(".", "\\.")
        conditions = wanted if isinstance(wanted, Mapping) else {"eq": wanted}
        for operator, operand in conditions.items():
            if operator == "eq" and operand == "*":
                where.setdefault(path, {})["$exists"] = True
            elif operator in _OPERATORS:
                where.setdefault(path, {})[_OPERATORS[operator]] = operand
            else:
                raise ValueError(f"memoranda has no filter {operator!r}; see docs/filters.md")
    if not named:
        raise ValueError(
            "filters must contain at least one of: user_id, agent_id, run_id. "
            "Example: filters={'user_id': 'u1'}"
        )
    return {"tags": [MARK, *tags_of(named)], "where": where or None}


def _flat(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, wanted in filters.items():
        if key == "AND":
            for one in wanted:
                yield from _flat(one)
        elif key in ("OR", "NOT"):
            raise ValueError(f"memoranda has no filter {key}: all conditions hold together")
        else:
            yield key, wanted


# ------------------------------------------------------------------------------ what is shown


def added(id: str, text: object) -> Results:
    return {"id": id, "memory": text, "event": "ADD"}


def not_found(id: str) -> ValueError:
    return ValueError(f"Memory with id {id} not found")


def shown(found: Remembered[Any]) -> Results:
    """A memory as mem0 shows it."""
    meta: dict[str, Any] = dict(found.meta)
    meta.pop(ARRIVED, None)
    created, updated = meta.pop("created_at", found.created_at), meta.pop("updated_at", None)
    promoted = {
        name: meta.pop(name) for name in (*WHO, "actor_id", "role") if meta.get(name) is not None
    }
    shown: Results = {
        "id": found.id,
        "memory": found.data,
        "hash": found.hash,
        "created_at": _iso(created),
        "updated_at": _iso(found.updated_at if updated is None else updated),
        **promoted,
    }
    if found.expires_at is not None:
        last = datetime.fromtimestamp(found.expires_at / 1000, UTC) - timedelta(milliseconds=1)
        shown["expiration_date"] = last.date().isoformat()
    if meta:
        shown["metadata"] = meta
    return shown


def steps(id: str, events: Iterable[Event[Any]]) -> Iterator[Results]:
    old: object = None
    first: int | None = None
    for event in events:
        said = event.remembered
        is_gone = said is None or said.status != "active"
        new = None if is_gone or said is None else said.data
        first = event.at if first is None else first
        kind = "DELETE" if is_gone else "ADD" if old is None else "UPDATE"
        meta: Mapping[str, Any] = {} if said is None else said.meta
        yield {
            "id": f"{id}@{event.version}",
            "memory_id": id,
            "old_memory": old,
            "new_memory": new,
            "event": kind,
            "created_at": _iso(first),
            "updated_at": _iso(event.at),
            "is_deleted": is_gone,
            "actor_id": meta.get("actor_id"),
            "role": meta.get("role"),
            "actor": event.actor,
            "reason": event.reason,
        }
        old = new


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()
