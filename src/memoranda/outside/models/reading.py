"""What a server sends, read within bounds: so many bytes, so long, whatever it means to send.

The bytes are taken as they come. What a server says of them (a compression, a character set) is not
followed: neither was asked for, a compressed answer may be a thousand times as long as what was
sent, and both JSON and a stream of events are UTF-8.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from memoranda.outside.models.answers import Refused

if TYPE_CHECKING:
    import httpx2

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
    """The data of each server-sent event, as it comes; Refused for what is no stream of them.

    1. the next event comes within so many seconds; comments keep a connection, and say nothing
    2. all of them come within `LONGEST` times as many, and within the limit of bytes
    3. what is not ended by an empty line when the server has ended is the last one
    """
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() != _EVENTS:
        raise Refused("its answer is no stream of events")
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
        """The events that end in this piece."""
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
