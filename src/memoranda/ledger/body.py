"""What a body must be by itself: the rules of `docs/format.md` that ask for no other entry.

Read it first (`document_of`), then ask for the first rule that it breaks, by their numbers there:

1. an object has the members that seed 003 demands
2. its version is a decimal number from 1
3. from version 2 on it names a hash that it supersedes; which one, `rows` knows
4. what ends an object has a reason
5. and leads to the status that its entry's kind allows
7. what an object is found by can be read

`memoranda_verify` has them a second time, written from the page: what only one of the two knows,
the tests of either would not find.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from memoranda.identity import decode
from memoranda.identity.canonical import is_canonical
from memoranda.kernel.errors import InvalidJson, InvalidProof, InvalidTime
from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import (
    INTEGRITY,
    STATEMENT_TYPES,
    TYPE,
    VERDICT_TYPES,
    misdescribed,
)
from memoranda.ledger.time import parse_time

DEEPEST: Final = 128
"""How deep a body may be nested; what we write is nested half as deep at most."""

ENDINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "invalidate": ("invalidated", "superseded"),
    "archive": ("archived", "erased"),
}
"""To which status an event leads that ends an object; every other one leaves it active."""

_VERSION: Final = re.compile(r"[1-9][0-9]{0,14}")
_SUPERSEDES: Final = re.compile(r"sha256:[0-9a-f]{64}")
_TIMES: Final = ("timestamp", "valid_from", "valid_to", "expires", "said_at")
_TEXTS: Final = ("subject", "thread", "in_thread", "speaker", "media_type")

Document = Mapping[str, JsonValue]


def document_of(body: bytes) -> dict[str, JsonValue]:
    """The members of a body; InvalidProof if it is not an object in canonical form."""
    try:
        document = decode(body)
    except InvalidJson:
        raise InvalidProof("its body is not JSON") from None
    if type(document) is not dict:
        raise InvalidProof("its body is not an object")
    if not is_canonical(document, body, deepest=DEEPEST):
        raise InvalidProof("its body is not canonical")
    return document


def broken_member(document: Document) -> str | None:
    """What is wrong with an object's own members (1, 2 and 7): no row can follow from it."""
    # 1.
    if document.get("type") != TYPE:
        return f"its type is not {TYPE}"
    get = document.get
    if not (_is_text(get("id")) and _is_text(get("statement")) and _is_text(get("timestamp"))):
        return "its id, statement or timestamp is missing or not a text"
    if get("statement_type") not in STATEMENT_TYPES:
        return "its statement_type is missing or not one of seed 003"
    if get("verdict_type") not in VERDICT_TYPES:
        return "its verdict_type is missing or not one of seed 003"
    sources = get("source_refs")
    if sources is None or not _are(sources, _names_a_uri):
        return "its source_refs are missing or not an array of objects that have a uri"
    if "applicability_scope" not in document:
        return "its applicability_scope is missing"
    has_bounds = "valid_from" in document and "valid_to" in document
    if not has_bounds and not _is_text(get("temporal_scope")):
        return "it says neither valid_from and valid_to nor temporal_scope"
    if INTEGRITY in document:
        return f"it has an {INTEGRITY}"
    # 2.
    if not _fits(_VERSION, get("version")):
        return "its version is not a decimal number from 1, as a string"
    # 7.
    return _unreadable(document)


def broken_event(kind: str, document: Document) -> str | None:
    """What is wrong with an object after an event of a kind (3, 4 and 5)."""
    # 3.
    if document["version"] != "1" and not _fits(_SUPERSEDES, document.get("supersedes")):
        return "it does not say what it supersedes"
    if kind not in ENDINGS:
        # 5.
        said = "status" in document
        return "it is active, which is said by leaving the status out" if said else None
    # 4.
    reason = document.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return "it has no reason"
    # 5.
    if document.get("status") not in ENDINGS[kind]:
        return f"it is {document.get('status', 'active')} after an event of the kind {kind}"
    return None


def broken_type(document: Document) -> str | None:
    """What is wrong with a body that is not of an object: it has a type of its own."""
    own = document.get("type")
    return None if _is_text(own) and own != TYPE else "its body has no type of its own"


def _unreadable(document: Document) -> str | None:
    get = document.get
    for name in _TIMES:
        if (time := get(name)) is not None and not _is_time(time):
            return f"its {name} is not a time"
    if type(get("created_ms", 0)) is not int or type(get("updated_ms", 0)) is not int:
        return "its created_ms or updated_ms is not a whole number"
    for name in _TEXTS:
        if (text := get(name)) is not None and not _is_text(text):
            return f"its {name} is not a text"
    if type(get("indexed", True)) is not bool:
        return "its indexed is neither true nor false"
    for name in ("tags", "embed"):
        if not _are(get(name), _is_text):
            return f"its {name} are not texts"
    if not _are(get("inputs"), _names_an_id):
        return "its inputs do not name ids"
    return _misformatted(document)


def _misformatted(document: Document) -> str | None:
    format = document.get("format", "text")  # noqa: A001 - the name on the wire
    if format not in ("text", "json", "bytes"):
        return "its format is neither text, json nor bytes"
    if format == "bytes":
        return misdescribed(document)
    if format == "json":
        raw = document["statement"].encode()
        try:
            if is_canonical(decode(raw), raw, deepest=DEEPEST):
                return None
        except InvalidJson:
            pass
        return "its statement has not the format that it says"
    return None


def _is_text(value: object) -> bool:
    return type(value) is str and value != ""


def _is_time(value: object) -> bool:
    try:
        return type(value) is str and parse_time(value) is not None
    except InvalidTime:
        return False


def _are(values: object, fits: Callable[[object], bool]) -> bool:
    return values is None or (type(values) is list and all(map(fits, values)))


def _names_an_id(value: object) -> bool:
    return type(value) is dict and _is_text(value.get("id"))


def _names_a_uri(value: object) -> bool:
    return type(value) is dict and _is_text(value.get("uri"))


def _fits(form: re.Pattern[str], value: object) -> bool:
    return type(value) is str and form.fullmatch(value) is not None
