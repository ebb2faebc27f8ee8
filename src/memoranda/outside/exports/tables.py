"""Exports that are tables: LangGraph's stores, and sessions of the OpenAI Agents SDK."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from memoranda.kernel.errors import InvalidJson, InvalidTime
from memoranda.kernel.json import JsonValue
from memoranda.kernel.json import parse as parse_json
from memoranda.outside.exports.arrival import (
    Arrival,
    Read,
    Unread,
    milliseconds,
    times,
    without_nothing,
)

LANGGRAPH, SESSIONS = "store", "agent_messages"
"""The table that shows what a database is."""
QUERIES: Final[Mapping[str, str]] = {
    LANGGRAPH: "SELECT * FROM store ORDER BY updated_at, prefix, key",
    SESSIONS: "SELECT * FROM agent_messages ORDER BY id",
}
MINUTE_MS: Final = 60_000

Row = Mapping[str, Any]


def langgraph(rows: Iterable[Row]) -> Iterator[Read]:
    """Items of a store, as `MemorandaStore` has them."""
    for line, row in enumerate(rows, 1):
        try:
            yield _item(line, row)
        except (InvalidJson, InvalidTime) as refused:
            yield Unread(line, f"{row.get('prefix')} {row.get('key')}", str(refused))


def _item(line: int, row: Row) -> Arrival:
    prefix, key = str(row["prefix"]), str(row["key"])
    meta = times(row.get("created_at"), row.get("updated_at"))
    ends, minutes = milliseconds(row.get("expires_at")), row.get("ttl_minutes")
    if ends is not None:
        meta |= {"expires_at": ends}
        if minutes is not None:
            meta["ttl_ms"] = round(float(minutes) * MINUTE_MS)
    about = {
        "tags": [f"item:{prefix}"],
        "said_at": milliseconds(row.get("created_at")),
        "source": [f"langgraph:{prefix}/{key}"],
        "meta": meta,
        "expires": ends,
    }
    return Arrival(line, f"item:{prefix}..{key}", _value(row["value"]), without_nothing(about))


def sessions(rows: Iterable[Row]) -> Iterator[Read]:
    """Items of conversations, as `MemorandaSession` has them."""
    for line, row in enumerate(rows, 1):
        session = str(row["session_id"])
        try:
            item = _value(row["message_data"])
            said_at = milliseconds(row.get("created_at"))
        except (InvalidJson, InvalidTime) as refused:
            yield Unread(line, f"{session} {row.get('id')}", str(refused))
            continue
        role = item.get("role") if isinstance(item, dict) else None
        about = {
            "tags": [f"session:{session}"],
            "subject": f"session:{session}",
            "thread": session,
            "speaker": role,
            "said_at": said_at,
            "source": [f"openai-agents:{session}/{row['id']}"],
            "indexed": False,
        }
        kept = {name: value for name, value in about.items() if value is not None}
        yield Arrival(line, f"session:{session}/{row['id']}", item, kept)


def _value(stored: Any) -> JsonValue:
    return parse_json(stored) if isinstance(stored, str | bytes) else stored
