"""The words of bodies, and when they are merged into the index."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from memoranda.identity import decode
from memoranda.kernel.errors import InvalidInput
from memoranda.ledger.derive import document_row, searched_text
from memoranda.ledger.object import TYPE, data_of, version_of
from memoranda.ledger.snapshot import StoredDocument
from memoranda.text import terms

MERGED_WHEN_IDLE: Final = 256
"""Entries beyond the end of the index from which on they are merged into it, in spare time."""

MERGED_ANYWAY: Final = 1_024
"""Entries from which on they are merged without waiting for spare time."""

BATCH: Final = 256
"""Entries that are merged in one transaction."""

SHORT_TAIL: Final = 64
"""Entries beyond the end that a search reads in about the time that it takes anyway."""

CLOSING_S: Final = 2.0
CLOSING_SHORT_S: Final = 0.1

UNKNOWN: Final = -1
"""Stands for the number of an entry where only its body is known."""


def closing_seconds(tail: int) -> float:
    """How long after a database began to be closed such a tail is still merged.

    The time is for all scopes together, the longest tails first. Thousands of scopes that were
    written to a few times are not waited for: whoever searches them reads what is not merged.
    """
    return CLOSING_S if tail >= SHORT_TAIL else CLOSING_SHORT_S


class Words(NamedTuple):
    """What a version of an object is found by: its words, its thread and who says it."""

    id: str
    number: int
    counts: Mapping[str, int]
    document: StoredDocument | None
    """But for the number of the entry, which no body knows. None if it is not to be found: it is
    not active, or not to be indexed."""


def words_in(body: bytes) -> Words | None:
    """The words of a body; None if it is not that of an object.

    Nor of one that is damaged: that is for `verify` to say, and no reason to find nothing else.
    """
    try:
        document = decode(body)
        if document["type"] != TYPE:
            return None
        data = data_of(document)
        text = searched_text(document, data)
        found = terms(text)
        known = document_row(document, data, UNKNOWN, text, found.length)
        return Words(document["id"], version_of(document), found.counts, known)
    except (InvalidInput, KeyError, TypeError, AttributeError):
        return None
