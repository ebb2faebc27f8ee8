"""Reading what is not merged yet into what a process remembers of a scope, in either database.

A search reads all of it, for it needs all. Who wrote much reads it ahead, a few entries at a time
while nobody writes, so that whoever searches then finds the words in memory. It is no duty: what
was not read ahead, because another process wrote it or there was no time, the search reads.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from memoranda.ledger.codec import LenientCodec, Unreadable
from memoranda.ledger.snapshot import INDEX_FORM
from memoranda.stores import index
from memoranda.stores.documents import columns_of
from memoranda.stores.index import State
from memoranda.stores.scope_words import KnownScopes, ScopeWords
from memoranda.stores.statements import Procedure, Texts, ask
from memoranda.stores.words import Words, words_in

AT_ONCE: Final = 1_024
"""Entries that a search reads at once."""

SLICE: Final = 48
"""Entries that are read ahead at once: a write that comes meanwhile waits a few milliseconds."""

SHORT_INDEX: Final = 131_072
"""Entries of an index up to which its documents are read ahead as well: some milliseconds."""

MOST_AHEAD: Final = 64 * 1024 * 1024
"""What may be remembered of scopes, in bytes, so that another one is read ahead; and what one may
take until it is left to the merge."""


class TailReader:
    """Brings forward what is remembered of one journal."""

    def __init__(self, journal: int, bodies: LenientCodec, known: KnownScopes) -> None:
        self._journal, self._bodies, self._known = journal, bodies, known

    def whole(self, state: State) -> Procedure[ScopeWords]:
        """What is remembered of the scope, brought forward to this moment."""
        words = self._known.get(self._journal)
        if words is None or words.indexed > state.indexed:
            words = yield from self._begun(state)
        if words.size < state.size:
            words.note_search(1)
            try:
                while words.size < state.size:
                    yield from self._read(words, min(words.size + AT_ONCE, state.size))
            finally:
                words.note_search(-1)
        return words

    def ahead(self) -> Procedure[bool]:
        """Read a few entries ahead; whether there are more.

        Once there are none, what the index has by then is let go.
        """
        (row,) = yield ask(index.STATE)
        state = State._make(row)
        if state.tokenizer not in ("", INDEX_FORM):
            return False
        words = self._known.get(self._journal)
        if words is None:
            if state.indexed > SHORT_INDEX or self._known.bytes > MOST_AHEAD:
                return False
            words = yield from self._begun(state)
        if words.is_searched or words.indexed > state.indexed:
            return False  # a search reads it anyway
        if words.size < state.size and words.bytes < MOST_AHEAD:
            yield from self._read(words, min(words.size + SLICE, state.size))
            return True
        with words.lock:
            if words.indexed < state.indexed <= words.size:
                words.advance(state.indexed)
        return False

    def _begun(self, state: State) -> Procedure[ScopeWords]:
        rows = yield ask(index.DOCUMENTS)
        words = ScopeWords(columns_of(rows), state.indexed)
        self._known.put(self._journal, words)
        return words

    def _read(self, words: ScopeWords, end: int) -> Procedure[None]:
        start = words.size
        rows = yield ask(index.BODIES, start=start, end=end)
        entries = list(self._words_of(rows))
        replacing = [entry.id for _, entry in entries if entry.number > 1]
        earlier: dict[str, list[int]] = {}
        if replacing:
            for id, seq in (yield ask(index.EARLIER, ids=Texts(dict.fromkeys(replacing)))):
                earlier.setdefault(id, []).append(seq)
        with words.lock:
            if start <= words.size < end:  # another reader may have come as far as this
                new = [(seq, entry) for seq, entry in entries if seq >= words.size]
                words.extend(new, earlier, end)

    def _words_of(self, rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Words]]:
        """The words of stored bodies, each with the number of its entry."""
        for seq, stored in rows:
            body = self._bodies.unpack(stored)
            words = None if isinstance(body, Unreadable) else words_in(body)
            if words is not None:
                yield seq, words
