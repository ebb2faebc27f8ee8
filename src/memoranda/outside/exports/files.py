"""Exports that are files: MCP's reference memory, mem0, plain JSON lines, and CSV."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from memoranda.kernel.errors import InvalidJson, InvalidTime
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.json import parse as parse_json
from memoranda.outside.exports.arrival import (
    Arrival,
    Read,
    Unread,
    lines_of,
    made_id,
    milliseconds,
    times,
    without_nothing,
)

TEXTS: Final = ("text", "content", "memory", "data", "statement", "message", "observation")
"""Members that hold what is said, the first of them that is there."""
_AS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "memory_id", "uuid", "key"),
    "subject": ("subject", "user_id", "user", "about"),
    "speaker": ("speaker", "author", "actor", "name", "role"),
    "said_at": ("said_at", "created_at", "timestamp", "time", "date", "at"),
    "thread": ("thread", "session_id", "run_id", "conversation"),
    "source": ("source", "source_uri", "url", "uri"),
    "tags": ("tags", "labels", "categories"),
    "valid_from": ("valid_from",),
    "valid_to": ("valid_to",),
    "expires": ("expires", "expires_at"),
}
"""Members of others, by what they are here."""
_MOMENTS: Final = ("said_at", "valid_from", "valid_to", "expires")
WHO: Final = ("user_id", "agent_id", "run_id")


def mcp(contents: bytes) -> Iterator[Read]:
    """The knowledge graph of MCP's reference memory server: a record for each observation.

    An entity without observations, and each relation, is one as well.
    """
    for read in lines_of(contents):
        if isinstance(read, Unread):
            yield read
            continue
        line, value = read
        if isinstance(value, dict) and value.get("type") == "entity" and _text(value.get("name")):
            yield from _entity(line, value)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield _relation(line, value)
        else:
            yield Unread(line, "$.type", "it is neither an entity with a name nor a relation")


def _entity(line: int, value: Mapping[str, Any]) -> Iterator[Read]:
    name, kind = value["name"], value.get("entityType")
    observations = value.get("observations") or []
    beyond = {k: v for k, v in value.items()
              if k not in ("type", "name", "entityType", "observations")}  # fmt: skip
    about = {
        "subject": name,
        "source": [f"mcp-memory:{name}"],
        "tags": [f"entity:{name}", *([f"type:{kind}"] if _text(kind) else [])],
        "meta": beyond,
    }
    if not isinstance(observations, list):
        yield Unread(line, "$.observations", "it is no list")
        return
    for observation in observations or [None]:
        data = without_nothing({"entity": name, "type": kind, "observation": observation})
        yield Arrival(line, made_id("mcp", data), data, without_nothing(about))


def _relation(line: int, value: Mapping[str, Any]) -> Read:
    ends = [value.get(name) for name in ("from", "relationType", "to")]
    if not all(map(_text, ends)):
        return Unread(line, "$", "a relation has the texts from, to and relationType")
    start, relation, end = ends
    data = {"from": start, "relation": relation, "to": end}
    about = {
        "subject": start,
        "source": [f"mcp-memory:{start}"],
        "tags": [f"entity:{start}", f"entity:{end}", f"relation:{relation}"],
        "meta": {k: v for k, v in value.items()
                 if k not in ("type", "from", "to", "relationType")},
    }  # fmt: skip
    return Arrival(line, made_id("mcp", data), data, without_nothing(about))


def mem0(contents: bytes) -> Iterator[Read]:
    """What mem0's `get_all` gives, as JSON: a list, or an object with `results`; or JSON lines."""
    for read in _values(contents):
        if isinstance(read, Unread):
            yield read
            continue
        line, value = read
        if not isinstance(value, dict) or not _text(value.get("memory", value.get("data"))):
            yield Unread(line, "$.memory", "it is no memory: there is no text")
            continue
        try:
            yield _memory(line, value)
        except InvalidTime as refused:
            yield Unread(line, "$", str(refused))


def _memory(line: int, value: Mapping[str, Any]) -> Arrival:
    text = value.get("memory", value.get("data"))
    who = {name: str(value[name]) for name in WHO if value.get(name) is not None}
    kept = ("memory", "data", "id", "metadata", "created_at", "updated_at", "score",
            "expiration_date", *WHO)  # fmt: skip
    beyond = {name: each for name, each in value.items() if name not in kept and each is not None}
    meta = {**(value.get("metadata") or {}), **beyond, **who}
    meta |= times(value.get("created_at"), value.get("updated_at"))
    about = {
        "tags": ["mem0", *(f"{name}:{each}" for name, each in who.items())],
        "subject": next(iter(who.values()), None),
        "speaker": value.get("actor_id") or value.get("role"),
        "said_at": milliseconds(value.get("created_at")),
        "source": [f"mem0:{value['id']}"] if _text(value.get("id")) else None,
        "meta": meta,
        "expires": _day_after(value.get("expiration_date")),
    }
    given = value.get("id")
    id = given if _text(given) else made_id("mem0", [text, *who.values()])
    return Arrival(line, str(id), text, without_nothing(about))


