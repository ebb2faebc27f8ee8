"""Where a model is, and which environment variable holds its key."""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.kernel.json import JsonValue, storable
from memoranda.plans.models import Settings
from memoranda.text.frame import quotable

if TYPE_CHECKING:
    import httpx2


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_KEY: Final = re.compile(r"[!-~]+", re.ASCII)
_TRUSTING_NOBODY: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For what is not encrypted: to load the certificates that it needs none of takes a while."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that was looked at; the key itself is never held here."""

    url: str
    key_variable: str | None
    is_loopback: bool
    _environment: Mapping[str, str] = field(repr=False)

    @classmethod
    def of(
        cls,
        base_url: str,
        model: str,
        key_variable: str | None,
        environment: Mapping[str, str],
        below: str = "chat/completions",
    ) -> "Endpoint":
        """The endpoint below an address such as ``https://api.example.org/v1``.

        1. it is http or https, with a host, and without a user, a query or a fragment
        2. a key is named by its variable, and never sent unencrypted to another machine
        """
        # 1.
        try:
            parts = urlsplit(base_url)
            parts.port  # noqa: B018 - says whether it is one
        except ValueError:
            raise ModelFailed(model, "its address is not a URL") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ModelFailed(model, "its address does not begin with http:// or https://")
        if parts.username is not None or parts.query or parts.fragment:
            raise ModelFailed(model, "its address holds a user, a query or a fragment")
        # 2.
        if key_variable is not None and not _VARIABLE.fullmatch(key_variable):
            raise ModelFailed(model, "the variable that is to hold its key has no valid name")
        is_loopback = is_this_machine(parts)
        if key_variable is not None and parts.scheme == "http" and not is_loopback:
            raise ModelFailed(model, "its key would be sent unencrypted: use https://")
        path = f"{parts.path.rstrip('/')}/{below}"
        url = parts._replace(path=path).geturl()  # its scheme in lower case
        return cls(url, key_variable, is_loopback, environment)

    @property
    def is_encrypted(self) -> bool:
        """Whether what is sent can't be read on the way."""
        return self.url.startswith("https:")

    def key(self, model: str) -> str | None:
        """The key, as the environment has it now; None if the model needs none."""
        if self.key_variable is None:
            return None
        key = self._environment.get(self.key_variable, "").strip()
        if not key:
            raise ModelFailed(model, f"its key is not set: put it into {self.key_variable}")
        if not _KEY.fullmatch(key):
            raise ModelFailed(model, f"what is in {self.key_variable} can't be a key")
        return key

    @asynccontextmanager
    async def posted(
        self, model: str, document: JsonValue, seconds: float, accept: str = "application/json"
    ) -> "AsyncIterator[httpx2.Response]":
        """The response to a document, whatever its status; no redirect is followed."""
        key = self.key(model)
        headers = {
            "accept": accept,
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": "memoranda",
        } | ({} if key is None else {"authorization": f"Bearer {key}"})
        async with httpx2_module().AsyncClient(
            timeout=seconds,
            follow_redirects=False,
            trust_env=not self.is_loopback,  # no proxy to this machine
            verify=True if self.is_encrypted else _TRUSTING_NOBODY,
        ) as client:
            content = canonical_bytes(document)
            request = client.build_request("POST", self.url, content=content, headers=headers)
            async with asyncio.timeout(seconds):  # the client's own is for each read
                response = await client.send(request, stream=True)
            async with aclosing(response):
                yield response


def httpx2_module() -> ModuleType:
    try:
        import httpx2  # noqa: PLC0415 - an extra: only who asks a model needs it
    except ModuleNotFoundError as missing:
        raise DependencyMissing("httpx2", "models") from missing
    return httpx2


def is_this_machine(parts: SplitResult) -> bool:
    """Whether an address is of this machine."""
    host = parts.hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# ------------------------------------------------------------------------------------------------
# What an OpenAI-compatible endpoint answers, read strictly; and why it refused.

_TOO_OFTEN: Final = 429
_NOT_ALLOWED: Final = (401, 403)
_LONGEST: Final = 200
_LONGEST_WAIT: Final = 40
_REVEALING: Final = 6
"""So many characters of a key in a row give it away."""


