"""What a thread is called in rows: a digest of its name.

All that a thread is asked is whether it is the same; a digest has one length, and says nothing of
a name that was erased.
"""

from typing import Final

from memoranda.identity.digest import sha256_hex

THREAD_LENGTH: Final = 32
"""Hexadecimal digits of a thread's digest: 128 bits."""


def thread_digest(name: str) -> str:
    """The digest of a thread's name, such as the URI of a conversation."""
    return sha256_hex(name.encode(errors="surrogatepass"))[:THREAD_LENGTH]
