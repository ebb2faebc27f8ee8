"""Canonical JSON (RFC 8785): one value has one byte string, everywhere and for ever.

orjson writes the same bytes as RFC 8785 but for a few things, at fifty times the speed of the
rfc8785 package. So most values go through orjson, and the few things are looked for:

=============================================  =========================================
where orjson differs from RFC 8785             what is done
=============================================  =========================================
a float that RFC 8785 writes as an integer     mended in a copy: the integer
a float that is not written as plain decimals  mended in a copy: rfc8785's own bytes
NaN and infinity (orjson writes null)          refused
a type that is not plain JSON (UUID, Enum...)  left to rfc8785, or refused
a key beyond U+FFFF (order is by UTF-16 unit)  left to rfc8785
=============================================  =========================================

Only plain decimals are left to orjson's float writer. Its releases differ in exponents (3.11
writes ``1e21``, 3.13 writes ``1e+21``), and a digest must not depend on a release.

What is refused is exactly what `kernel.json.check` refuses, and a document beyond the size limit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256 as _sha256
from typing import Any, Final, Self

import orjson
import rfc8785

from memoranda.kernel.errors import InvalidJson, InvalidProof
from memoranda.kernel.json import MAX_BYTES, MAX_DEPTH, MAX_INTEGER, JsonValue, check

_OPTIONS: Final = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_PLAIN: Final[frozenset[type]] = frozenset({str, int, bool, type(None)})
_PLAIN_FLOAT_FROM: Final = 1e-5
_PLAIN_FLOAT_BELOW: Final = 1e15
_LAST_BMP_CHARACTER: Final = "\uffff"
_BYTES_OF_BMP_TEXT: Final = bytes(range(0xF0))

# Every digit becomes 0, and whatever may stand before a number becomes a colon: then one search
# finds the numbers that are written with 16 digits or more and no point before them.
_DIGITS_AND_WHAT_PRECEDES: Final = bytes.maketrans(b"123456789[,-", b"000000000:::")
_LONG_NUMBER: Final = b":" + b"0" * len(str(MAX_INTEGER))


def canonical_bytes(value: JsonValue) -> bytes:
    """The bytes of RFC 8785 for a value, or InvalidJson with the place and the reason (D-MEM-1)."""
    try:
        kind = type(value)
        mended = value if kind in _PLAIN else _MEND[kind](value, 1)
        raw = orjson.dumps(mended, option=_OPTIONS)  # noqa: TID251 - what it would write otherwise is mended
    except (KeyError, TypeError, ValueError):  # not a plain type; refused by orjson; by rfc8785
        raw = None
    if raw is None or not (
        raw.isascii() or not raw.translate(None, _BYTES_OF_BMP_TEXT) or _sorts_alike(value)
    ):
        check(value)
        raw = rfc8785.dumps(value)
    # U+0000, or a backslash before a harmless "u0000"; most documents have no backslash at all.
    elif b"\\" in raw and rb"\u0000" in raw:
        check(value)
    if len(raw) > MAX_BYTES:
        raise _too_long(raw)
    return raw


def canonical_text(document: bytes) -> bytes:
    """The canonical JSON of a text that is canonical JSON itself.

    Such a text has its control characters escaped, so that nothing else is left to escape in it.
    """
    escaped = document.replace(b"\\", rb"\\") if b"\\" in document else document
    raw = b'"%b"' % escaped.replace(b'"', rb"\"")
    if len(raw) > MAX_BYTES:
        raise _too_long(raw)
    return raw


def decode(raw: bytes) -> JsonValue:
    """The value of bytes that `canonical_bytes` made; its canonical bytes are these again.

    Documents from elsewhere go through `kernel.json.parse`, which is strict.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as refused:
        raise InvalidJson(f"character {refused.pos}", "stored bytes that are not JSON") from None
    # RFC 8785 writes the float 1e16 as 10000000000000000. Read as an integer it would be refused.
    if type(value) is int or _LONG_NUMBER in raw.translate(_DIGITS_AND_WHAT_PRECEDES):
        return _large_as_float(value)
    return value


def _too_long(raw: bytes) -> InvalidJson:
    return InvalidJson("$", f"a document of {len(raw):,} bytes (the limit is {MAX_BYTES:,})")


def is_canonical(value: JsonValue, raw: bytes, *, deepest: int) -> bool:
    """Whether bytes are the canonical JSON of the value that `decode` read from them.

    For what others wrote: nested up to `deepest`, and with U+0000, which we don't write.
    """
    try:
        return canonical_bytes(value) == raw
    except InvalidJson:
        pass
    try:
        return _depth(value) <= deepest and rfc8785.dumps(value) == raw
    except (rfc8785.CanonicalizationError, RecursionError):
        return False


def _depth(value: JsonValue) -> int:
    if type(value) is dict:
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if type(value) is list else 0


