"""sha256, the one hash. Each hashed kind has its own digest function, next to that kind."""

from hashlib import sha256 as _sha256


def sha256(data: bytes) -> bytes:
    """The 32 bytes of SHA-256 of some bytes."""
    return _sha256(data).digest()


def sha256_hex(data: bytes) -> str:
    """SHA-256 of some bytes, as 64 lower-case hexadecimal digits."""
    return _sha256(data).hexdigest()
