"""What follows from an object's document: its row, its tags, the words and the thread of it.

The rows of a ledger hold nothing that is not in its journal: a store writes them as it goes, and
a verifier derives them anew and compares.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from memoranda.identity import decode
from memoranda.identity.canonical import thread_digest
from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import data_of, is_indexed, record_times, status_of, version_of
from memoranda.ledger.snapshot import StoredDocument
from memoranda.ledger.time import parse_time
from memoranda.ledger.unit import Version
from memoranda.text import Terms, speaker_of, terms, texts
from memoranda.text.tokens import class_of

_ASKING: Final = re.compile("[?\uff1f\u061f]")


def row_of(document: Mapping[str, JsonValue]) -> Version:
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
    if document.get("version") != "1":
        return ()
    return tuple(dict.fromkeys(value["id"] for value in document.get("inputs") or ()))


def words_of(document: Mapping[str, JsonValue]) -> Terms:
    """The tokens that an object is found by, with counts."""
    return terms(searched_text(document, data_of(document)))


def searched_text(document: Mapping[str, JsonValue], data: JsonValue) -> str:
    """The text whose words an object is found by: of the data that it says, while it is active.

    Not of its tags, sources and the like: they are not said by it, and tags have an index. Bytes
    have none, nor has what is not to be indexed.
    """
    if status_of(document) != "active" or not is_indexed(document):
        return ""
    return "\n".join(texts(data))


def thread_of(document: Mapping[str, JsonValue]) -> str | None:
    """What an object is a part of, by a digest: its thread, or else its first source; or None.

    A version whose sources are others than those of the one before says in `in_thread` where
    it still stands: a correction does not leave its conversation.
    """
    if (said := document.get("thread")) is not None:
        return thread_digest(said)
    if (kept := document.get("in_thread")) is not None:
        return str(kept)
    sources = document.get("source_refs")
    return thread_digest(sources[0]["uri"]) if sources else None


def speaker_in(document: Mapping[str, JsonValue], data: JsonValue) -> str:
    """The tokens of whoever says such data, joined by spaces; empty if nobody is named.

    Its own `speaker` where it has one. Else of a text, the name that it begins with; of other
    data, its member `speaker`.
    """
    if (said := document.get("speaker")) is not None:
        return _tokens_of(said)
    if isinstance(data, str):
        return " ".join(sorted(speaker_of(data)))
    named = data.get("speaker") if isinstance(data, dict) else None
    return _tokens_of(named) if isinstance(named, str) else ""


@lru_cache(maxsize=1024)  # the same few speak all the time
def _tokens_of(name: str) -> str:
    return " ".join(sorted(terms(name).counts))


def document_row(
    document: Mapping[str, JsonValue], data: JsonValue, seq: int, text: str, length: int
) -> StoredDocument | None:
    """What recall knows of an object with such data, besides its words; None if not findable."""
    if status_of(document) != "active" or not is_indexed(document):
        return None
    return StoredDocument(
        seq,
        said_at(document),
        thread_of(document) or "",
        speaker_in(document, data),
        class_of(length),
        asks(text),
    )


def asks(text: str) -> bool:
    """Whether a text asks something: a mark of a question stands in it."""
    return _ASKING.search(text) is not None


def said_at(document: Mapping[str, JsonValue]) -> int:
    """When it was said: what is in a thread is in the order of these times.

    Where nothing is said of it, from when it holds; else when the record was created.
    """
    said = _ms(document.get("said_at") or document.get("valid_from"))
    return record_times(document)[0] if said is None else said


def _ms(time: str | None) -> int | None:
    return None if time is None else parse_time(time)
