"""What a verification and a rebuild say of a word index as a whole."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from memoranda.identity import canonical_bytes, sha256
from memoranda.ledger.snapshot import StoredDocument, StoredTag, StoredWords

_MODULUS: Final = 1 << 256


class IndexDigest:
    """A digest over all postings of an index and its documents, in whatever order they come."""

    def __init__(self) -> None:
        self._sum = 0

    def feed(self, words: Iterable[StoredWords]) -> None:
        for tokens, sizes, seqs, kinds in words:
            postings = zip(seqs, kinds, strict=True)
            for token, size in zip(tokens, sizes, strict=True):
                raw = token.encode()
                for seq, kind in islice(postings, int(size)) if size else ((-1, 0),):
                    self._sum += int.from_bytes(sha256(b"%d:%d:%b" % (seq, kind, raw)))

    def feed_documents(self, rows: Iterable[StoredDocument]) -> None:
        for row in rows:
            self._sum += int.from_bytes(sha256(b"document:%b" % canonical_bytes(list(row))))

    @property
    def hex(self) -> str:
        """The digest of what was fed: the sum of the sha256 of each row, 256 bits of it."""
        return (self._sum % _MODULUS).to_bytes(32).hex()


def document_tag(row: StoredDocument) -> StoredTag:
    """What is known of a document, as a row that is summed up like those of tags."""
    said = f"{row.thread} {row.length} {row.is_question:d} {row.speaker}"
    return StoredTag(said, row.said_at, str(row.seq))


def thread_tag(thread: str, seq: int) -> StoredTag:
    """An entry in its thread, likewise."""
    return StoredTag(thread, 0, str(seq))
