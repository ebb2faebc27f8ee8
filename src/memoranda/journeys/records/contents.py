"""What a record says on its way in: encoded, patched, annotated, or refused at the door."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from memoranda.identity import canonical_bytes, sha256
from memoranda.journeys.records.codec import DataCodec, JsonCodec
from memoranda.kernel.clock import RESERVED, IdSource
from memoranda.kernel.errors import (
    InvalidInput,
    InvalidJson,
    InvalidObject,
    InvalidPatch,
    InvalidRecord,
    InvalidTime,
    ReasonMissing,
    RecordNotFound,
)
from memoranda.kernel.given import RetryKey, is_blank
from memoranda.kernel.json import MAX_INTEGER, JsonValue, storable
from memoranda.records.model import MemoryRecordInput, merged
from memoranda.records.store import MemoryUpdate
from memoranda.records.table import Content, Edit, Row, new_content, new_row_of

G = TypeVar("G")
R = TypeVar("R")

MAX_TEXT: Final = 4096


class Unchanged:
    """Marks an annotation that is not named: None means 'remove it'."""


UNCHANGED: Final = Unchanged()


# ---------------------------------------------------------------------------- content


def encoded(codec: DataCodec[Any], data: object) -> bytes:
    """Data as canonical JSON; a refusal says where in the record."""
    value = data if type(codec) is JsonCodec else codec.encode(data)
    try:
        return canonical_bytes(value)
    except InvalidJson as refused:
        raise InvalidJson(f"$.data{refused.where[1:]}", refused.why) from None


def raw_bytes(codec: DataCodec[Any], data: object, *, is_typed: bool) -> bytes | None:
    """Data that is kept as bytes; None for all other data.

    Bytes are: but a model may have a form for them, unless their media type is said (`is_typed`).
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        return None
    if not is_typed:
        try:
            canonical_bytes(codec.encode(data))
        except InvalidInput:
            pass
        else:
            return None
    return bytes(data)


def new_row(
    record: MemoryRecordInput[Any],
    codec: DataCodec[Any],
    ids: IdSource,
    now: int,
    raw: bytes | None = None,
) -> Row:
    """The row of a new record; what it leaves to the store is filled in. `raw` is for bytes."""
    if not isinstance(record, MemoryRecordInput):
        kind = type(record).__name__
        raise InvalidRecord("$", f"a record is a MemoryRecordInput, not of type {kind}")
    id, created_at, updated_at = record.id, record.created_at, record.updated_at
    tags, meta = record.tags, record.meta
    if id is not None and id.startswith(RESERVED):
        raise InvalidRecord("$.id", f"ids that begin with {id.partition('/')[0]}/ are ours")
    if created_at is None:
        created_at = now
    content = new_content((
        encoded(codec, record.data) if raw is None else raw,
        None if tags is None else tuple(tags),
        None if meta is None else _canonical("meta", meta),
        raw is not None,
    ))  # fmt: skip
    return new_row_of((
        ids.new_id() if id is None else id,
        created_at,
        created_at if updated_at is None else updated_at,
        content, 0, 0, id is None,
    ))  # fmt: skip


def batch(given: Sequence[G], made: Callable[[G], R]) -> list[R]:
    """What is made of each member of a batch; a refusal says which of them is meant."""
    found = []
    for place, each in enumerate(given):
        try:
            found.append(made(each))
        except (InvalidJson, InvalidObject, InvalidRecord) as refused:
            raise type(refused)(f"$[{place}]{refused.where[1:]}", refused.why) from None
        except InvalidTime as refused:
            raise InvalidTime(refused.time, f"{refused.why}, of $[{place}]") from None
    return found


