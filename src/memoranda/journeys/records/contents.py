"""What a record says on its way in: encoded, patched, annotated, or refused at the door."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from memoranda.identity import canonical_bytes, sha256
from memoranda.journeys.records.codec import DataCodec
from memoranda.kernel.errors import InvalidJson, InvalidPatch, InvalidRecord, RecordNotFound
from memoranda.kernel.ids import RESERVED, IdSource
from memoranda.kernel.json import MAX_INTEGER, JsonValue, storable
from memoranda.kernel.retry import RetryKey
from memoranda.kernel.unseen import is_blank
from memoranda.records.model import MemoryRecordInput
from memoranda.records.patch import merged
from memoranda.records.table import Content, Edit, Encoded, NewRow

G = TypeVar("G")

MAX_TEXT: Final = 4096


class Unchanged:
    """Marks an annotation that is not named: None means 'remove it'."""


UNCHANGED: Final = Unchanged()


# ---------------------------------------------------------------------------- content


def encoded(record: MemoryRecordInput[Any], codec: DataCodec[Any]) -> Encoded:
    """What a record says, as canonical JSON; a refusal says where in the record."""
    return Encoded(
        _canonical("data", codec.encode(record.data)),
        None if record.tags is None else tuple(record.tags),
        None if record.meta is None else _canonical("meta", record.meta),
    )


def new_row(
    record: MemoryRecordInput[Any], codec: DataCodec[Any], ids: IdSource, now: int
) -> NewRow:
    """The row of a new record; what it leaves to the store is filled in."""
    if not isinstance(record, MemoryRecordInput):
        kind = type(record).__name__
        raise InvalidRecord("$", f"a record is a MemoryRecordInput, not of type {kind}")
    if record.id is not None and record.id.startswith(RESERVED):
        raise InvalidRecord("$.id", f"ids that begin with {record.id.partition('/')[0]}/ are ours")
    created_at = now if record.created_at is None else record.created_at
    return NewRow(
        ids.new_id() if record.id is None else record.id,
        created_at,
        created_at if record.updated_at is None else record.updated_at,
        encoded(record, codec),
        record.id is None,
    )


def batch(given: Sequence[G], made: Callable[[G], NewRow]) -> list[NewRow]:
    """The rows of a batch; a refusal says which of its records is meant."""
    rows = []
    for place, each in enumerate(given):
        try:
            rows.append(made(each))
        except (InvalidJson, InvalidRecord) as refused:
            raise type(refused)(f"$[{place}]{refused.where[1:]}", refused.why) from None
    return rows


def check_batch(given: object) -> None:
    """Refuse what is no list: of a text, of bytes or of an object something would be lost."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes | bytearray | memoryview):
        kind = type(given).__name__
        raise InvalidRecord("$", f"it is of the type {kind}; give a list of records")


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
) -> Edit:
    """The edit that merges a patch into a record's data (MEM-PATCH-1), and may annotate it anew."""
    check_findable(id)
    check_expected(expected_version)
    given = codec.encode_patch(patch)
    canonical_bytes(given)  # refused here, with its own path, before anything is read
    annotated = annotation(tags, meta)

    def apply(content: Content) -> Encoded:
        data = _fitting(codec, id, merged(id, content.data, given), given)
        return Encoded(_canonical("data", data), *annotated(content))

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

    def apply(content: Content) -> Encoded:
        return Encoded(canonical_bytes(content.data), *annotated(content))

    return Edit(id, apply, expected_version)


def annotation(
    tags: Sequence[str] | Unchanged | None, meta: Mapping[str, Any] | Unchanged | None
) -> Callable[[Content], tuple[tuple[str, ...] | None, bytes | None]]:
    """The tags and the meta that follow those of some content; what is not named stays."""
    named: dict[str, Any] = {"tags": tags, "meta": meta}
    members = {name: value for name, value in named.items() if value is not UNCHANGED}
    if members:
        checked = MemoryRecordInput[Any].model_validate({"data": None, **members})
        members = {name: getattr(checked, name) for name in members}

    def annotated(content: Content) -> tuple[tuple[str, ...] | None, bytes | None]:
        new_tags = members.get("tags", content.tags)
        new_meta = members.get("meta", content.meta)
        return (
            None if new_tags is None else tuple(new_tags),
            None if new_meta is None else _canonical("meta", new_meta),
        )

    return annotated


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


def retry_key(key: str | None, *request: JsonValue | Encoded) -> RetryKey | None:
    """A key, with the digest of the request that it stands for."""
    if key is None:
        return None
    check_text("idempotency_key", key)
    parts = [_digest(part) if isinstance(part, Encoded) else part for part in request]
    return RetryKey(key, sha256(canonical_bytes(parts)))


def _digest(content: Encoded) -> str:
    """The digest of some content; a length stands before each part."""
    parts = (content.data, canonical_bytes(content.tags), content.meta or b"null")
    return sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hex()


# -------------------------------------------------------------------------- the door


def is_possible_id(id: str) -> bool:
    """Whether a record could be stored under this id at all; databases are not asked otherwise."""
    if not isinstance(id, str):
        raise InvalidRecord("$.id", f"an id is a string, not {type(id).__name__}")
    return storable(id)


def check_findable(id: str) -> None:
    """Refuse an id that no record can have."""
    if not is_possible_id(id):
        raise RecordNotFound(id)


def check_expected(version: int | None) -> None:
    """Refuse an expected version that is none."""
    if version is not None and (type(version) is not int or not 0 <= version <= MAX_INTEGER):
        raise InvalidRecord("expected_version", "a version is a whole number")


def check_text(name: str, text: str) -> None:
    """Refuse a reason or a key that says nothing, or too much."""
    if not isinstance(text, str) or is_blank(text) or len(text) > MAX_TEXT or not storable(text):
        raise InvalidRecord(name, f"it must be a text of 1 to {MAX_TEXT} characters, not blank")
