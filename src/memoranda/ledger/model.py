"""Objects from elsewhere: the MemoryObject as a model, checked member by member (GOV-OBJECT).

What we write ourselves is made by `ledger.object`, without a model: every write waits for it.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, ModelWrapValidatorHandler, model_validator

from memoranda.identity import Frozen, canonical_bytes, decode
from memoranda.kernel.errors import InvalidJson, InvalidObject, InvalidTime
from memoranda.kernel.json import MAX_INTEGER, JsonValue, parse
from memoranda.kernel.wire import STORABLE, ClosedModel, ClosedPart, Refusal, tuple_of
from memoranda.ledger.object import (
    INTEGRITY,
    Cause,
    Format,
    StatementType,
    Status,
    Trust,
    VerdictType,
    misdescribed,
)
from memoranda.ledger.time import TemporalScope, parse_time, validity_of


def _time(text: str) -> str:
    try:
        parse_time(text)
    except InvalidTime as refused:
        raise ValueError(refused.why) from None
    return text


def _json(value: object) -> object:
    try:
        canonical_bytes(value)
    except InvalidJson as refused:
        raise ValueError(f"{refused.why}, at {refused.where}") from None
    return value


Text = Annotated[str, Field(min_length=1), STORABLE]
Time = Annotated[str, AfterValidator(_time)]
"""An RFC 3339 time in UTC with Z, in whole milliseconds; kept as it was written."""
Hash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}\z")]
Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_json)]


class SourceRef(ClosedPart):
    """Where a statement comes from; further members are the source's own, and are kept."""

    model_config = ConfigDict(extra="allow")

    uri: Text
    anchor: str | None = None
    retrieved_at: Time | None = None


class IntegrityHash(ClosedPart):
    """The digest of an object, and how it was made (GOV-OBJECT)."""

    algo: Literal["sha256"]
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}\z")]
    note: str | None = None


class InputRef(ClosedPart):
    """One input of a consolidation: which state of which object, and of what type it is.

    The type is here so that it can be audited from the output alone (GOV-CONS-2).
    """

    id: Text
    version: Text
    hash: Hash
    statement_type: StatementType


class MemoryObject(ClosedModel):
    """An object from elsewhere, checked member by member; with a hash, that must be right.

    A member that was absent stays absent: `document` is what was given, without the hash.
    """

    refusal: ClassVar[Refusal] = InvalidObject

    id: Text
    type: Literal["MemoryObject"]
    statement: Text
    statement_type: StatementType
    verdict_type: VerdictType
    source_refs: Annotated[Sequence[SourceRef], tuple_of(SourceRef)]
    timestamp: Time
    valid_from: Time | None = None
    valid_to: Time | None = None
    temporal_scope: TemporalScope | None = None
    jurisdiction: Text | None = None
    applicability_scope: JsonObject | None
    version: Text
    integrity_hash: IntegrityHash | None = None

    nonce: Text | None = None
    trust: Trust | None = None
    status: Status = "active"
    format: Format = "text"
    origin: Text = "library"
    subject: Text | None = None
    thread: Text | None = None
    in_thread: Text | None = None
    speaker: Text | None = None
    said_at: Time | None = None
    media_type: Text | None = None
    data: str | None = None
    indexed: bool | None = None
    embed: Annotated[Sequence[str], tuple_of(Text)] | None = None
    tags: Annotated[Sequence[str], tuple_of(Text)] | None = None
    meta: JsonObject | None = None
    created_ms: Milliseconds | None = None
    updated_ms: Milliseconds | None = None
    expires: Time | None = None
    reason: Text | None = None
    cause: Cause | None = None
    supersedes: Hash | None = None
    superseded_by: Text | None = None
    inputs: Annotated[Sequence[InputRef], tuple_of(InputRef)] | None = None
    justification: Text | None = None
    reconstruction: JsonObject | None = None
    derived_fragments: Annotated[Sequence[str], tuple_of(Text)] | None = None
    conflicts: Annotated[Sequence[Any], tuple_of(JsonObject)] | None = None
    erased: JsonObject | None = None
    certificate: JsonObject | None = None

    @property
    def document(self) -> dict[str, JsonValue]:
        """The hashed form: every member that was given, but for the integrity hash."""
        return self.model_dump(mode="json", exclude_unset=True, exclude={INTEGRITY})

    @property
    def frozen(self) -> Frozen:
        """The object as it would be stored."""
        return Frozen(canonical_bytes(self.document))

    @model_validator(mode="wrap")
    @classmethod
    def _is_whole(cls, given: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        kept = validate(given)
        try:
            validity_of(kept.document)
        except InvalidTime as refused:
            raise InvalidObject("$.temporal_scope", refused.why) from None
        if kept.format == "json":
            _refuse_other_json(kept.statement)
        if kept.format == "bytes" and (why := misdescribed(kept.document)) is not None:
            raise InvalidObject("$.data", why)
        if kept.integrity_hash is not None and kept.frozen.digest != kept.integrity_hash.digest:
            raise InvalidObject("$.integrity_hash.digest", "it is not the digest of this object")
        return kept


def _refuse_other_json(statement: str) -> None:
    """Data has one statement: its canonical JSON."""
    try:
        canonical = canonical_bytes(decode(statement.encode())).decode()
    except InvalidJson as refused:
        raise InvalidObject("$.statement", refused.why) from None
    if canonical != statement:
        raise InvalidObject("$.statement", "its format is json, and it is not canonical JSON")


# ------------------------------------------------------------------------------------------------
# Reading the text of an object or an event, ours or somebody else's.


def read(document: str | bytes) -> JsonValue:
    """The value of a text, strictly; InvalidJson where it could be read in two ways.

    RFC 8785 writes the float 1e16 as an integer that is refused in a text of others. In canonical
    bytes it can only be that float, so what we wrote ourselves is always read.
    """
    try:
        return parse(document)
    except InvalidJson:
        raw = document.encode(errors="replace") if isinstance(document, str) else document
        value = _canonical(raw.strip())
        if value is None:
            raise
        return value


def _canonical(raw: bytes) -> JsonValue | None:
    try:
        value = decode(raw)
        return value if canonical_bytes(value) == raw else None
    except InvalidJson:
        return None
