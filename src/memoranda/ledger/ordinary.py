"""The most frequent object, written piece by piece: every write of an agent waits for it.

It is the first version of a record of which nothing is known but what it says. The members stand
in canonical order, and each piece is canonical JSON, so the whole is: the bytes are those that
`object.first_version` makes (a test compares them), at a fifth of the time.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from memoranda.identity import canonical_bytes, canonical_text
from memoranda.ledger.object import StatementType, is_text
from memoranda.ledger.time import format_time


def ordinary_version(
    *,
    scope: bytes,
    id: str,
    data: bytes,
    tags: tuple[str, ...] | None,
    statement_type: StatementType,
    at: int,
    created_ms: int,
    updated_ms: int,
    nonce: bytes,
) -> bytes:
    """The stored bytes of such an object; `scope` and `data` are canonical JSON already."""
    says_itself = is_text(data)
    return b"".join((
        b'{"applicability_scope":', scope,
        b"" if created_ms == at else b',"created_ms":%d' % created_ms,
        b"" if says_itself else b',"format":"json"',
        b',"id":', canonical_bytes(id),
        b',"nonce":"', nonce,
        b'","source_refs":[],"statement":', data if says_itself else canonical_text(data),
        _TYPES[statement_type],
        b"" if tags is None else b'"tags":%b,' % canonical_bytes(tags),
        b'"temporal_scope":"unknown","timestamp":"', _timestamp(at),
        b'","trust":"unreviewed","type":"MemoryObject",',
        b"" if updated_ms == at else b'"updated_ms":%d,' % updated_ms,
        b'"valid_from":null,"valid_to":null,"verdict_type":"Unanswered","version":"1"}',
    ))  # fmt: skip


@lru_cache(maxsize=16)
def _timestamp(at: int) -> bytes:
    """The time of a batch, which all of its objects have."""
    return format_time(at).encode()


_TYPES: Final[Mapping[StatementType, bytes]] = {
    "UserProvidedStatement": b',"statement_type":"UserProvidedStatement",',
    "SystemGeneratedStatement": b',"statement_type":"SystemGeneratedStatement",',
}
