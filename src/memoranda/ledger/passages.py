"""The passages that nearly every object has, and the shorthand that leaves them out.

Canonical JSON has no byte below 0x20, because control characters are escaped. So these bytes are
free to stand for frequent passages, and an ordinary object takes half the room in a database. The
data that a statement says is not escaped a second time: SQL reads it as JSON, between 0x11 and
0x12. A body without a statement stays as it is.

Nothing is ever hashed over the shorthand. A code keeps its meaning for ever; new passages get codes
that are still free.
"""

from typing import Final, NamedTuple

from memoranda.identity import canonical_text

STATEMENT: Final = b'"statement":"'
TYPE: Final = b'","statement_type":"'
_AS_JSON: Final = b"\x11"
_AS_TEXT: Final = b"\x10"
_END: Final = b"\x12"
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

# The members of a first version in canonical order. Each %b stands for what differs; where it is a
# passage in one object and not in another, the passage is filled in, too.
_FIRST: Final = b'\x01%b%b%b%b\x04%b\x05%b%b%b%b\x08%b\x0b%b\x0c1"}'
_FIRST_BODY: Final = b"".join(_TEXT.get(bytes([byte]), bytes([byte])) for byte in _FIRST)
_CREATED: Final = b"\x02", _TEXT[b"\x02"]
_NOT_CREATED: Final = b'"},', b'"},'
_JSON_ID: Final = b"\x03", _TEXT[b"\x03"]
_TEXT_ID: Final = b'"id":"', b'"id":"'


class FirstVersion(NamedTuple):
    """A body that was just written, and its shorthand, if that was at hand."""

    body: bytes
    shorthand: bytes = b""


def first_version(
    scope: bytes,
    created_ms: int | None,
    id: bytes,
    nonce: bytes,
    data: bytes,
    statement_type: bytes,
    tags: bytes,
    timestamp: bytes,
    updated_ms: int | None,
    *,
    is_text: bool,
) -> FirstVersion:
    """An ordinary first version; its shorthand is what `pack` makes of its body.

    Texts are as they stand between the quotes of JSON, `data` is canonical JSON; `tags` is their
    whole member. Every write of an agent waits for this.
    """
    (created, created_text) = _NOT_CREATED if created_ms is None else _CREATED
    (before_id, before_id_text) = _TEXT_ID if is_text else _JSON_ID
    at = b"" if created_ms is None else b"%d," % created_ms
    changed = b"" if updated_ms is None else b'"updated_ms":%d,' % updated_ms
    kind = statement_type + b'",'
    if is_text:
        said = data[1:-1]
        short = b"\x10%b\x12" % said
    else:
        said = canonical_text(data)[1:-1]
        short = b"\x11%b\x12" % data
    body = _FIRST_BODY % (
        scope, created_text + at, before_id_text, id, nonce, STATEMENT, said, TYPE, kind + tags,
        timestamp, changed,
    )  # fmt: skip
    shorthand = _FIRST % (
        scope, created + at, before_id, id, nonce, b"", short, b"", _CODE.get(kind, kind) + tags,
        timestamp, changed,
    )  # fmt: skip
    return FirstVersion(body, shorthand)


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


def unpack(shorthand: bytes) -> bytes:
    """The body that `pack` was given."""
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
