"""A retry after an unknown outcome: the same key and the same request write nothing twice."""

from typing import NamedTuple

from memoranda.kernel.errors import IdempotencyConflict


class RetryKey(NamedTuple):
    """An idempotency key and the digest of the request that it stands for."""

    key: str
    fingerprint: bytes

    def check_same(self, fingerprint: bytes) -> None:
        """Refuse a key that stood for another request before."""
        if fingerprint != self.fingerprint:
            raise IdempotencyConflict(self.key)
