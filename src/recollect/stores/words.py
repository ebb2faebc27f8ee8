"""The words of bodies, for both databases: computed once for what is read again and again.

Entries beyond the end of the word index are read by every search until they are merged, so that
their words are remembered here, by the digest of the body: whatever becomes of a transaction, the
same body has the same words.
"""

from typing import Final, NamedTuple

from recollect.identity import decode, sha256
from recollect.kernel.errors import InvalidInput
from recollect.ledger.codec import BodyCodec, Leniently, Unreadable
from recollect.ledger.derive import words_of
from recollect.ledger.object import TYPE, version_of

MERGED_WHEN_IDLE: Final = 256
"""Entries beyond the end of the index from which on they are merged into it, in spare time."""

MERGED_ANYWAY: Final = 4_096
"""Entries from which on they are merged without waiting for spare time."""

BATCH: Final = 256
"""Entries that are merged in one transaction."""

CLOSING_S: Final = 2.0
"""For how long entries are merged while a database is being closed."""

_REMEMBERED_BYTES: Final = 32 * 1024 * 1024
_OVERHEAD: Final = 3_000


def prefix(journal: int) -> str:
    """What stands before the tokens of a journal: its postings are its own."""
    return f"{journal}:"


class Words(NamedTuple):
    """What a body's object is found by: its id, its version, its tokens while it is active."""

    id: str
    number: int
    tokens: frozenset[str]


class Known(NamedTuple):
    """The words of a body that is known; None in it if the body is not that of an object."""

    words: Words | None


class WordCache:
    """The words of bodies, remembered up to a number of bytes; several threads may ask."""

    def __init__(self, bodies: BodyCodec) -> None:
        self._bodies = Leniently(bodies)
        self._known: dict[bytes, Known] = {}
        self._bytes = 0

    def of(self, stored: bytes) -> Words | None:
        """The words of a body as it is stored; None if it is not that of an object.

        Nor of one that can't be unpacked, which is not remembered: its key may yet be found.
        """
        digest = sha256(stored)
        known = self._known.get(digest)
        if known is not None:
            return known.words
        body = self._bodies.unpack(stored)
        if isinstance(body, Unreadable):
            return None
        words = words_in(body)
        size = len(stored) * 2 + _OVERHEAD
        if self._bytes + size > _REMEMBERED_BYTES:
            self.clear()
        self._bytes += size
        self._known[digest] = Known(words)
        return words

    def known(self, digest: bytes) -> Known | None:
        """The words of the body with this digest, if they are remembered."""
        return self._known.get(digest)

    def clear(self) -> None:
        """Forget all of them."""
        self._known = {}
        self._bytes = 0


def words_in(body: bytes) -> Words | None:
    """The words of a body; None if it is not that of an object.

    Nor of one that is damaged: that is for `verify` to say, and no reason to find nothing else.
    """
    try:
        document = decode(body)
        if document["type"] != TYPE:
            return None
        return Words(document["id"], version_of(document), words_of(document))
    except (InvalidInput, KeyError, TypeError, AttributeError):
        return None
