"""RFC 6962 section 2.1, word for word, over lists of leaves: slow, and easy to believe."""

from hashlib import sha256


def split(size: int) -> int:
    half = 1
    while half * 2 < size:
        half *= 2
    return half


def naive_root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return sha256(b"\x00" + leaves[0]).digest()
    half = split(len(leaves))
    return sha256(b"\x01" + naive_root(leaves[:half]) + naive_root(leaves[half:])).digest()
