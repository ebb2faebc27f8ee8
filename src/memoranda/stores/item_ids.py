"""The ids of items where a database stores their sixteen bytes: half the room, the same order."""


def id_bytes(id: str) -> bytes:
    """An id as it is stored."""
    return bytes.fromhex(id.replace("-", ""))


def id_of(stored: bytes) -> str:
    """The id that is stored so."""
    digits = stored.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
