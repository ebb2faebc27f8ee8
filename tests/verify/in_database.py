"""An export as a database would have it, so that the library's verifier sees the same journal.

The rows are those of an attacker who did all that can be done: they say what the bodies say.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.identity import decode
from memoranda.journeys.audit.turns import CycleWalk
from memoranda.journeys.audit.worlds import WorldWalk
from memoranda.kernel.errors import InvalidInput
from memoranda.ledger.damage import Damages
from memoranda.ledger.derive import row_of
from memoranda.ledger.rows import RowWalk, erased_row
from memoranda.ledger.snapshot import StoredRow
from memoranda.ledger.unit import StoredEntry, Version
from memoranda.ledger.walk import Walk
from memoranda.recall.sums import WordSums
from tests.verify.journals import canonical_line, sample

Finding = tuple[str, int | None]
Objects = Mapping[int, tuple[str, int]]

OBJECTS = {
    seq: (document["id"], int(document["version"]))
    for seq, one in enumerate(sample(erased=False).kept)
    if (document := json.loads(str(one.body)))["type"] == "MemoryObject"
}
"""Which version of which object an entry of the sample is about."""


def stored(export: bytes) -> list[StoredEntry] | None:
    """The entries of an export, if a database could have such."""
    try:
        written = export.splitlines(keepends=True)
        header, *lines, end = [json.loads(line) for line in written]
        assert [canonical_line(**line) for line in lines] == written[1:-1]
        assert (header["origin"], header["size"]) == (sample().origin, len(lines))
        assert end["type"] == "end"
        return [_stored(seq, **line) for seq, line in enumerate(lines)]
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return None


def _stored(seq: int, *, entry: str, salt: str | None, body: str | None) -> StoredEntry:
    assert (salt is None) == (body is None)
    assert salt is None or salt == salt.lower()
    return StoredEntry(
        seq,
        entry.encode(),
        None if salt is None else bytes.fromhex(salt),
        None if body is None else body.encode(),
    )


class _Entries:
    """A ledger that has entries, and nothing else."""

    def __init__(self, entries: list[StoredEntry]) -> None:
        self._entries = {entry.seq: entry for entry in entries}

    async def entries_at(self, seqs: Sequence[int]) -> list[StoredEntry]:
        return [self._entries[seq] for seq in sorted(seqs) if seq in self._entries]


def found_in_database(
    entries: list[StoredEntry],
    origin: str,
    objects: Objects = OBJECTS,
    words: WordSums | None = None,
) -> list[Finding]:
    """What the library's verifier finds in a journal and its rows, and in its words if asked."""
    damages = Damages()
    walk = Walk(origin, damages)
    walk.feed(entries)
    asyncio.run(WorldWalk(_Entries(entries), damages).feed(entries))  # type: ignore[arg-type]
    walk.facts.finish()
    CycleWalk(damages, b"key").feed(entries)
    rows = RowWalk(walk.objects, damages, words, key=b"key")
    stand = [row for entry in entries if (row := _row(entry, objects))]
    newest = {row.version.id: row.seq for row in stand}
    made = [row._replace(is_newest=newest[row.version.id] == row.seq) for row in stand]
    rows.feed(_since(sorted(made, key=lambda row: (row.version.id, row.version.number))))
    rows.finish()
    return [(one.check, one.seq) for one in damages.found]


def _row(entry: StoredEntry, objects: Objects) -> StoredRow | None:
    if entry.seq not in objects:
        return None
    id, number = objects[entry.seq]
    version = erased_row(id, number)
    if entry.body is not None:
        try:
            version = _said(decode(entry.body))
        except (InvalidInput, LookupError, TypeError, AttributeError, ValueError):
            version = Version(id, number, "active", 0, 0, None, None, None, None)
    return StoredRow(version, entry.seq, entry.seq, False, entry.body)


def _since(rows: list[StoredRow]) -> list[StoredRow]:
    """The rows as a store has them: each names the entry since which its object is active."""
    made: list[StoredRow] = []
    for row in rows:
        last = made[-1] if made and made[-1].version.id == row.version.id else None
        is_going_on = last and last.version.status == row.version.status == "active"
        made.append(row._replace(since=last.since) if last and is_going_on else row)
    return made


def _said(document: Any) -> Version:
    version = row_of(document)
    if not isinstance(version.id, str):
        raise TypeError(version.id)  # no database takes it
    return version
