"""Calls of operations on a server: arguments become a request, an answer becomes a value."""

import inspect
import json
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import fields
from functools import cache
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote

from pydantic.alias_generators import to_camel

from memoranda.app.remote.reasoning import memory_in
from memoranda.app.remote.values import Values, is_said, not_over_the_wire, wire_value
from memoranda.app.service.operation import Operation
from memoranda.app.service.operations import OPERATIONS
from memoranda.app.service.vocabulary import NO_WIRE
from memoranda.journeys.records.codec import DataCodec
from memoranda.kernel.ambient import reached
from memoranda.kernel.errors import (
    InvalidJson,
    MemorandaError,
    RecordNotFound,
    StoreFailed,
    StoreReadOnly,
)
from memoranda.kernel.json import parse
from memoranda.outside.server import MemorandaServer, ServerAnswer

T = TypeVar("T")

PREFIX: Final = "/v1"


class RemoteHandle(Generic[T]):
    """One scope of a server, for whoever has the key."""

    def __init__(
        self,
        server: MemorandaServer,
        codec: DataCodec[T],
        *,
        scope: str | None,
        actor: str | None,
        read_only: bool,
        identify: Callable[[Any], None],
    ) -> None:
        self._server = server
        self.codec = codec
        self._values = Values(codec)
        named = {"memoranda-scope": scope, "memoranda-actor": actor}
        self._headers = {name: quoted(value) for name, value in named.items() if value is not None}
        self._read_only = read_only
        self._identify = identify
        self.memory: Any = None
        """The public handle, which learns whose it is."""
        self.closes: Callable[[], Awaitable[None]] | None = None
        """Closes the database, where that was opened for this handle alone."""
        self.recalled: list[str] = []
        """The traces of what was recalled here since the last proposal."""

    async def call(self, name: str, members: Mapping[str, Any]) -> Any:
        """What an operation comes to; whatever the server refuses is raised as it is there."""
        operation = OPERATIONS[name]
        if self._read_only and not (operation.reads_only or members.get("dryRun")):
            raise StoreReadOnly(self._server.url, "it was opened with read_only")
        answer = await self._server.ask(**self._request(operation, members))
        if answer.status >= 300:  # noqa: PLR2004 - not well
            error = error_of(answer, self._server.url)
            if operation.finds and isinstance(error, RecordNotFound):
                return None
            raise error
        read = self._values.read(operation.answers, parse(answer.body) if answer.body else None)
        if operation.reads_only:
            reached(memory_in(read))
        return read

    async def stream(self, name: str, members: Mapping[str, Any]) -> AsyncGenerator[Any, None]:
        """The items of a stream, one by one."""
        operation = OPERATIONS[name]
        lines = self._server.lines(**self._request(operation, members))
        async with aclosing(lines):
            async for line in lines:
                if line.status >= 300:  # noqa: PLR2004
                    raise error_of(line, self._server.url)
                body = line.body
                if operation.stream == "lines":
                    yield body + b"\n"
                    continue
                if operation.stream == "events":
                    if not body.startswith(b"data: "):
                        continue
                    body = body.removeprefix(b"data: ")
                read = self._values.read(operation.answers, parse(body))
                reached(memory_in(read))
                yield read

    def _request(self, operation: Operation, members: Mapping[str, Any]) -> dict[str, Any]:
        left = dict(members)
        segments = [
            quote(_text(left.pop(part[1:-1])), safe="") if part.startswith("{") else part
            for part in operation.path.split("/")
        ]
        request: dict[str, Any] = {
            "method": operation.method,
            "path": PREFIX + "/".join(segments),
            "headers": self._headers,
        }
        if operation.method in ("GET", "DELETE"):
            return request | {"query": list(_query(left))}
        headers = {**self._headers, "content-type": "application/json"}
        return request | {"body": _json(left).encode(), "headers": headers}

    async def open(self) -> None:
        """Tell the public handle whose it is: the server was asked when it was connected to."""
        self._identify(self.memory)

    async def close(self) -> None:
        """Close the database, if it was opened for this handle alone."""
        if self.closes is not None:
            await self.closes()


def quoted(value: str) -> str:
    """A name as it stands in a header: its UTF-8 bytes, percent-encoded beyond ASCII."""
    return quote(value, safe=" !#$&'()*+,/:;=?@[]^_`{|}~\"<>\\")


def _query(members: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in members.items():
        if value is None:
            continue  # in a query, none is said by nothing
        for one in value if isinstance(value, list) else [value]:
            yield name, _text(one)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    """JSON that is sent, and never hashed: a large float stays one, and no integer."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)  # noqa: TID251 - sent


def arguments_in(verb: Any, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a verb by their names; what is the default anyway is left out."""
    signature = inspect.signature(verb)
    bound = signature.bind(None, *given, **named).arguments
    found: dict[str, Any] = {}
    for name, value in list(bound.items())[1:]:
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_KEYWORD:
            found |= value
        elif value is not parameter.default:
            found[name] = value
    return found


def wire_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments under the names of the wire, as JSON; CapabilityMissing for what is code."""
    found = {}
    for name, value in members.items():
        if name in NO_WIRE:
            raise not_over_the_wire(name)
        if is_said(value):
            found[to_camel(name)] = (
                b64encode(value).decode() if isinstance(value, bytes) else wire_value(value)
            )
    return found


# --------------------------------------------------------------------------------- errors


@cache
def _by_code() -> Mapping[str, type[MemorandaError]]:
    found: dict[str, type[MemorandaError]] = {}

    def walk(kind: type[MemorandaError]) -> None:
        found.setdefault(kind.code, kind)
        for below in kind.__subclasses__():
            walk(below)

    walk(MemorandaError)
    return found


def error_of(answer: ServerAnswer, url: str) -> MemorandaError:
    """The error that a problem stands for; StoreFailed for an answer that is none of ours."""
    try:
        problem = parse(answer.body)
        kind = _by_code()[problem["code"]]
        detail = problem["detail"]
    except (InvalidJson, KeyError, TypeError):
        return StoreFailed(url, f"the server answered {answer.status}")
    said = problem.get("members", {})
    known = {}
    for found in fields(kind):
        if found.name not in said:
            known[found.name] = _stand_in(found.name, str(found.type), url, detail)
        else:
            value = said[found.name]
            known[found.name] = tuple(value) if isinstance(value, list) else value
    return kind(**known)


def _stand_in(name: str, kind: str, url: str, detail: str) -> Any:
    """What an error says of the server's inside, which it does not tell."""
    if kind.startswith("tuple"):
        return ()
    if kind in ("int", "float"):
        return 0
    return url if name in ("database", "anchor", "where") else detail
