"""What a process remembers of a scope: its documents in columns, and words not merged yet.

It is exact for one size of the journal, and is brought forward entry by entry: each is read once.
How far the index reaches makes no difference to the columns; it only decides which postings are
taken from the index and which from here. So a merge changes nothing that is found, and nobody
waits for one.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, islice
from threading import Lock
from typing import Final

from memoranda.ledger.snapshot import StoredDocument
from memoranda.recall.arrays import np
from memoranda.recall.columns import Columns, Numbers
from memoranda.recall.near_words import Vocabulary
from memoranda.recall.ranking import Postings
from memoranda.stores.postings import (
    PostingColumns,
    TokenNumbers,
    WordCounts,
    columns_of_words,
)
from memoranda.stores.scope_vectors import ScopeVectors
from memoranda.stores.words import Words

MOST_BYTES: Final = 256 * 1024 * 1024
"""What all scopes of a database may take together, about."""

_TOKEN_BYTES: Final = 200
_POSTING_BYTES: Final = 14
_UNSORTED: Final = 8_192
"""Postings that are looked through one by one; more are sorted first."""


def _joined(parts: Iterable[PostingColumns]) -> PostingColumns:
    return PostingColumns(*map(np.concatenate, zip(*parts, strict=True)))


class _Tail:
    """The postings of entries beyond an index, as arrays.

    What was added last is as it came. When that is much, all is sorted by token, then by entry.
    """

    def __init__(self) -> None:
        self.tokens = TokenNumbers()
        self._sorted = columns_of_words((), self.tokens)
        self._new: list[PostingColumns] = []
        self._postings = 0

    @property
    def size(self) -> int:
        """About how much memory it takes."""
        return len(self.tokens) * _TOKEN_BYTES + self._postings * _POSTING_BYTES

    def add(self, entries: Sequence[WordCounts]) -> None:
        """The words of documents, which come by their entry."""
        new = columns_of_words(entries, self.tokens)
        self._new.append(new)
        self._postings += len(new.seqs)

    def of(self, token: str, first: int) -> Postings | None:
        """The postings of a token from an entry on."""
        number = self.tokens.get(token)
        if number is None:
            return None
        if len(self._new) > 1:
            self._new = [_joined(self._new)]
        if self._new and len(self._new[0].seqs) > _UNSORTED:
            self._sort(_joined([self._sorted, *self._new]))
        _, seqs, kinds = self._sorted
        start, end = self._sorted.tokens.searchsorted([number, number + 1]).tolist()
        start += int(seqs[start:end].searchsorted(first))
        found = [Postings(seqs[start:end], kinds[start:end])]
        for new in self._new:
            at = np.flatnonzero(new.tokens == number)
            _, seqs, kinds = new.at(at[new.seqs[at] >= first])
            found.append(Postings(seqs, kinds))
        return Postings(*map(np.concatenate, zip(*found, strict=True)))

    def forget(self, before: int) -> None:
        """Nothing is asked any more of the entries before this one."""
        every = _joined([self._sorted, *self._new])
        kept = np.flatnonzero(every.seqs >= before)
        if 2 * len(kept) > len(every.seqs):
            return
        left, names = every.at(kept), list(self.tokens)
        numbers, tokens = np.unique(left.tokens, return_inverse=True)
        self.tokens = TokenNumbers(
            zip(map(names.__getitem__, numbers.tolist()), count(), strict=False)
        )
        self._sort(left._replace(tokens=tokens.astype(np.int32)))

    def _sort(self, part: PostingColumns) -> None:
        order = np.argsort(part.tokens, kind="stable")  # of a token, each came by its entry
        self._sorted, self._new = part.at(order), []
        self._postings = len(order)


class ScopeWords:
    """The words of one scope when its journal had `size` entries, beyond the first `indexed`."""

    def __init__(self, columns: Columns, indexed: int) -> None:
        """`columns` are those of an index of so many entries."""
        self.lock = Lock()
        """Held by whoever brings it forward, or asks it."""
        self.columns = columns
        self.indexed = self.size = indexed
        self._tail = _Tail()
        self._gone: dict[int, int] = {}
        """Which entries are no documents any more, each with the entry that says so: those that
        the index still has."""
        self.vocabulary: Vocabulary | None = None
        """Its words, once they were asked for."""
        self._vectors: dict[str, ScopeVectors] = {}
        self._searches = 0

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        words = 0 if self.vocabulary is None else self.vocabulary.size
        vectors = sum(found.size for found in self._vectors.values())
        return self.columns.size + self._tail.size + words + vectors

    @property
    def is_searched(self) -> bool:
        """Whether a search is bringing it forward: nobody reads ahead of it."""
        return self._searches > 0

    def note_search(self, one: int) -> None:
        """A search begins to bring it forward, or is done (-1)."""
        with self.lock:
            self._searches += one

    def vectors(self, model: str, dimensions: int) -> ScopeVectors:
        """What is remembered of its vectors; those of the model that was asked last."""
        if model not in self._vectors:
            self._vectors = {model: ScopeVectors(dimensions)}
        return self._vectors[model]

    def know(self, stored: Iterable[str]) -> Vocabulary:
        """Its words: those that the index has, and all that came since."""
        if self.vocabulary is None:
            self.vocabulary = Vocabulary()
            self.vocabulary.add(stored)
            self.vocabulary.add(self._tail.tokens)
        return self.vocabulary

    def extend(
        self,
        entries: Iterable[tuple[int, Words]],
        earlier: Mapping[str, Iterable[int]],
        size: int,
    ) -> None:
        """Bring it forward by entries about objects, up to a size.

        `earlier` has the entries of all versions of those objects that had one before.
        """
        new = list[StoredDocument]()
        found = list[WordCounts]()
        for seq, (id, _, counts, document) in entries:
            if id in earlier:
                self.columns.add(new)
                new = list[StoredDocument]()
                for gone in self.columns.remove(old for old in earlier[id] if old < seq):
                    self._gone[gone] = seq
            if document is not None:
                new.append(document._replace(seq=seq))
                found.append((seq, counts, document.length))
        self.columns.add(new)
        if found:
            known = len(self._tail.tokens)
            self._tail.add(found)
            if self.vocabulary is not None and len(self._tail.tokens) > known:
                self.vocabulary.add(islice(self._tail.tokens, known, None))
        self.size = size

    def advance(self, indexed: int) -> None:
        """The index reaches further now: what it has is taken from there."""
        if indexed == self.indexed:
            return
        self.indexed = indexed
        self._gone = {seq: by for seq, by in self._gone.items() if by >= indexed}
        self._tail.forget(indexed)

    def postings(
        self, stored: Mapping[str, Postings], tokens: Iterable[str]
    ) -> dict[str, Postings]:
        """The postings of tokens: as the index has them, without what is gone, and the rest."""
        gone = np.array(sorted(seq for seq in self._gone if seq < self.indexed), np.int64)
        found: dict[str, Postings] = {}
        for token in tokens:
            own, more = stored.get(token), self._tail.of(token, self.indexed)
            if own is not None and len(gone):
                own = _without(own, gone)
            if more is not None:
                there: Numbers = self.columns.there[more.seqs]
                added = Postings(more.seqs[there], more.kinds[there])
                own = (
                    added
                    if own is None
                    else Postings(*map(np.concatenate, zip(own, added, strict=True)))
                )
            if own is not None and len(own.seqs):
                found[token] = own
        return found


def _without(postings: Postings, gone: Numbers) -> Postings:
    at = np.minimum(np.searchsorted(postings.seqs, gone), len(postings.seqs) - 1)
    taken = at[postings.seqs[at] == gone]
    if not len(taken):
        return postings
    return Postings(np.delete(postings.seqs, taken), np.delete(postings.kinds, taken))


class KnownScopes:
    """What is remembered of the scopes of a database: those that were asked last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[int, ScopeWords] = OrderedDict()

    def get(self, journal: int) -> ScopeWords | None:
        with self._lock:
            known = self._known.get(journal)
            if known is not None:
                self._known.move_to_end(journal)
            return known

    @property
    def bytes(self) -> int:
        """About how much memory all of them take."""
        with self._lock:
            return self._bytes

    def put(self, journal: int, words: ScopeWords) -> None:
        with self._lock:
            self._known[journal] = words
            self._known.move_to_end(journal)
            total = self._bytes
            while total > MOST_BYTES and len(self._known) > 1:
                _, gone = self._known.popitem(last=False)
                total -= gone.bytes

    @property
    def _bytes(self) -> int:
        return sum(known.bytes for known in self._known.values())

    def forget(self, journal: int | None = None) -> None:
        """Nothing is kept of what may have been erased."""
        with self._lock:
            if journal is None:
                self._known.clear()
            else:
                self._known.pop(journal, None)
