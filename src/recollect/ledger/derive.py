"""What follows from an object's document: the row, the tags and the words that it is found by.

The rows of a ledger hold nothing that is not in its journal: a store writes them as it goes, and
a verifier derives them anew and compares.
"""

from collections.abc import Mapping, Sequence

from recollect.identity import decode
from recollect.kernel.json import JsonValue
from recollect.ledger.object import data_of, record_times, status_of, version_of
from recollect.ledger.time import parse_time
from recollect.ledger.unit import Version
from recollect.text import terms_of


def row_of(document: Mapping[str, JsonValue]) -> Version:
    """The row of an object's version."""
    created_at, updated_at = record_times(document)
    return Version(
        document["id"],
        version_of(document),
        status_of(document),
        created_at,
        updated_at,
        _ms(document.get("valid_from")),
        _ms(document.get("valid_to")),
        _ms(document.get("expires")),
        document.get("subject"),
    )


def tags_of(document: Mapping[str, JsonValue]) -> Sequence[str]:
    """The tags that an object is found by: its own, each once, while it is active."""
    if status_of(document) != "active":
        return ()
    return tuple(dict.fromkeys(document.get("tags") or ()))


def inputs_of(body: bytes | None) -> Sequence[str]:
    """The ids of what a first version was made from, each once; nothing for any other body."""
    return () if body is None else inputs_in(decode(body))


def inputs_in(document: Mapping[str, JsonValue]) -> Sequence[str]:
    """The same, of the document of a body."""
    if document.get("version") != "1":
        return ()
    return tuple(dict.fromkeys(one["id"] for one in document.get("inputs") or ()))


def words_of(document: Mapping[str, JsonValue]) -> frozenset[str]:
    """The tokens that an object is found by: those of what it says, while it is active.

    Not of its tags, sources and the like: they are not said by it, and tags have an index.
    """
    if status_of(document) != "active":
        return frozenset()
    return frozenset(terms_of(data_of(document)).counts)


def _ms(time: str | None) -> int | None:
    return None if time is None else parse_time(time)
