"""A shorthand for what a database stores: the same bytes again when it is read.

**Bodies** leave out the passages that nearly all of them have (`ledger.passages`).

**Entries.** An entry has one form, so it is kept as its fields, hashes as bytes: a third of the
room. One with an actor that needs escapes, or with numbers beyond the usual, is kept
as it is; it begins with a brace, which no shorthand does.

Nothing is ever hashed over the shorthand. A code keeps its meaning for ever; new kinds get codes
that are still free.
"""

import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, Protocol

from memoranda.ledger import passages
from memoranda.ledger.codec import PLAIN as PLAIN_CODEC
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.entry import KINDS, PLAIN, Entry, chained_bytes, entry_bytes, entry_digest


class Shorthand(Protocol):
    """One way to write documents of one kind shorter."""

    def pack(self, document: bytes) -> bytes:
        """The shorthand of canonical JSON."""
        ...

    def unpack(self, shorthand: bytes) -> bytes:
        """The bytes that `pack` was given."""
        ...


def packed(document: bytes, form: Shorthand) -> bytes:
    """The shorthand of canonical JSON."""
    return form.pack(document)


def unpacked(shorthand: bytes, form: Shorthand) -> bytes:
    """The bytes that `packed` was given."""
    return form.unpack(shorthand)


# --------------------------------------------------------------------------------- bodies

BODY: Final[Shorthand] = passages
"""For bodies."""


class InShorthand:
    """Bodies in shorthand, and that as a codec stores it: what is encrypted has no passages."""

    def __init__(self, codec: BodyCodec) -> None:
        self._codec = codec
        self.is_plain: Final = codec is PLAIN_CODEC
        """Whether the shorthand is stored as it is."""
        self.unpack: Final[Callable[[bytes], bytes]] = (
            passages.unpack if self.is_plain else self._decoded
        )
        """Gives the body of what is stored; BodyUnreadable if the codec says so."""

    def pack(
        self, body: bytes, subject: str | None, first: passages.WrittenBody | None = None
    ) -> bytes:
        """What is stored of a body; `first` is how it was written, unless it was replaced since."""
        is_at_hand = first is not None and first.body is body and first.shorthand
        shorthand = first.shorthand if first is not None and is_at_hand else passages.pack(body)
        return shorthand if self.is_plain else self._codec.pack(shorthand, subject)

    def _decoded(self, stored: bytes) -> bytes:
        return BODY.unpack(self._codec.unpack(stored))

    def compacted(self, stored: bytes) -> bytes | None:
        """The same body in fewer bytes; None if it can't be had, or was before."""
        shorter = passages.compacted(self._codec.unpack(stored))
        packed = None if shorter is None else self._codec.pack(shorter, None)
        return packed if packed is not None and len(packed) < len(stored) else None


# -------------------------------------------------------------------------------- entries

CODES: Final = {
    "create": 1,
    "consolidate": 2,
    "invalidate": 3,
    "archive": 4,
    "policy_change": 5,
    "conformance_break": 6,
    "checkpoint": 7,
    "maintenance": 8,
    "proposal": 9,
    "decision": 10,
    "world": 11,
    "execution": 12,
    "effect": 13,
    "erasure": 14,
    "trace": 15,
    "cycle": 16,
    "learning": 17,
    "job": 18,
}
_KINDS: Final = {code: kind for kind, code in CODES.items()}
FIELDS: Final = struct.Struct(">BqQ32s32s")  # kind, at, seq, digest, previous; then the actor
_BRACE: Final = b"{"

assert CODES.keys() == KINDS  # noqa: S101 - a new kind needs a code


class _Fields:
    def pack(self, document: bytes) -> bytes:
        plain = PLAIN.fullmatch(document)
        if plain is None:
            return document
        actor, at, digest, kind, previous, seq = plain.groups()
        fields = FIELDS.pack(
            CODES[kind.decode()],
            int(at),
            int(seq),
            bytes.fromhex(digest.decode()),
            bytes.fromhex(previous.decode()),
        )
        return fields + actor

    def unpack(self, shorthand: bytes) -> bytes:
        if shorthand[:1] == _BRACE:
            return shorthand
        try:
            code, at, seq, digest, previous = FIELDS.unpack_from(shorthand)
            actor = shorthand[FIELDS.size :].decode()
            kind = _KINDS[code]
        except (struct.error, UnicodeDecodeError, KeyError):
            return shorthand  # no shorthand of ours: whoever reads the entry says that it is none
        return chained_bytes(seq, kind, at, actor, digest, previous)


ENTRY: Final[Shorthand] = _Fields()
"""For entries."""

_DIGEST: Final = slice(17, 49)  # where it stands in `FIELDS`


def digest_in(shorthand: bytes) -> bytes | None:
    """The body digest in the shorthand of an entry; None if it is none."""
    if shorthand[:1] == _BRACE:
        return entry_digest(shorthand)
    return shorthand[_DIGEST] if len(shorthand) > FIELDS.size else None


def first_bytes(kinds: Iterable[str]) -> list[bytes]:
    """How an entry of one of these kinds may begin; one kept as it is begins with a brace."""
    return [bytes([CODES[kind]]) for kind in sorted(kinds)] + [_BRACE]


MOST: Final = 10**15
"""Numbers from here on, and below its negative, have no shorthand."""


@lru_cache(maxsize=1024)
def plain_actor(actor: str) -> bytes | None:
    """An actor as it stands at the end of the shorthand; None if that has none."""
    raw = entry_bytes(Entry(0, "create", 0, actor, "0" * 64, "0" * 64))
    return actor.encode() if PLAIN.fullmatch(raw) else None
