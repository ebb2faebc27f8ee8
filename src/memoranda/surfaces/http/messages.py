"""What comes in and what goes out: members of a request, and the bytes of an answer."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin
from urllib.parse import parse_qsl

import orjson
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from memoranda.app.surfaces import Operation, plain_json
from memoranda.errors import InvalidJson, InvalidRecord, MediaTypeRefused, RequestTooLarge
from memoranda.formats import parse_json
from memoranda.surfaces.errors import Problem

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"
EVENTS: Final = "text/event-stream"
PROBLEM: Final = "application/problem+json"

MAX_BODY: Final = 1024 * 1024
MAX_IMPORT: Final = 16 * 1024 * 1024
MOST_PARAMETERS: Final = 256
MAX_TEXT: Final = 2048
"""Characters of a text in a path or a query."""
MAX_VALUES: Final = 50
"""Values of a list in a query."""

_ETAG: Final = re.compile(r'(?:W/)?"(\d{1,16})"', re.ASCII)
_DIGITS: Final = re.compile(r"-?\d{1,16}", re.ASCII)


# ----------------------------------------------------------------------------- coming in


async def body_of(receive: Receive, headers: Headers, limit: int) -> bytes:
    """The body; RequestTooLarge as soon as it has more bytes than it may."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise RequestTooLarge(limit)
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise RequestTooLarge(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


async def members_of(
    operation: Operation, in_path: Mapping[str, str], scope: Scope, receive: Receive
) -> dict[str, Any]:
    """The members of a request: of its path, its query or its body, and its headers."""
    headers = Headers(scope=scope)
    is_import = operation.name == "journal.import_objects"
    body = await body_of(receive, headers, MAX_IMPORT if is_import else MAX_BODY)
    kinds = kinds_of(operation)
    query = parameters(scope["query_string"])
    if has_body(operation):
        given = _document(headers, body, is_import=is_import)
        if query and not is_import:
            raise InvalidRecord(f"$.{next(iter(query))}", "members of this stand in its body")
        given |= {name: _value(kinds, name, values) for name, values in query.items()}
    else:
        given = {name: _value(kinds, name, values) for name, values in query.items()}
    for name, segment in in_path.items():
        value = _value(kinds, name, [segment])
        if name in given and given[name] != value:
            raise InvalidRecord(f"$.{name}", "it is another one than in the path")
        given[name] = value
    return given | _of_headers(operation, headers, given)


def has_body(operation: Operation) -> bool:
    """Whether its members stand in a body, or in the query."""
    return operation.method not in ("GET", "DELETE")


def _document(headers: Headers, body: bytes, *, is_import: bool) -> dict[str, Any]:
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if is_import and media_type == NDJSON:
        try:
            return {"objects": body.decode()}
        except UnicodeDecodeError:
            raise InvalidJson("the body", "it is not UTF-8") from None
    if not body and not media_type:
        return {}
    if media_type != JSON:
        raise MediaTypeRefused(f"{JSON} or {NDJSON}" if is_import else JSON)
    found = parse_json(body) if body else {}
    if not isinstance(found, dict):
        raise InvalidRecord("$", "the body is a JSON object")
    return found


def parameters(query: bytes) -> dict[str, list[str]]:
    """The parameters of a query, each with its values."""
    found: dict[str, list[str]] = {}
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_PARAMETERS,
        )
    except ValueError:
        raise InvalidJson("the query", "it is not a query in UTF-8") from None
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


def _value(kinds: Mapping[str, str], name: str, values: list[str]) -> Any:
    """The value of a parameter, as its kind says; one of no kind is refused by the request."""
    kind = kinds.get(name, "text")
    if len(values) > MAX_VALUES or any(len(value) > MAX_TEXT for value in values):
        raise InvalidRecord(f"$.{name}", "it is too long for a path or a query")
    if kind == "list":
        return values
    if len(values) > 1:
        raise InvalidRecord(f"$.{name}", "it is given more than once")
    (value,) = values
    if kind == "text" or (kind == "moment" and not _DIGITS.fullmatch(value)):
        return value
    try:
        return parse_json(value)
    except InvalidJson as refused:
        raise InvalidRecord(f"$.{name}", f"it is JSON here: {refused.why}") from None


