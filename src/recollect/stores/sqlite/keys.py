"""Idempotency keys in SQLite: which record an earlier call with a key was about."""

from typing import Any, Final

import apsw

from recollect.stores.table import RetryKey

_FIRST_OUTCOME: Final = (
    "SELECT fingerprint, record_id FROM idempotency_keys WHERE scope = ? AND key = ?"
)
_REMEMBER: Final = """
INSERT INTO idempotency_keys (scope, key, fingerprint, record_id, at) VALUES (?, ?, ?, ?, ?)
"""


def first_outcome(connection: apsw.Connection, scope: str, key: RetryKey | None) -> str | None:
    """The record of an earlier call with this key; IdempotencyConflict if it asked otherwise."""
    if key is None:
        return None
    found: Any = connection.execute(_FIRST_OUTCOME, (scope, key.key)).fetchone()
    if found is None:
        return None
    fingerprint, record_id = found
    key.check_same(fingerprint)
    return str(record_id)


def remember(
    connection: apsw.Connection, scope: str, key: RetryKey | None, record_id: str, at: int
) -> None:
    """Note what a call with a key was about, in the transaction of the call itself."""
    if key is not None:
        connection.execute(_REMEMBER, (scope, key.key, key.fingerprint, record_id, at))