class Refused(Exception):
    """Why an answer can't be used; it becomes a ModelFailed."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class AnswerPiece(NamedTuple):
    """A piece of an answer, and whether the model says that it is the last."""

    text: str
    is_last: bool


def whole_answer(body: JsonValue, settings: Settings) -> str:
    """The text of an answer; Refused if it has none, or was cut."""
    choice = _choice(body)
    message = choice.get("message") if choice is not None else None
    content = message.get("content") if isinstance(message, dict) else None
    if choice is None or not isinstance(content, str):
        raise Refused("its answer has no text at choices[0].message.content")
    _check_end(choice.get("finish_reason"), settings)
    return _kept(content)


def piece_of(event: JsonValue, settings: Settings) -> AnswerPiece:
    """The text of an event, which is empty where the event carries none, such as counts."""
    if isinstance(event, dict) and event.get("error") is not None:
        raise Refused("it broke off with an error")
    if isinstance(event, dict) and event.get("choices") == []:
        return AnswerPiece("", is_last=False)
    choice = _choice(event)
    delta = choice.get("delta") if choice is not None else None
    if choice is None or not isinstance(delta, dict):
        raise Refused("a piece of its answer has no choices[0].delta")
    content = delta.get("content")
    if content is not None and not isinstance(content, str):
        raise Refused("a piece of its answer is not a text")
    end = choice.get("finish_reason")
    _check_end(end, settings)
    return AnswerPiece(_kept(content or ""), is_last=end is not None)


def refusal_of(
    status: int, wait: str | None, body: JsonValue, key: str | None, variable: str | None
) -> str:
    """Why a server refused: the status, how long to wait, and its own words without the key."""
    if status == _TOO_OFTEN:
        waited = "" if wait is None or _reveals(wait, key) else _plain(wait, _LONGEST_WAIT)
        if waited:
            unit = " s" if waited.isdecimal() else ""
            return f"it is asked too often (429): retry after {waited}{unit}"
        return "it is asked too often (429)"
    if status in _NOT_ALLOWED:
        which = f"the key in {variable}" if variable else "a request without a key"
        return f"it does not accept {which} ({status})"
    said = _said(body, key)
    return f"it answered with status {status}" + (f", saying: {said}" if said else "")


def _choice(body: JsonValue) -> dict[str, JsonValue] | None:
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _check_end(end: JsonValue, settings: Settings) -> None:
    """Refuse an answer that was cut, but for one that the plan itself cut short."""
    if end == "length" and settings.max_tokens is None:
        raise Refused("its answer was cut: it is longer than the model allows")
    if end == "content_filter":
        raise Refused("its answer was cut by a filter")


def _kept(content: str) -> str:
    if not storable(content):
        raise Refused("its answer holds U+0000 or a lone surrogate")
    return content


def _said(body: JsonValue, key: str | None) -> str:
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str) or _reveals(message, key):
        return ""
    return _plain(message, _LONGEST)


def _reveals(message: str, key: str | None) -> bool:
    """Whether a message holds so much of the key, in whatever case and spacing."""
    if key is None:
        return False
    key, said = key.lower(), "".join(text for text in message if "!" <= text <= "~").lower()
    parts = {key[at : at + _REVEALING] for at in range(max(1, len(key) - _REVEALING + 1))}
    return any(part in said for part in parts)


def _plain(text: str, longest: int) -> str:
    line = " ".join(quotable(text[: longest * 4]).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


# ------------------------------------------------------------------------------------------------
# What a server sends, read within bounds: so many bytes, so long, whatever it means to send.
#
# The bytes are taken as they come. What a server says of them (a compression, a character set) is
# not followed: neither was asked for, a compressed answer may be a thousand times as long as what
# was sent, and both JSON and a stream of events are UTF-8.

MOST_BYTES: Final = 16 * 1024 * 1024
"""Bytes of an answer that comes whole, and of one event."""

MOST_STREAMED: Final = 4 * MOST_BYTES
"""Bytes of an answer in pieces: each of them has much around it."""

LONGEST: Final = 10
"""How many times as long as it may be silent a model may take for an answer in pieces."""

_EVENTS: Final = "text/event-stream"


async def body_of(response: "httpx2.Response") -> bytes:
    """The body of a response; Refused beyond the limit."""
    return await joined(response.aiter_raw(), MOST_BYTES)


async def joined(pieces: AsyncIterable[bytes], most: int) -> bytes:
    """All pieces of an answer in one; Refused as soon as they have more bytes than that."""
    found, size = [], 0
    async for piece in pieces:
        size += len(piece)
        if size > most:
            raise Refused(f"its answer has more than {most:,} bytes")
        found.append(piece)
    return b"".join(found)


async def events_of(response: "httpx2.Response", seconds: float) -> AsyncGenerator[str]:
    """The data of each server-sent event, as it comes; Refused for anything but a stream of them.

    1. the next event comes within so many seconds; comments keep a connection, and say nothing
    2. all of them come within `LONGEST` times as many, and within the limit of bytes
    3. what is not ended by an empty line when the server has ended is the last one
    """
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != _EVENTS:
        raise Refused("its answer is not a stream of events")
    loop, reader, size = asyncio.get_running_loop(), _Events(), 0
    heard = loop.time()
    end = heard + LONGEST * seconds
    async with aclosing(response.aiter_raw()) as pieces:
        while True:
            # 1. and 2.
            async with asyncio.timeout_at(min(heard + seconds, end)):
                piece = await anext(pieces, None)
            if piece is None:
                break
            size += len(piece)
            if size > MOST_STREAMED:
                raise Refused(f"its answer has more than {MOST_STREAMED:,} bytes")
            for event in reader.read(piece):
                yield event
                heard = loop.time()
    # 3.
    for event in reader.read(b"\n\n"):
        yield event


class _Events:
    """Puts events together from pieces that end anywhere; each byte is looked at once."""

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._data: list[str] = []
        self._size = 0
        self._is_after_return = False
        self._is_first = True

    def read(self, piece: bytes) -> Iterator[str]:
        if self._is_after_return:
            piece = piece.removeprefix(b"\n")  # of one line end in two halves
        self._is_after_return = piece.endswith(b"\r")
        first, *others = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._keep(first)
        for other in others:
            line = b"".join(self._line)
            self._line = []
            yield from self._ended(line)
            self._keep(other)

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MOST_BYTES:
            raise Refused(f"a piece of its answer has more than {MOST_BYTES:,} bytes")
        self._line.append(part)

    def _ended(self, line: bytes) -> Iterator[str]:
        """One line; an empty one ends an event. Other fields than data, and comments, go."""
        try:
            text = line.decode("utf-8-sig" if self._is_first else "utf-8")
        except UnicodeDecodeError:
            raise Refused("its answer is not UTF-8") from None
        self._is_first = False
        if text:
            name, _, value = text.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            return
        if self._data:
            yield "\n".join(self._data)
        self._data, self._size = [], 0
