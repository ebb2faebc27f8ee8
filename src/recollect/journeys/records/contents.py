"""What a record says on its way in: encoded, patched, annotated, or refused at the door."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from recollect.identity import canonical_bytes, sha256
from recollect.journeys.records.codec import DataCodec
from recollect.kernel.errors import InvalidJson, InvalidPatch, InvalidRecord, RecordNotFound
from recollect.kernel.ids import RESERVED, IdSource
from recollect.kernel.json import MAX_INTEGER, JsonValue, storable
from recollect.kernel.retry import RetryKey
from recollect.records.model import MemoryRecordInput
from recollect.records.patch import merged
from recollect.records.table import Content, Edit, Encoded, NewRow

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


def patching(
    codec: DataCodec[Any], id: str, patch: Any, expected_version: int | None = None
) -> Edit:
    """The edit that merges a patch into a record's data (MEM-PATCH-1)."""
    check_findable(id)
    check_expected(expected_version)
    given = codec.encode_patch(patch)
    canonical_bytes(given)  # refused here, with its own path, before anything is read

    def apply(content: Content) -> Encoded:
        data = _fitting(codec, id, merged(id, content.data, given), given)
        meta = None if content.meta is None else canonical_bytes(content.meta)
        return Encoded(_canonical("data", data), content.tags, meta)

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
    named: dict[str, Any] = {"tags": tags, "meta": meta}
    named = {name: value for name, value in named.items() if value is not UNCHANGED}
    checked = MemoryRecordInput[Any].model_validate({"data": None, **named})
    members: dict[str, Any] = {name: getattr(checked, name) for name in named}

    def apply(content: Content) -> Encoded:
        new_tags = members.get("tags", content.tags)
        new_meta = members.get("meta", content.meta)
        return Encoded(
            canonical_bytes(content.data),
            None if new_tags is None else tuple(new_tags),
            None if new_meta is None else _canonical("meta", new_meta),
        )

    return Edit(id, apply, expected_version)


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
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT or not storable(text):
        raise InvalidRecord(name, f"it must be a text of 1 to {MAX_TEXT} characters, not blank")
