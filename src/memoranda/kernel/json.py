"""Strict JSON: what is hashed must be what was sent, so what could be read in two ways is refused.

Refused, each with the place and the reason: a duplicate key, NaN and infinity, a lone surrogate,
U+0000 (PostgreSQL can't store it), an integer beyond ±(2^53-1) (others would round it), nesting
beyond 64, a document beyond the size limit, and whatever is not JSON at all.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from memoranda.kernel.errors import InvalidJson

JsonValue = Any
"""Any JSON value: str, int, float, bool, None, a list (or tuple) of them, a dict with str keys.

`Any`, because a recursive union can't say what a caller's own TypedDict or dict[str, str] is;
`check` says it at run time, with the path.
"""

MAX_INTEGER: Final = 2**53 - 1
MAX_DEPTH: Final = 64
MAX_BYTES: Final = 16 * 1024 * 1024
_MAX_DIGITS: Final = len(str(MAX_INTEGER))
_SHOWN: Final = 40
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_BRACKETS_OR_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')


def parse(document: str | bytes, *, max_bytes: int = MAX_BYTES) -> JsonValue:
    """The value of a JSON text, or InvalidJson with the place and the reason (D-MEM-1)."""
    text = _decoded(document, max_bytes)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_NotANumber,
            parse_int=_integer,
        )
    except json.JSONDecodeError as refused:
        where = f"line {refused.lineno} column {refused.colno}"
        raise InvalidJson(where, refused.msg[0].lower() + refused.msg[1:]) from None
    except RecursionError:
        raise InvalidJson(_where_too_deep(text), f"nested deeper than {MAX_DEPTH}") from None
    check(value)
    return value


def check(value: object, where: str = "$") -> None:
    """Refuse a Python value that is not our JSON, with the path to what is wrong (D-MEM-1)."""
    _check(value, where, 1)


def path(where: str, step: str | int) -> str:
    """The path one step further: ``$.a`` and ``b`` give ``$.a.b``."""
    if isinstance(step, int):
        return f"{where}[{step}]"
    if _PLAIN_KEY.fullmatch(step):
        return f"{where}.{step}"
    return f"{where}[{_shown(step)}]"


def storable(text: str) -> bool:
    """Whether every database can hold this text: no U+0000, no lone surrogate."""
    if text.isprintable():  # the common case: neither of the two can be printed
        return True
    try:
        return b"\x00" not in text.encode()
    except UnicodeEncodeError:
        return False


# ------------------------------------------------------------------------- values


def _check(value: object, where: str, depth: int) -> None:
    match value:
        case None | bool():
            return
        case str():
            _check_text(value, where)
        case int():
            if not -MAX_INTEGER <= value <= MAX_INTEGER:
                raise InvalidJson(where, "an integer beyond 2^53-1 (send it as a string)")
        case float():
            if not isfinite(value):
                raise InvalidJson(where, f"the number {value} (JSON has none)")
        case dict():
            _check_depth(where, depth)
            for key, member in value.items():
                if not isinstance(key, str):
                    raise InvalidJson(where, f"the key {key!r} is not a string")
                _check_text(key, where, "a key with ")
                _check(member, path(where, key), depth + 1)
        case list() | tuple():
            _check_depth(where, depth)
            for index, member in enumerate(value):
                _check(member, path(where, index), depth + 1)
        case _DuplicateKey(key, _):
            raise InvalidJson(path(where, key), "the key stands twice in one object")
        case _NotANumber(name):
            raise InvalidJson(where, f"the number {name} (JSON has none)")
        case _HugeInteger():
            raise InvalidJson(where, "an integer beyond 2^53-1 (send it as a string)")
        case _:
            kind = type(value).__qualname__
            raise InvalidJson(where, f"a value of type {kind} (carry it as a string or an object)")


def _check_depth(where: str, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidJson(where, f"nested deeper than {MAX_DEPTH}")


def _check_text(text: str, where: str, what: str = "") -> None:
    if "\x00" in text:
        raise InvalidJson(where, f"{what}the character U+0000 (PostgreSQL can't store it)")
    try:
        text.encode()
    except UnicodeEncodeError as refused:
        code = ord(text[refused.start])
        raise InvalidJson(where, f"{what}the lone surrogate U+{code:04X}") from None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


# -------------------------------------------------------------------------- texts
# The scanner of the standard library knows no paths. So its hooks leave a mark where
# something is wrong, and `check`, which walks the result anyway, says where the mark is.


@dataclass(frozen=True)
class _DuplicateKey:
    key: str
    members: object


@dataclass(frozen=True)
class _NotANumber:
    name: str


class _HugeInteger:
    pass


def _object(pairs: list[tuple[str, object]]) -> object:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counts = Counter(key for key, _ in pairs)
    twice = next(key for key, count in counts.items() if count > 1)
    return _DuplicateKey(twice, members)


def _integer(digits: str) -> object:
    # int() of a long run of digits is slow, and beyond 4,300 refused with another error.
    return int(digits) if len(digits.lstrip("-")) <= _MAX_DIGITS else _HugeInteger()


def _decoded(document: str | bytes, max_bytes: int) -> str:
    if isinstance(document, str):
        size = len(document) if document.isascii() else len(document.encode(errors="replace"))
        _check_size(size, max_bytes)
        return document
    _check_size(len(document), max_bytes)
    try:
        return document.decode()
    except UnicodeDecodeError as refused:
        raise InvalidJson(f"byte {refused.start}", "bytes that are not UTF-8") from None


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise InvalidJson("$", f"a document of {size:,} bytes (the limit is {max_bytes:,})")


def _where_too_deep(text: str) -> str:
    depth = 0
    for found in _BRACKETS_OR_STRING.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > MAX_DEPTH:
            return f"character {found.start()}"
    return "$"
