"""A codec that encrypts with a key for each subject, for tests alone: no cipher to be trusted."""

from itertools import count

from memoranda.identity import sha256
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import BodyUnreadable

MARK = b"\x7ftoy"
_NAME, _NONCE, _CHECK = 16, 16, 8


class ToyCodec:
    """What it stores is the mark, which key, a nonce, a check, and the body under a keystream.

    Keys are made when they are first needed; `forget` loses one. What has no mark was there
    before, and is left as it is.
    """

    def __init__(self) -> None:
        self.keys: dict[bytes, bytes] = {}

    def pack(self, body: bytes, subject: str | None) -> bytes:
        """What is stored of a body."""
        name = name_of(subject)
        key = self.keys.setdefault(name, Randomness().take(32))
        nonce = Randomness().take(_NONCE)
        return MARK + name + nonce + _check(key, body) + _crypted(key, nonce, body)

    def unpack(self, stored: bytes) -> bytes:
        """The body; BodyUnreadable without its key, or if it was changed."""
        if not stored.startswith(MARK):
            return stored
        rest = memoryview(stored)[len(MARK) :]
        name, rest = bytes(rest[:_NAME]), rest[_NAME:]
        nonce, rest = bytes(rest[:_NONCE]), rest[_NONCE:]
        check, crypted = bytes(rest[:_CHECK]), bytes(rest[_CHECK:])
        key = self.keys.get(name)
        if key is None:
            raise BodyUnreadable("its key is missing")
        body = _crypted(key, nonce, crypted)
        if _check(key, body) != check:
            raise BodyUnreadable("it was changed")
        return body

    def forget(self, subject: str | None) -> None:
        """Lose the key of a subject."""
        del self.keys[name_of(subject)]


def name_of(subject: str | None) -> bytes:
    """The name of a subject's key."""
    return sha256(b"nobody" if subject is None else b"subject " + subject.encode())[:_NAME]


def key_of(stored: bytes) -> bytes:
    """The name of the key that a stored body needs."""
    return stored.removeprefix(MARK)[:_NAME]


def _check(key: bytes, body: bytes) -> bytes:
    return sha256(b"check" + key + body)[:_CHECK]


def _crypted(key: bytes, nonce: bytes, text: bytes) -> bytes:
    stream = b""
    for block in count():
        if len(stream) >= len(text):
            break
        stream += sha256(key + nonce + block.to_bytes(8))
    return bytes(one ^ other for one, other in zip(text, stream, strict=False))