def check_batch(given: object) -> None:
    """Refuse what is no list: of a text, of bytes or of an object something would be lost."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray | memoryview):
        kind = type(given).__name__
        raise InvalidRecord("$", f"it is of the type {kind}; give a list of records")


def check_updates(given: object) -> None:
    check_batch(given)
    for place, update in enumerate(cast("Sequence[object]", given)):
        if not isinstance(update, MemoryUpdate):
            kind = type(update).__name__
            raise InvalidRecord(f"$[{place}]", f"an update is a MemoryUpdate, not {kind}")


def check_not_blank(where: str, data: object) -> None:
    """Refuse a text that says nothing; data of other kinds is what it is."""
    if isinstance(data, str) and is_blank(data):
        raise InvalidRecord(where, "there is nothing in it that can be read")


def patching(
    codec: DataCodec[Any],
    id: str,
    patch: Any,
    expected_version: int | None = None,
    *,
    tags: Sequence[str] | Unchanged | None = UNCHANGED,
    meta: Mapping[str, Any] | Unchanged | None = UNCHANGED,
    raw: bytes | None = None,
) -> Edit:
    """The edit that merges a patch into a record's data (MEM-PATCH-1), and may annotate it anew.

    `raw` is for a patch of bytes, which replace what is no object.
    """
    check_findable(id)
    check_expected(expected_version)
    given = codec.encode_patch(patch) if raw is None else raw
    if raw is None:
        canonical_bytes(given)  # refused here, with its own path, before anything is read
    annotated = None if tags is meta is UNCHANGED else annotation(tags, meta)

    def apply(content: Content) -> Content:
        said = content[1:3] if annotated is None else annotated(content)
        data = merged(id, content.value, given)
        if raw is not None:
            return new_content((data, *said, True))
        if type(codec) is not JsonCodec:
            data = _fitting(codec, id, data, given)
        return new_content((_canonical("data", data), *said, False))

    return Edit(id, apply, expected_version)


def annotating(
    id: str,
    tags: Sequence[str] | Unchanged | None,
    meta: dict[str, Any] | Unchanged | None,
    expected_version: int | None = None,
) -> Edit:
    """The edit that replaces tags, meta, or both; what is not named stays; None removes it."""
    check_findable(id)
    check_expected(expected_version)
    annotated = annotation(tags, meta)

    def apply(content: Content) -> Content:
        return Content(content.data, *annotated(content), content.is_raw)

    return Edit(id, apply, expected_version)


def annotation(
    tags: Sequence[str] | Unchanged | None, meta: Mapping[str, Any] | Unchanged | None
) -> Callable[[Content], tuple[tuple[str, ...] | None, bytes | None]]:
    """The tags and the meta that follow those of some content; what is not named stays."""
    named: dict[str, Any] = {"tags": tags, "meta": plain_meta(meta)}
    members = {name: value for name, value in named.items() if value is not UNCHANGED}
    if members:
        checked = MemoryRecordInput[Any].model_validate({"data": None, **members})
        members = {name: getattr(checked, name) for name in members}
        if members.get("meta") is not None:
            members["meta"] = _canonical("meta", members["meta"])

    def annotated(content: Content) -> tuple[tuple[str, ...] | None, bytes | None]:
        return members.get("tags", content.tags), members.get("meta", content.meta)

    return annotated


def plain_meta(meta: Any) -> Any:
    """Meta as a model takes it: a mapping of any kind as a dict, all else as it is."""
    return dict(meta) if isinstance(meta, Mapping) else meta


def _fitting(codec: DataCodec[Any], id: str, data: JsonValue, patch: JsonValue) -> JsonValue:
    """The data after a patch, if it still is a `T` and nothing of the patch is lost."""
    try:
        fitting = codec.encode(codec.decode(data))
    except InvalidRecord as refused:
        raise InvalidPatch(id, f"{refused.why}, at {refused.where}") from None
    if isinstance(patch, dict) and isinstance(fitting, dict):
        lost = sorted(patch.keys() - fitting.keys())
        if lost:
            raise InvalidPatch(id, f"its model has no {', '.join(lost)}")
    return fitting


def _canonical(member: str, value: JsonValue) -> bytes:
    """The canonical JSON of a member of a record; a refusal says where in the record."""
    try:
        return canonical_bytes(value)
    except InvalidJson as refused:
        raise InvalidJson(f"$.{member}{refused.where[1:]}", refused.why) from None


# ---------------------------------------------------------------------------- retries


Request = Sequence[Any]
"""What a verb was asked to do: JSON values, contents, and requests in it as tuples."""


def retry_key(key: str | None, *request: Any) -> RetryKey | None:
    """A key, with the digest of the `Request` that it stands for."""
    if key is None:
        return None
    check_text("idempotency_key", key)
    return RetryKey(key, sha256(canonical_bytes([_part(part) for part in request])))


def _part(part: Any) -> JsonValue:
    if isinstance(part, Content):
        return _digest(part)
    return [_part(each) for each in part] if type(part) is tuple else part


def _digest(content: Content) -> str:
    """The digest of some content; a length stands before each part."""
    kind = b"raw" if content.is_raw else b"json"
    parts = (kind, content.data, canonical_bytes(content.tags), content.meta or b"null")
    return sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hex()


# -------------------------------------------------------------------------- the door


def is_possible_id(id: str) -> bool:
    """Whether a record could be stored under this id at all; databases are not asked otherwise."""
    if not isinstance(id, str):
        raise InvalidRecord("$.id", f"an id is a string, not {type(id).__name__}")
    return storable(id)


def check_findable(id: str) -> None:
    if not is_possible_id(id):
        raise RecordNotFound(id)


def check_expected(version: int | None) -> None:
    """Refuse an expected version that is not a version number."""
    if version is not None and (type(version) is not int or not 0 <= version <= MAX_INTEGER):
        raise InvalidRecord("expected_version", "a version is a whole number")


def check_reason(reason: object) -> None:
    """Refuse to forget many records without a reason in words."""
    if not isinstance(reason, str) or is_blank(reason):
        raise ReasonMissing("forget", "a reason in words is needed")


def check_text(name: str, text: str) -> None:
    """Refuse a reason or a key that says nothing, or too much."""
    if not isinstance(text, str) or is_blank(text) or len(text) > MAX_TEXT or not storable(text):
        raise InvalidRecord(name, f"it must be a text of 1 to {MAX_TEXT} characters, not blank")
