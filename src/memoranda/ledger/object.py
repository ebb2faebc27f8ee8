"""The MemoryObject: a typed, versioned, traceable unit of memory (GOV-OBJECT, GOV-TYPE).

What is stored is the hashed form: the canonical bytes of the object without `integrity_hash`. The
hash is added when an object is shown (`sealed`). Each stored record carries these bytes, so a
member that says nothing is left out: beyond the seed's own members, which always stand there,
nulls and unknowns included, an absent member means

===============  =================================================================
``status``       active
``format``       text: the statement is the text that was given
``indexed``      true: it is found by its words, unless it is bytes
``embed``        all that it says is embedded, as one text (`fields`)
``origin``       library: it was written by the program itself, through no other door
``created_ms``   the record is as old as `timestamp`
``updated_ms``   the record was last changed at `timestamp`
everything else  not given
===============  =================================================================

`supersedes` is always the hash of the state that this one replaces: of the version before, or, in
a first version, of another object. So the versions of an object are a chain, and every event of
the MemoryLog can be derived from the object that it led to. `superseded_by` is always an id.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Final, Literal, get_args

from memoranda.identity import Frozen, canonical_bytes, decode, sha256_hex
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidObject
from memoranda.kernel.json import JsonValue
from memoranda.ledger.passages import WrittenBody
from memoranda.ledger.time import TemporalScope, parse_time

StatementType = Literal[
    "SourceStatement",
    "UserProvidedStatement",
    "SystemGeneratedStatement",
    "DerivedStatement",
    "ConsolidatedStatement",
]
VerdictType = Literal["Factual", "Inference", "False", "Unanswered"]
Trust = Literal["untrusted", "unreviewed", "approved"]
"""From the least to the most trusted."""
TRUST_SHOWN: Final[Mapping[Trust, str]] = {
    "untrusted": "UNTRUSTED",
    "unreviewed": "not reviewed",
    "approved": "approved",
}
"""What a model that is shown memory is told of it."""
Status = Literal["active", "invalidated", "archived", "superseded", "erased"]
Format = Literal["text", "json", "bytes"]
Cause = Literal["obsolescence", "conflict", "correction", "policy", "user_request", "other"]
"""Why something is forgotten; the seed's four, and two more (GOV-FORGET)."""

STATEMENT_TYPES: Final = get_args(StatementType)
VERDICT_TYPES: Final = get_args(VerdictType)
TEMPORAL_SCOPES: Final = get_args(TemporalScope)
CAUSES: Final = get_args(Cause)

TYPE: Final = "MemoryObject"
INTEGRITY: Final = "integrity_hash"
ALGORITHM: Final = "sha256"
NONCE_BYTES: Final = 15
"""How much randomness a nonce has: 120 bits, 20 characters of URL-safe base64 without a rest."""


# ------------------------------------------------------------------------- the hash


def integrity_digest(body: bytes) -> str:
    """The digest of an object: SHA-256 of its stored bytes, in hexadecimal (GOV-OBJECT)."""
    return sha256_hex(body)


def hash_name(digest: str) -> str:
    """A digest as events name it: ``sha256:<hex>``."""
    return f"{ALGORITHM}:{digest}"


