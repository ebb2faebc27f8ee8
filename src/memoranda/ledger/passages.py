"""The passages that nearly every object has, and the shorthand that leaves them out.

Canonical JSON has no byte below 0x20, because control characters are escaped. So these bytes are
free to stand for frequent passages, and an ordinary object takes half the room in a database. The
data that a statement says is not escaped a second time: SQL reads it as JSON, between 0x11 and
0x12. A body without a statement stays as it is.

Nothing is ever hashed over the shorthand. A code keeps its meaning for ever; new passages get codes
that are still free.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from memoranda.identity import canonical_bytes, canonical_text
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import BodyUnreadable

STATEMENT: Final = b'"statement":"'
TYPE: Final = b'","statement_type":"'
_AS_JSON: Final = b"\x11"
_AS_TEXT: Final = b"\x10"
_END: Final = b"\x12"
_COMPACT: Final = b"\x1f"
"""How a shorthand begins that was compressed since; no other does."""
_FORMAT_JSON: Final = b'"format":"json"'

BEFORE_STATEMENT: Final = (
    (b"\x01", b'{"applicability_scope":{"scope":"'),
    (b"\x02", b'"},"created_ms":'),
    (b"\x03", b'"format":"json","id":"'),
    (b"\x04", b'","nonce":"'),
    (b"\x05", b'","source_refs":[],'),
)
_AFTER: Final = (
    (b"\x06", b'SystemGeneratedStatement",'),
    (b"\x07", b'UserProvidedStatement",'),
    (b"\x08", b'"temporal_scope":"unknown","timestamp":"'),
    (b"\x0b", b'","trust":"unreviewed","type":"MemoryObject",'),
    (b"\x0c", b'"valid_from":null,"valid_to":null,"verdict_type":"Unanswered","version":"'),
)
_TEXT: Final = dict(BEFORE_STATEMENT + _AFTER)
_CODE: Final = {passage: code for code, passage in _AFTER}


# -------------------------------------------------------------------- what is written anew

_CREATED: Final = b'"},"created_ms":'
_NOT_CREATED: Final = b'"},'
_TEXT_ID: Final = b'"id":"'
_JSON_ID: Final = b'"format":"json","id":"'
_NONCE: Final = b'","nonce":"'
_SAYS: Final = b'","source_refs":[],' + STATEMENT
_LAST: Final = _TEXT[b"\x0c"]


class WrittenBody(NamedTuple):
    """A body that was just written, and its shorthand, if that was at hand."""

    body: bytes
    shorthand: bytes = b""


_written: Final[Callable[[tuple[bytes, bytes]], WrittenBody]] = partial(tuple.__new__, WrittenBody)


def ordinary_version(
    scope: bytes,
    id: str,
    data: bytes,
    tags: Sequence[str] | None,
    statement_type: bytes,
    at: int,
    created_ms: int,
    updated_ms: int,
    nonce: bytes,
    more: "FurtherMembers | None" = None,
) -> WrittenBody:
    """A version of which nothing is known but this; its shorthand is what `pack` makes of its body.

    `scope` and `statement_type` are as they stand between the quotes of JSON, `data` is canonical
    JSON; a first version has no further members. Every write of an agent waits for this.
    """
    scope_text, kind, then, short_scope, short_kind, short_then = _frame(scope, statement_type, at)
    listed = b"" if tags is None else _tags(tags)
    if id.isascii() and id.isprintable() and '"' not in id and "\\" not in id:
        name = id.encode()
    else:
        name = canonical_bytes(id)[1:-1]
    if data[:1] == b'"' and data != b'""':  # a text, which is its own statement
        before_id = short_before_id = _TEXT_ID
        said, mark, short = data[1:-1], _AS_TEXT, data[1:-1]
    else:
        before_id, short_before_id = _JSON_ID, b"\x03"
        said, mark, short = canonical_text(data)[1:-1], _AS_JSON, data
    if created_ms == updated_ms == at:
        created = short_created = _NOT_CREATED
        changed = b""
    else:
        moment = b"" if created_ms == at else b"%d," % created_ms
        created = _CREATED + moment if moment else _NOT_CREATED
        short_created = b"\x02" + moment if moment else _NOT_CREATED
        changed = b"" if updated_ms == at else b'"updated_ms":%d,' % updated_ms
    number = b"1"
    if more is not None:
        number = b"%d" % more.number
        if more.cause:
            created = b'"},"cause":"%b",%b' % (more.cause, created[3:])
            short_created = created
        if more.reason:
            nonce += b'","reason":"' + more.reason
        ended = b'"status":"%b",' % more.status if more.status else b""
        listed = b'%b"supersedes":"sha256:%b",%b' % (ended, more.supersedes, listed)
    return _written((
        b"".join((
            scope_text, created, before_id, name, _NONCE, nonce, _SAYS, said, kind, listed, then,
            changed, _LAST, number, b'"}',
        )),
        b"".join((
            short_scope, short_created, short_before_id, name, b"\x04", nonce, b"\x05", mark,
            short, short_kind, listed, short_then, changed, b"\x0c", number, b'"}',
        )),
    ))  # fmt: skip


class FurtherMembers(NamedTuple):
    """What an ordinary version has that follows another; texts as they stand between quotes."""

    number: int
    supersedes: bytes
    """The digest of the version before."""
    reason: bytes = b""
    cause: bytes = b""
    status: bytes = b""
    """What became of it; nothing, while it is active."""


@lru_cache(maxsize=64)  # those of a batch are the same
def _frame(scope: bytes, statement_type: bytes, at: int) -> tuple[bytes, ...]:
    """What stands around the members that differ in a batch, in a body and in its shorthand."""
    kind, time = statement_type + b'",', format_time(at).encode()
    return (
        _TEXT[b"\x01"] + scope,
        TYPE + kind,
        _TEXT[b"\x08"] + time + _TEXT[b"\x0b"],
        b"\x01" + scope,
        _END + _CODE.get(kind, kind),
        b"\x08" + time + b"\x0b",
    )


def _tags(tags: Sequence[str]) -> bytes:
    return b'"tags":[%b],' % b",".join(map(_quoted, tags))


_quoted: Final = lru_cache(maxsize=4096)(canonical_bytes)


# ---------------------------------------------------------------------- what is there


def pack(body: bytes) -> bytes:
    """The shorthand of a body."""
    # The last ones: members of meta may have the same names, and come before.
    end = body.rfind(TYPE)
    start = body.rfind(STATEMENT, 0, end)
    if start < 0 or end < 0:
        return body
    before, after = body[:start], body[end + len(TYPE) :]
    said, mark = body[start + len(STATEMENT) : end], _AS_TEXT
    if _FORMAT_JSON in before:
        data = said.replace(b'\\"', b'"')
        if b"\\" in data:  # something else is escaped, too: a backslash, say
            data = b"\\".join([part.replace(b'\\"', b'"') for part in said.split(b"\\\\")])
        if _escaped(data) == said:
            said, mark = data, _AS_JSON
    for code, passage in BEFORE_STATEMENT:
        before = before.replace(passage, code, 1)
    for code, passage in _AFTER:
        after = after.replace(passage, code, 1)
    return b"".join((before, mark, said, _END, after))


def compacted(shorthand: bytes) -> bytes | None:
    """A shorthand in fewer bytes, for what is long and seldom read; None if it was made before."""
    return None if shorthand[:1] == _COMPACT else _COMPACT + zlib.compress(shorthand)


def unpack(shorthand: bytes) -> bytes:
    """The body that `pack` was given; BodyUnreadable if it was compacted, and is damaged."""
    if shorthand[:1] == _COMPACT:
        try:
            shorthand = zlib.decompress(shorthand[1:])
        except zlib.error as damaged:
            raise BodyUnreadable(f"what was compacted is damaged: {damaged}") from None
    front, end, after = shorthand.partition(_END)
    if not end:
        return shorthand
    before, is_json, said = front.partition(_AS_JSON)
    if is_json:
        said = _escaped(said)
    else:
        before, _, said = front.partition(_AS_TEXT)
    for code, passage in BEFORE_STATEMENT:
        before = before.replace(code, passage, 1)
    for code, passage in _AFTER:
        after = after.replace(code, passage, 1)
    return b"".join((before, STATEMENT, said, TYPE, after))


def _escaped(data: bytes) -> bytes:
    return data.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
