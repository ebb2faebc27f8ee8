"""The MemoryLog as NDJSON: out as the seed has it, in strictly, or leniently with a list (GOV-LOG).

One canonical JSON object a line, each line ended by a newline: a later export begins with the
bytes of an earlier one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from memoranda.identity import canonical_bytes, decode, sha256
from memoranda.kernel.errors import InvalidEvent, InvalidLog
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import MEMORY_LOG_KINDS, Entry, entry_digest, read_entry, salted
from memoranda.ledger.event import CHANGES, LOG_ACTORS, LogActor, LogEvent, event_document, event_of
from memoranda.ledger.lifecycle import ERASED
from memoranda.ledger.object import integrity_digest
from memoranda.ledger.snapshot import StoredRow
from memoranda.ledger.unit import StoredEntry
from memoranda.ledger.validate import Violation
from memoranda.ledger.validate_events import Log, numbered, read_line, validate_log
from memoranda.ledger.walk import OBJECT_KINDS


@dataclass(frozen=True, slots=True)
class LogReading:
    """The events of a log as they stood there, and what was let through to have them."""

    documents: tuple[dict[str, JsonValue], ...]
    let_through: tuple[Violation, ...] = ()

    def events(self) -> Iterator[LogEvent]:
        """The events as values; InvalidEvent at one of somebody else's that can't be one."""
        for document in self.documents:
            yield LogEvent.model_validate(document)


def write_log(events: Iterable[Mapping[str, JsonValue]]) -> Iterator[bytes]:
    """The lines of a log, each with its newline."""
    for event in events:
        yield canonical_bytes(dict(event)) + b"\n"


def read_log(lines: Log, *, lenient: bool = False) -> LogReading:
    """The events of a log (GOV-LOG).

    Strictly, a log with any error is refused as a whole with InvalidLog, and so are members that
    we don't know: what they mean to say would be lost. LenientCodec, for logs of others, every line
    that is a JSON object is kept as it is, and all that is wrong with it is listed; a line that
    is none can't be kept, and is listed too. Warnings never refuse a log.
    """
    lines = lines if isinstance(lines, (str, bytes)) else list(lines)
    found = validate_log(lines)
    broken = {violation.line for violation in found if violation.severity == "error"}
    documents = []
    for number, line in numbered(lines):
        document, unread = read_line(line)
        if unread is not None:
            continue
        documents.append(document)
        if number not in broken:  # there, it was said already
            found += [replace(violation, line=number) for violation in _unfit(document)]
    found.sort(key=lambda violation: violation.line or 0)
    errors = [violation for violation in found if violation.severity == "error"]
    if errors and not lenient:
        raise InvalidLog(len(errors), errors[0].line or 0, f"{errors[0].why}, at {errors[0].where}")
    return LogReading(tuple(documents), tuple(found))


def _unfit(document: dict[str, JsonValue]) -> Iterator[Violation]:
    """What keeps a valid event from being one of ours: unknown members, times of another form."""
    try:
        LogEvent.model_validate(document)
    except InvalidEvent as refused:
        yield Violation("L1", "GOV-LOG", refused.where, refused.why)


# ------------------------------------------------------------------------------------------------
# The MemoryLog of seed 003 as a view of a journal (GOV-LOG).
#
# Of what was erased the log still has the type, the time, the actor, the id and the hashes, and of
# a consolidation its inputs: these stand in the tombstone. In the place of its words it says that
# they were erased. Of what is damaged it has the type, the time and the actor, and says that.

DAMAGED: Final = "[damaged]"
"""What stands in the place of what is not there, and was not erased, or is not what was written."""

_MEMBERS: Final = ("memory_object_id", "reason", "prev_hash", "new_hash", "audit_ref")


@dataclass(slots=True)
class Erased:
    """What is known of versions whose content is gone: feed it the rows by id and number."""

    versions: dict[int, tuple[str, int]] = field(default_factory=dict)
    """By the number of the entry: the object's id, and the version."""
    hashes: dict[str, dict[int, str]] = field(default_factory=dict)
    """By id: the hash of each version."""
    inputs: dict[str, list[str]] = field(default_factory=dict)
    """By id: what it was consolidated from."""

    def feed(self, rows: Sequence[StoredRow]) -> None:
        for row in rows:
            if row.version.status != "erased":
                continue
            if row.body is None:
                self.versions[row.seq] = (row.version.id, row.version.number)
                continue
            known = self.hashes.setdefault(row.version.id, {})
            tombstone = decode(row.body)
            stated: Mapping[str, str] = tombstone.get("erased", {})
            known.update({int(number): digest for number, digest in stated.items()})
            self.inputs[row.version.id] = [value["id"] for value in tombstone.get("inputs", ())]


def log_actor(actor: str) -> LogActor:
    """Who acted, in the three words of the log."""
    kind: Any = actor.partition(":")[0]
    return LOG_ACTORS.get(kind, "system")


def events(entries: Sequence[StoredEntry], erased: Erased) -> Iterator[dict[str, JsonValue]]:
    """The events that these entries are, in their order."""
    for stored in entries:
        entry = read_entry(stored.entry)
        if entry.kind not in MEMORY_LOG_KINDS:
            continue
        if stored.body is None or not is_as_written(stored):
            yield _without_body(entry, erased)
        elif entry.kind in OBJECT_KINDS:
            yield event_of(
                entry.kind,  # type: ignore[arg-type]
                decode(stored.body),
                digest=integrity_digest(stored.body),
                event_id=_event_id(entry),
                at=entry.at,
                actor=log_actor(entry.actor),
            )
        else:
            document = decode(stored.body)
            yield _event(entry, {name: document.get(name) for name in _MEMBERS})


def is_as_written(stored: StoredEntry) -> bool:
    """Whether an entry has the body that it was written with."""
    if stored.salt is None or stored.body is None:
        return False
    return salted(stored.salt, sha256(stored.body)) == entry_digest(stored.entry)


def _without_body(entry: Entry, erased: Erased) -> dict[str, JsonValue]:
    words = ERASED if entry.seq in erased.versions else DAMAGED
    id, number = erased.versions.get(entry.seq, (words, 0))
    hashes = erased.hashes.get(id, {})
    now, before = hashes.get(number), hashes.get(number - 1)
    members: dict[str, JsonValue] = {"memory_object_id": id, "new_hash": now}
    if entry.kind in CHANGES:
        members |= {"prev_hash": before, "reason": words}
    else:
        members["supersedes"] = before
    if entry.kind == "consolidate":
        members |= {"input_ids": erased.inputs.get(id), "output_id": id}
        members |= {"justification": words, "diff": words}
    return _event(entry, members)


def _event(entry: Entry, members: Mapping[str, Any]) -> dict[str, JsonValue]:
    return event_document(
        event_id=_event_id(entry),
        event_type=entry.kind,  # type: ignore[arg-type]
        at=entry.at,
        actor=log_actor(entry.actor),
        **members,
    )


def _event_id(entry: Entry) -> str:
    return f"evt_{entry.seq}"