# ------------------------------------------------------------------------ writing


def _sorts_alike(value: JsonValue) -> bool:
    """Whether code points and UTF-16 units put the keys of a plain value in the same order."""
    if type(value) is dict:
        keys = "".join(value)
        if not keys.isascii() and max(keys) > _LAST_BMP_CHARACTER:
            return False
        return all(map(_sorts_alike, value.values()))
    if type(value) in (list, tuple):
        return all(map(_sorts_alike, value))
    return True


# ------------------------------------------------------------------------ mending
# A mended value is the value itself, or a copy, that orjson writes as RFC 8785 does. The caller's
# value is never touched. The check of the types in a container runs at the speed of C; Python
# iterates only where a container holds floats or further containers.


def _mended_object(members: dict[str, JsonValue], depth: int) -> dict[str, JsonValue]:
    if depth > MAX_DEPTH:
        raise ValueError(depth)  # `check` says where
    if _PLAIN.issuperset(map(type, members.values())):
        return members
    copy = members
    for key, member in members.items():
        kind = type(member)
        if kind not in _PLAIN:
            mended = _MEND[kind](member, depth + 1)
            if mended is not member:
                if copy is members:
                    copy = members.copy()
                copy[key] = mended
    return copy


def _mended_array(
    items: list[JsonValue] | tuple[JsonValue, ...], depth: int
) -> list[JsonValue] | tuple[JsonValue, ...]:
    if depth > MAX_DEPTH:
        raise ValueError(depth)  # `check` says where
    if _PLAIN.issuperset(map(type, items)):
        return items
    return [
        item if (kind := type(item)) in _PLAIN else _MEND[kind](item, depth + 1) for item in items
    ]


def _mended_float(number: float, _depth: int) -> object:
    if (
        _PLAIN_FLOAT_FROM <= number < _PLAIN_FLOAT_BELOW
        or -_PLAIN_FLOAT_BELOW < number <= -_PLAIN_FLOAT_FROM
    ):
        return int(number) if number.is_integer() else number
    return orjson.Fragment(rfc8785.dumps(number)) if number else 0


def _as_it_is(value: object, _depth: int) -> object:
    return value


_MEND: Final[dict[type, Callable[[Any, int], object]]] = {
    dict: _mended_object,
    list: _mended_array,
    tuple: _mended_array,
    float: _mended_float,
    **dict.fromkeys(_PLAIN, _as_it_is),
}


# ------------------------------------------------------------------------ reading


def _large_as_float(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            return {key: _large_as_float(member) for key, member in value.items()}
        case list():
            return [_large_as_float(item) for item in value]
        case int() if not -MAX_INTEGER <= value <= MAX_INTEGER:
            return float(value)
    return value


# ------------------------------------------------------------------------------------------------
# sha256, the one hash. Each hashed kind has its own digest function, next to that kind.


def sha256(data: bytes) -> bytes:
    """The 32 bytes of SHA-256 of some bytes."""
    return _sha256(data).digest()


def sha256_hex(data: bytes) -> str:
    """SHA-256 of some bytes, as 64 lower-case hexadecimal digits."""
    return _sha256(data).hexdigest()


# ------------------------------------------------------------------------------------------------
# A JSON value that nothing can change: its canonical bytes, and their digest.


@dataclass(frozen=True, slots=True)
class Frozen:
    """A value by its canonical bytes, made by `freeze` or `Frozen.stored`.

    Two are equal when their bytes are. The digest is always computed, never taken from someone.
    """

    canonical: bytes = field(repr=False)
    digest: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", sha256_hex(self.canonical))

    @classmethod
    def stored(cls, canonical: bytes, digest: str) -> Self:
        """What was frozen before, or InvalidProof where the bytes are not those of the digest."""
        frozen = cls(bytes(canonical))  # a driver may hand out a buffer that it fills again
        if frozen.digest != digest:
            raise InvalidProof(f"the bytes hash to {frozen.digest}, the digest says {digest}")
        return frozen

    def thaw(self) -> JsonValue:
        """A fresh value each time: what is done to it reaches nobody else."""
        return decode(self.canonical)


def freeze(value: JsonValue) -> Frozen:
    """Freeze a value as it is now, or refuse with InvalidJson; the original stays the caller's."""
    return Frozen(canonical_bytes(value))


# ------------------------------------------------------------------------------------------------
# What a thread is called in rows: a digest of its name.
#
# All that a thread is asked is whether it is the same; a digest has one length, and says nothing of
# a name that was erased.

THREAD_LENGTH: Final = 32
"""Hexadecimal digits of a thread's digest: 128 bits."""


def thread_digest(name: str) -> str:
    """The digest of a thread's name, such as the URI of a conversation."""
    return sha256_hex(name.encode(errors="surrogatepass"))[:THREAD_LENGTH]