def sealed(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """An object as it is shown: the stored document and its integrity hash (GOV-OBJECT)."""
    unsealed_document = unsealed(document)
    digest = integrity_digest(canonical_bytes(unsealed_document))
    return {**unsealed_document, INTEGRITY: {"algo": ALGORITHM, "digest": digest}}


def unsealed(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The hashed form of an object: all of it but its integrity hash."""
    return {name: member for name, member in document.items() if name != INTEGRITY}


# ---------------------------------------------------------------- statement and data


def is_text(data: bytes) -> bool:
    """Whether canonical JSON is that of a text which is its own statement: not the empty one."""
    return data[:1] == b'"' and data != b'""'


def statement_of_json(data: bytes) -> tuple[str, Format]:
    """The statement that says data in canonical JSON, and its format: a text itself, else the JSON.

    A statement is never empty, so the empty text is carried as JSON.
    """
    return (decode(data), "text") if is_text(data) else (data.decode(), "json")


def data_of(document: Mapping[str, JsonValue]) -> JsonValue:
    """The data that a statement says, as JSON; of bytes, the statement that describes them."""
    statement = document["statement"]
    return decode(statement.encode()) if document.get("format") == "json" else statement


def value_of(document: Mapping[str, JsonValue]) -> JsonValue | bytes:
    """The data as it was given: bytes as bytes, all other data as JSON."""
    return b64decode(document["data"]) if is_bytes(document) else data_of(document)


def data_bytes(document: Mapping[str, JsonValue]) -> bytes:
    """The data as canonical JSON, or the bytes that were given."""
    statement: str = document["statement"]
    format = document.get("format")  # noqa: A001 - the name on the wire
    if format == "json":
        return statement.encode()
    return b64decode(document["data"]) if format == "bytes" else canonical_bytes(statement)


def is_bytes(document: Mapping[str, JsonValue]) -> bool:
    """Whether an object holds bytes, which its statement only describes."""
    return document.get("format") == "bytes"


def is_indexed(document: Mapping[str, JsonValue]) -> bool:
    """Whether an object is found by its words, its thread and its meaning, while it is active."""
    return document.get("indexed", True) is not False and not is_bytes(document)


def description_of(data: bytes, media_type: str) -> str:
    return f"{media_type}, {len(data)} bytes, {ALGORITHM} {sha256_hex(data)}"


def members_of_bytes(data: bytes, media_type: str) -> dict[str, JsonValue]:
    return {
        "statement": description_of(data, media_type),
        "format": "bytes",
        "data": b64encode(data).decode(),
        "media_type": media_type,
    }


def misdescribed(document: Mapping[str, JsonValue]) -> str | None:
    """What is wrong with an object that says that it holds bytes; None if nothing is."""
    encoded, media_type = document.get("data"), document.get("media_type")
    if type(encoded) is not str or type(media_type) is not str:
        return "its format is bytes, and its data or its media_type is not a text"
    try:
        data = b64decode(encoded, validate=True)
    except ValueError:
        return "its data is not base64"
    if b64encode(data).decode() != encoded:
        return "its data is not base64 in its one form"
    if document["statement"] != description_of(data, media_type):
        return "its statement does not describe its data"
    return None


# --------------------------------------------------------------------- the write path
# No model here: every write waits for these. What is given was checked at the door, and
# `canonical_bytes` refuses whatever is not JSON.


def with_members(written: WrittenBody, more: Mapping[str, JsonValue]) -> WrittenBody:
    """A first version of which more is known: members that differ, and further ones.

    None takes one away that is not the seed's own.
    """
    return WrittenBody(canonical_bytes(_changed(decode(written.body), more)))


def _changed(
    document: dict[str, JsonValue], changes: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    for name, member in changes.items():
        if member is None and name not in _NULLABLE:
            document.pop(name, None)
        else:
            document[name] = member
    return document


_OF_ONE_VERSION: Final = ("status", "reason", "cause", "superseded_by", "updated_ms")
"""Members that say something of one version only, so the next one starts without them."""

_OF_ONE_STATEMENT: Final = ("reconstruction", "derived_fragments", "conflicts")
MARKED_AS_DERIVED: Final = frozenset({"DerivedStatement", "ConsolidatedStatement"})
"""What was derived stays marked so, whoever changes it (GOV-TYPE)."""


def next_version(current: Frozen, **changes: JsonValue) -> Frozen:
    """The version that follows (`next_document`)."""
    return Frozen(canonical_bytes(next_document(current.thaw(), current.digest, **changes)))


def next_document(
    before: Mapping[str, JsonValue],
    digest: str,
    *,
    at: int,
    nonce: str,
    created_ms: int | None = None,
    updated_ms: int | None = None,
    **changes: JsonValue,
) -> dict[str, JsonValue]:
    """The version that follows: active, with these members changed; a None removes one.

    It names the hash of the version that it replaces. The seed's own members are never removed:
    None is a value there. The record stays as old as it was, unless said otherwise. What was
    derived stays marked as derived (GOV-TYPE). Another statement inherits neither the verdict nor
    the approval of the old one, nor its reconstruction, but it keeps its inputs; which sources it
    has is for whoever makes it to say (`journeys.govern.provenance`).
    """
    document = dict(before)
    if changes.get("statement_type", "DerivedStatement") not in MARKED_AS_DERIVED:
        _refuse_unmarking(document["statement_type"])
    if changes.get("statement", document["statement"]) != document["statement"]:
        _start_anew(document)
    created = record_times(document)[0] if created_ms is None else created_ms
    for name in _OF_ONE_VERSION:
        document.pop(name, None)
    _changed(document, changes)
    document["version"] = str(version_of(document) + 1)
    document["supersedes"] = hash_name(digest)
    document["timestamp"] = format_time(at)
    document["nonce"] = nonce
    document["created_ms"] = created
    if created == at:
        del document["created_ms"]
    if updated_ms is not None and updated_ms != at:
        document["updated_ms"] = updated_ms
    return document


def _start_anew(document: dict[str, JsonValue]) -> None:
    """Take from a document what was said of its statement, and not of the one that follows."""
    document["verdict_type"] = "Unanswered"
    if document.get("trust") == "approved":
        document["trust"] = "unreviewed"
    for name in _OF_ONE_STATEMENT:
        document.pop(name, None)


def _refuse_unmarking(statement_type: StatementType) -> None:
    if statement_type in MARKED_AS_DERIVED:
        raise InvalidObject("$.statement_type", f"a {statement_type} stays marked as derived")


_NULLABLE: Final = frozenset({"valid_from", "valid_to", "applicability_scope"})


# --------------------------------------------------------------------- the read path


def version_of(document: Mapping[str, JsonValue]) -> int:
    """The version of an object of ours, as a number."""
    version: str = document["version"]
    if not (version.isascii() and version.isdigit()):
        raise InvalidObject("$.version", "it is not a whole number")
    return int(version)


def record_times(document: Mapping[str, JsonValue]) -> tuple[int, int]:
    """When the record was created, and when it was last changed, in milliseconds."""
    created, updated = document.get("created_ms"), document.get("updated_ms")
    if created is None or updated is None:
        written = parse_time(document["timestamp"])
        return written if created is None else created, written if updated is None else updated
    return created, updated


def status_of(document: Mapping[str, JsonValue]) -> Status:
    """Whether an object is active, and if not, what became of it."""
    status: Status = document.get("status", "active")
    return status