@cache
def kinds_of(operation: Operation) -> Mapping[str, str]:
    """How each member is written in a query: as text, moment, list (repeated), or json."""
    return {
        str(found.alias): _kind(found.annotation)
        for found in operation.request.model_fields.values()
    }


def _kind(annotation: Any) -> str:
    kinds = {kind for kind in _plain_kinds(annotation) if kind is not NoneType}
    if list in kinds and len(kinds) == 1:
        return "list"
    if kinds <= {str}:
        return "text"
    return "moment" if kinds == {str, int} else "json"


def _plain_kinds(annotation: Any) -> set[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _plain_kinds(arguments[0])
    if origin in (Union, UnionType):
        return {kind for argument in arguments for kind in _plain_kinds(argument)}
    if origin is not None and origin not in (list, dict, tuple):  # a Literal, of texts
        return {str}
    return {origin or annotation}


def _of_headers(operation: Operation, headers: Headers, given: Mapping[str, Any]) -> dict[str, Any]:
    """An idempotency key, and the version that must be there."""
    found: dict[str, Any] = {}
    fields = operation.request.model_fields
    if (key := headers.get("idempotency-key")) is not None:
        if "idempotency_key" not in fields:
            raise InvalidRecord("Idempotency-Key", "this operation takes none")
        found["idempotencyKey"] = key
    matches, is_new = headers.get("if-match"), headers.get("if-none-match")
    if not operation.reads_only and (matches is not None or is_new is not None):
        if "expected_version" not in fields:
            raise InvalidRecord("If-Match", "this operation compares no version")
        if is_new is not None and (is_new != "*" or matches is not None):
            raise InvalidRecord("If-None-Match", "it is *, and stands without If-Match")
        found["expectedVersion"] = 0 if matches is None else version_in(matches)
    for name, value in found.items():
        if name in given and given[name] != value:
            raise InvalidRecord(f"$.{name}", "the header says another one")
    return found


def version_in(etag: str) -> int:
    """The version that an entity tag names."""
    found = _ETAG.fullmatch(etag.strip())
    if found is None:
        raise InvalidRecord("If-Match", 'it is the ETag of an answer, such as "3"')
    return int(found[1])


# ------------------------------------------------------------------------------ going out


@dataclass(slots=True)
class HttpAnswer:
    """An answer that is sent whole."""

    status: int
    body: bytes = b""
    media_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    async def send(self, send: Send) -> None:
        """Send it."""
        headers = {**self.headers, "content-length": str(len(self.body))}
        if self.body:
            headers["content-type"] = self.media_type
        await send(started(self.status, headers))
        await send({"type": "http.response.body", "body": self.body})


SAFE: Final = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def started(status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    """The message that begins an answer."""
    return {
        "type": "http.response.start",
        "status": status,
        "headers": [
            (name.encode(), value.encode("latin-1", "replace"))
            for name, value in {**SAFE, **headers}.items()
        ],
    }


def json_bytes(value: object) -> bytes:
    """A result as JSON that is sent, and never hashed."""
    return orjson.dumps(plain_json(value))  # noqa: TID251 - sent


def problem_answer(problem: Problem) -> HttpAnswer:
    """An error as an answer."""
    headers = {}
    if problem.status == 401:  # noqa: PLR2004 - its own meaning
        headers["www-authenticate"] = 'Bearer realm="memoranda"'
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.code == "door.method_refused":
        headers["allow"] = str(problem.members["allowed"])
    return HttpAnswer(problem.status, json_bytes(problem.document()), PROBLEM, headers)
