"""A shorthand for documents of ours: one byte for what stands in nearly all of them.

Canonical JSON has no byte below 0x20, because control characters are escaped. So these bytes are
free to stand for frequent passages, and what is stored is half as long. It is the same bytes
again when it is read: hashes are never taken over the shorthand.

A code keeps its meaning for ever; new passages get codes that are still free.
"""

from typing import Final

Passages = tuple[tuple[bytes, bytes], ...]

ENTRY: Final[Passages] = (
    (b"\x01", b'{"actor":"'),
    (b"\x02", b',"body_digest":"'),
    (b"\x03", b'","kind":"create","previous_entry_hash":"'),
    (b"\x04", b'","kind":"invalidate","previous_entry_hash":"'),
    (b"\x05", b'","seq":'),
)
"""For entries."""

BODY: Final[Passages] = (
    (b"\x01", b'{"applicability_scope":{"scope":"'),
    (b"\x02", b'"},"created_ms":'),
    (b"\x03", b'"format":"json","id":"'),
    (b"\x04", b'","nonce":"'),
    (b"\x05", b'","source_refs":[],"statement":"'),
    (b"\x06", b'","statement_type":"SystemGeneratedStatement",'),
    (b"\x07", b'","statement_type":"UserProvidedStatement",'),
    (b"\x08", b'"temporal_scope":"unknown","timestamp":"'),
    (b"\x0b", b'","trust":"unreviewed","type":"MemoryObject","valid_from":null,"valid_to":null,'),
    (b"\x0c", b'"verdict_type":"Unanswered","version":"'),
    (b"\x0e", b'\\":\\"'),
    (b"\x0f", b'\\",\\"'),
    (b"\x10", b'\\"'),
)
"""For objects; the last three stand between the members of data inside a statement."""


def packed(document: bytes, passages: Passages) -> bytes:
    """The shorthand of canonical JSON."""
    for code, passage in passages:
        document = document.replace(passage, code)
    return document


def unpacked(shorthand: bytes, passages: Passages) -> bytes:
    """The bytes that `packed` was given."""
    for code, passage in passages:
        shorthand = shorthand.replace(code, passage)
    return shorthand
