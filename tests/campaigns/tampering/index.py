"""The word index as an attacker rewrites it: postings, segments, threads and what is counted."""

from collections.abc import Iterable, Mapping

import numpy as np

from memoranda.ledger.snapshot import StoredDocument
from memoranda.recall.ranking import Postings
from memoranda.stores import documents
from memoranda.stores.postings import Chunk, packed, postings_in
from tests.campaigns.tampering.tables import Tables

Words = Mapping[str, int]
"""The words of an entry, each with its count and its length as a posting has them."""


def words_in(tables: Tables, journal: int) -> dict[int, dict[str, int]]:
    """The word index of a journal: for each entry that it has, its words."""
    found: dict[int, dict[str, int]] = {}
    for row in tables.rows("postings", journal=journal):
        seqs, kinds = postings_in([Chunk(row["first"], row["body"])])
        for seq, kind in zip(seqs.tolist(), kinds.tolist(), strict=True):
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
    tokens: dict[str, list[tuple[int, int]]] = {}
    for seq in sorted(index):
        for token, kind in index[seq].items():
            tokens.setdefault(token, []).append((seq, kind))
    for token in sorted(tokens):
        seqs, kinds = zip(*tokens[token], strict=True)
        for first, body in packed(Postings(np.array(seqs), np.array(kinds))):
            chunk = {"journal": journal, "segment": 1, "token": token, "first": first, "body": body}
            tables.add("postings", **chunk)


def documents_in(tables: Tables, journal: int) -> list[StoredDocument]:
    """What recall knows of the objects of a journal."""
    stored = tables.rows("documents", journal=journal)
    return [
        row for one in stored for row in documents.DocumentBlock(one["block"], one["body"]).rows()
    ]


def write_documents(tables: Tables, journal: int, rows: Iterable[StoredDocument]) -> None:
    """Let recall know this of the objects of a journal, and nothing else; and their threads."""
    known = sorted(rows)
    write_blocks(tables, journal, known)
    tables.remove("threads", journal=journal)
    for row in known:
        if row.thread:
            tables.add("threads", journal=journal, thread=row.thread, seq=row.seq)


def write_blocks(tables: Tables, journal: int, rows: Iterable[StoredDocument]) -> None:
    """The same, and threads stay."""
    tables.remove("documents", journal=journal)
    for block, body in documents.changed((), (), rows).items():
        tables.add("documents", journal=journal, block=block, body=body)
