"""The words of bodies, for both databases: computed once for what is read again and again.

Entries beyond the end of the word index are read by every search until they are merged, so that
their words are remembered here, by the digest of the body, or by the salt of a large one: whatever
becomes of a transaction, the same body has the same words.
"""

from collections.abc import KeysView, Mapping
from typing import Final, NamedTuple

from memoranda.identity import decode, sha256
from memoranda.kernel.errors import InvalidInput
from memoranda.ledger.codec import BodyCodec, LenientCodec, Unreadable
from memoranda.ledger.derive import thread_row, words_of
from memoranda.ledger.object import TYPE, is_indexed, status_of, version_of
from memoranda.ledger.snapshot import StoredThread

MERGED_WHEN_IDLE: Final = 256
"""Entries beyond the end of the index from which on they are merged into it, in spare time."""

MERGED_ANYWAY: Final = 4_096
"""Entries from which on they are merged without waiting for spare time."""

SEARCHED: Final = 512
"""Entries beyond the end from which on whoever searches merges a batch of them first.

A steady stream of searches, each of which writes its trace, would else leave no spare time, and
each would read all that is not merged yet."""

BATCH: Final = 256
"""Entries that are merged in one transaction."""

SHORT_TAIL: Final = 64
"""Entries beyond the end that a search reads in about the time that it takes anyway."""

CLOSING_S: Final = 2.0
CLOSING_SHORT_S: Final = 0.1


def closing_seconds(tail: int) -> float:
    """How long after a database began to be closed such a tail is still merged.

    The time is for all scopes together, the longest tails first. Thousands of scopes that were
    written to a few times are not waited for: whoever searches them reads what is not merged.
    """
    return CLOSING_S if tail >= SHORT_TAIL else CLOSING_SHORT_S


LARGE: Final = 65_536
"""A body of more bytes is known by its salt: no search reads all of it, or hashes it, again."""

UNKNOWN: Final = -1
"""Stands for the number of an entry where only its body is known."""

_REMEMBERED_BYTES: Final = 32 * 1024 * 1024
_OVERHEAD: Final = 3_000


class Words(NamedTuple):
    """What a body's object is found by: its words, its thread and who says it, while active."""

    id: str
    number: int
    is_indexed: bool
    """Whether it is found at all: it is active, and to be indexed."""
    counts: Mapping[str, int]
    length: int
    thread: StoredThread | None
    """Its row, but for the number of the entry, which no body knows."""

    @property
    def tokens(self) -> KeysView[str]:
        return self.counts.keys()

    def row(self, seq: int) -> StoredThread | None:
        """Its row in its thread; None if it is in none."""
        return None if self.thread is None else self.thread._replace(seq=seq)


class Known(NamedTuple):
    """The words of a body that is known; None in it if the body is not that of an object."""

    words: Words | None


class WordCache:
    """The words of bodies, remembered up to a number of bytes; several threads may ask."""

    def __init__(self, bodies: BodyCodec) -> None:
        self._bodies = LenientCodec(bodies)
        self._known: dict[bytes, Known] = {}
        self._bytes = 0

    def of(self, stored: bytes, salt: bytes | None = None) -> Words | None:
        """The words of a body as it is stored; None if it is not that of an object.

        Nor of one that can't be unpacked, which is not remembered: its key may yet be found.
        """
        digest = sha256(stored) if salt is None or len(stored) <= LARGE else salt
        known = self._known.get(digest)
        if known is not None:
            return known.words
        body = self._bodies.unpack(stored)
        if isinstance(body, Unreadable):
            return None
        words = words_in(body)
        has_words = words is not None and bool(words.counts)
        size = (len(stored) * 2 if has_words else 0) + _OVERHEAD
        if self._bytes + size > _REMEMBERED_BYTES:
            self.clear()
        self._bytes += size
        self._known[digest] = Known(words)
        return words

    def known(self, digest: bytes) -> Known | None:
        """The words of the body with this digest, or salt, if they are remembered."""
        return self._known.get(digest)

    def clear(self) -> None:
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
        found = words_of(document)
        return Words(
            document["id"],
            version_of(document),
            status_of(document) == "active" and is_indexed(document),
            found.counts,
            found.length,
            thread_row(document, UNKNOWN),
        )
    except (InvalidInput, KeyError, TypeError, AttributeError):
        return None
