"""The word index as an attacker rewrites it: postings, segments, threads and what is counted."""

from collections.abc import Iterable, Mapping

from memoranda.ledger.snapshot import StoredThread
from memoranda.stores.postings import Chunk, Posting, packed, postings_of
from tests.campaigns.tampering.tables import Tables

Words = Mapping[str, int]
"""The words of an entry, each with its count and its length as a posting has them."""


def words_in(tables: Tables, journal: int) -> dict[int, dict[str, int]]:
    """The word index of a journal: for each entry that it has, its words."""
    found: dict[int, dict[str, int]] = {}
    for row in tables.rows("postings", journal=journal):
        for seq, kind in postings_of(Chunk(row["first"], row["body"])):
            found.setdefault(seq, {})[row["token"]] = kind
    return found


def put_words(tables: Tables, journal: int, seq: int, words: Words) -> None:
    """Let the index have these words for an entry, and no others."""
    write_words(tables, journal, words_in(tables, journal) | {seq: dict(words)})


def write_words(tables: Tables, journal: int, index: Mapping[int, Words]) -> None:
    """Let the index of a journal have these words and no others, all of them in one segment."""
    (row,) = tables.rows("journals", number=journal)
    end = max(row["indexed"], *(seq + 1 for seq in index), 0)
    tables.remove("segments", journal=journal)
    tables.remove("postings", journal=journal)
    if end:
        tables.add("segments", journal=journal, number=1, first=0, until=end, level=9)
    tokens: dict[str, list[Posting]] = {}
    for seq in sorted(index):
        for token, kind in index[seq].items():
            tokens.setdefault(token, []).append(Posting(seq, kind))
    for token in sorted(tokens):
        for first, body in packed(tokens[token]):
            chunk = {"journal": journal, "segment": 1, "token": token, "first": first, "body": body}
            tables.add("postings", **chunk)


def write_threads(tables: Tables, journal: int, rows: Iterable[StoredThread]) -> None:
    """Let the threads of a journal have these rows, and no others."""
    tables.remove("threads", journal=journal)
    for row in rows:
        tables.add("threads", journal=journal, **row._asdict())
