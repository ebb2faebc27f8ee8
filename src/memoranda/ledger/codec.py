"""The port through which every body passes on its way into a database and back.

What is hashed, chained and exported is the body itself; what a database stores is what a codec
makes of it. So one that encrypts, with a key for each data subject, changes nothing else.
"""

from collections.abc import Iterable
from typing import Any, Final, Protocol

from memoranda.identity import decode
from memoranda.kernel.errors import BodyUnreadable, InvalidInput


class BodyCodec(Protocol):
    """How bodies are stored. Several threads may ask at once.

    It is also given what was stored before it was in use, and knows its own by how it begins: what
    is stored plainly begins with a brace, or with a byte below 0x20.
    """

    def pack(self, body: bytes, subject: str | None) -> bytes:
        """What is stored of a body; `subject` is whom it is about, if it names somebody."""
        ...

    def unpack(self, stored: bytes) -> bytes:
        """The bytes that `pack` was given; BodyUnreadable if that can't be, or not any more."""
        ...


class _Plain:
    def pack(self, body: bytes, subject: str | None) -> bytes:  # noqa: ARG002 - it is a codec
        return body

    def unpack(self, stored: bytes) -> bytes:
        return stored


PLAIN: Final[BodyCodec] = _Plain()
"""Bodies are stored as they are."""


class Unreadable(bytes):
    """A body that could not be unpacked, as it is stored: damage, for who reads all there is."""

    why: str


class LenientCodec:
    """The same codec for an auditor: what it can't unpack is marked, not raised."""

    def __init__(self, codec: BodyCodec) -> None:
        self._codec = codec

    def pack(self, body: bytes, subject: str | None) -> bytes:
        return self._codec.pack(body, subject)

    def unpack(self, stored: bytes) -> bytes:
        """The body, or what is stored as `Unreadable`."""
        try:
            return self._codec.unpack(stored)
        except BodyUnreadable as refused:
            marked = Unreadable(stored)
            marked.why = refused.why
            return marked


def check_readable(bodies: Iterable[bytes | None]) -> None:
    """BodyUnreadable if one of these could not be unpacked: for who can't go on without it."""
    for body in bodies:
        if isinstance(body, Unreadable):
            raise BodyUnreadable(body.why)


def subject_of(body: bytes) -> str | None:
    """Whom a body is about, for one that comes without its row; damaged ones name nobody."""
    try:
        document: Any = decode(body)
        subject = document.get("subject")
    except (InvalidInput, AttributeError):
        return None
    return subject if isinstance(subject, str) else None
