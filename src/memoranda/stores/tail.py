"""What some entries change in a word index: exactly, so that it never shows how far it reaches.

The same sum twice: whoever merges a batch adds and takes away what follows from it, and whoever
searches does so in passing with the entries that are not merged yet. What is added is the newest
version of each object of these entries, if it is active; what goes is the version of the same
object that the index has. Documents, lengths, frequencies, postings and threads all follow.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from memoranda.ledger.snapshot import StoredThread
from memoranda.recall.bm25 import Statistics
from memoranda.stores.postings import Posting
from memoranda.stores.words import Words
from memoranda.text.tokens import kind_of

Found = Mapping[str, tuple[int, Words]]
"""Versions of objects by id: the number of the entry, and the words."""


def newest(entries: Iterable[tuple[int, Words | None]]) -> dict[str, tuple[int, Words]]:
    """The newest version of each object of some entries, which come by number."""
    return {words.id: (seq, words) for seq, words in entries if words is not None}


def replacing(found: Found) -> list[str]:
    """The objects that the index may have an earlier version of: all but first versions."""
    return [id for id, (_, words) in found.items() if words.number > 1]


class Tail(NamedTuple):
    """What comes to an index and what goes from it, by the number of the entry."""

    added: Mapping[int, Words]
    gone: Mapping[int, Words]

    @classmethod
    def of(cls, found: Found, indexed: Found) -> "Tail":
        """What follows from the newest versions, and those that the index has of the same."""
        added = {seq: words for seq, words in found.values() if words.is_indexed}
        gone = {
            seq: words for id, (seq, words) in indexed.items() if id in found and words.is_indexed
        }
        return cls(added, gone)

    @property
    def documents(self) -> int:
        return len(self.added) - len(self.gone)

    @property
    def length(self) -> int:
        return _length(self.added) - _length(self.gone)

    def statistics(self, documents: int, length: int, frequencies: Mapping[str, int]) -> Statistics:
        """Those of the scope, from those of the index; of the tokens that are asked for."""
        exact = {
            token: number + _having(token, self.added) - _having(token, self.gone)
            for token, number in frequencies.items()
        }
        return Statistics(documents + self.documents, length + self.length, exact)

    def postings(self, tokens: Iterable[str] | None = None) -> dict[str, list[Posting]]:
        """What is added for each of these tokens, by number; for every token, if none are given."""
        wanted = set(tokens) if tokens is not None else None
        found: dict[str, list[Posting]] = {}
        for seq in sorted(self.added):
            counts, length = self.added[seq].counts, self.added[seq].length
            for token in counts if wanted is None else counts.keys() & wanted:
                found.setdefault(token, []).append(Posting(seq, kind_of(counts[token], length)))
        return found

    def threads(self) -> Iterator[StoredThread]:
        rows = (words.row(seq) for seq, words in self.added.items())
        return (row for row in rows if row is not None)


NOTHING: Final = Tail({}, {})
"""Of an index that has every entry."""


def _length(versions: Mapping[int, Words]) -> int:
    return sum(words.length for words in versions.values())


def _having(token: str, versions: Mapping[int, Words]) -> int:
    return sum(token in words.counts for words in versions.values())