def _day_after(day: object) -> int | None:
    start = milliseconds(day)
    return None if start is None else start + 86_400_000


def _values(contents: bytes) -> Iterator[tuple[int, JsonValue] | Unread]:
    """The members of a JSON list, or of the list in an object; else the lines."""
    try:
        whole = parse_json(contents.removeprefix(b"\xef\xbb\xbf"))
    except InvalidJson:
        yield from lines_of(contents)
        return
    if isinstance(whole, dict):
        lists = [whole[name] for name in ("results", "memories") if name in whole]
        whole = lists[0] if lists else [whole]
    if not isinstance(whole, list):
        yield Unread(1, "$", "it is no list of memories")
        return
    yield from enumerate(whole, 1)


# ---------------------------------------------------------------------------------- plain


def json_lines(contents: bytes) -> Iterator[Read]:
    """A text or an object on each line; of an object, members are taken by their names."""
    for read in lines_of(contents):
        yield read if isinstance(read, Unread) else plain(*read, "jsonl")


def comma_separated(contents: bytes) -> Iterator[Read]:
    """A table with a head: columns are taken by their names, as members of objects are."""
    try:
        text = contents.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        yield Unread(0, f"byte {wrong.start}", "it is no UTF-8")
        return
    table = csv.reader(io.StringIO(text, newline=""))
    head: list[str] | None = None
    try:
        for row in table:
            if head is None:
                head = [name.strip() for name in row]
                if len(set(head)) < len(head) or "" in head:
                    yield Unread(1, "$", "each column has a name of its own")
                    return
            elif row and len(row) != len(head):
                yield Unread(table.line_num, "$", f"it has {len(row)} cells for {len(head)} names")
            elif row:
                cells = {name: cell for name, cell in zip(head, row, strict=True) if cell != ""}
                yield plain(table.line_num, cells, "csv")
    except csv.Error as wrong:
        yield Unread(table.line_num, "$", f"it can't be read as CSV: {wrong}")


def plain(line: int, value: JsonValue, kind: str) -> Read:
    """What a line says, and what is said of it; what has no place of its own goes into meta."""
    if not isinstance(value, dict):
        if value is None or (isinstance(value, str) and not value.strip()):
            return Unread(line, "$", "it says nothing")
        return Arrival(line, made_id(kind, value), value)
    left = dict(value)
    text = next((name for name in TEXTS if name in left), None)
    data: Any = left.pop(text) if text else None
    said: dict[str, Any] = {}
    for name, names in _AS.items():
        if (theirs := next((one for one in names if one in left), None)) is not None:
            said[name] = left.pop(theirs)
    given = said.pop("id", None)
    try:
        about = _said(said)
    except InvalidTime as refused:
        return Unread(line, "$", str(refused))
    if isinstance(left.get("meta"), dict):
        left |= left.pop("meta")
    if text is None:  # then all of it is what is said
        data, left = {name: value[name] for name in value if name in left}, {}
    if data in (None, "", {}) or (isinstance(data, str) and not data.strip()):
        return Unread(line, "$", f"it says nothing: there is no {', '.join(TEXTS[:3])}")
    id = str(given) if given not in (None, "") else made_id(kind, value)
    if not storable(id):
        return Unread(line, "$.id", "it has a character that no database holds")
    return Arrival(line, id, data, without_nothing({**about, "meta": left}))


def _said(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of it, in the types that are asked for here."""
    about = dict(said)
    for name in _MOMENTS:
        if name in about:
            about[name] = milliseconds(about[name])
    for name in ("subject", "speaker", "thread"):
        if about.get(name) is not None:
            about[name] = str(about[name])
    if isinstance(about.get("tags"), str):
        about["tags"] = [tag.strip() for tag in about["tags"].split(",") if tag.strip()]
    if isinstance(about.get("source"), str):
        about["source"] = [about["source"]]
    return about


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def first_value(contents: Iterable[tuple[int, JsonValue] | Unread]) -> JsonValue:
    """The first value of a file of JSON lines, by which it is known; None if it can't be read."""
    first = next(iter(contents), None)
    return None if first is None or isinstance(first, Unread) else first[1]
