"""The MemoryLog of seed 003 as a view of a journal (GOV-LOG).

Of what was erased the log still has the type, the time, the actor, the id and the hashes, and of a
consolidation its inputs: these stand in the tombstone. In the place of its words it says that they
were erased. Of what is damaged it has the type, the time and the actor, and says that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memoranda.identity import decode, sha256
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import MEMORY_LOG_KINDS, Entry, entry_digest, read_entry, salted
from memoranda.ledger.event import CHANGES, LOG_ACTORS, LogActor, event_document, event_of
from memoranda.ledger.forget import ERASED
from memoranda.ledger.object import integrity_digest
from memoranda.ledger.unit import StoredEntry, StoredRow
from memoranda.ledger.walk import OBJECT_KINDS

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
        """Look at these rows."""
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
            self.inputs[row.version.id] = [one["id"] for one in tombstone.get("inputs", ())]


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
