"""Bringing MemoryObjects of others into a scope, and those of ours back into another one.

A file of objects has one version a line, each after the one that it replaces. What it says is kept:
statement, type, verdict, sources, times, person, tags. What the door decides is not: it is
``untrusted``, its version counts from 1 in this scope, and the hashes that lead from version to
version, to inputs and to what was superseded are those of the objects as they stand here. An object
without a nonce gets one, or what is left of it after an erasure could be guessed.

The events are this journal's own: who imported it, and when. Of which kind each was follows from
the object. A MemoryLog that comes along is compared with the objects, and is not taken over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.writer import Writer
from memoranda.kernel.clock import RESERVED
from memoranda.kernel.errors import ImportRefused, InvalidInput, InvalidLog, InvalidObject
from memoranda.kernel.given import check_lines
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result
from memoranda.kernel.wire import place_and_reason
from memoranda.ledger.derive import inputs_in, row_of, tags_of
from memoranda.ledger.entry import Kind
from memoranda.ledger.log import read_log
from memoranda.ledger.model import MemoryObject
from memoranda.ledger.object import data_of, hash_name, integrity_digest, status_of, unsealed
from memoranda.ledger.unit import Current, Draft, Unit
from memoranda.ledger.validate import Violation, validate_object
from memoranda.ledger.validate_events import Log, numbered, read_line, validate_log
from memoranda.records.model import MemoryRecordInput

_KINDS: Final[Mapping[str, Kind]] = {
    "invalidated": "invalidate",
    "superseded": "invalidate",
    "archived": "archive",
}


@dataclass(frozen=True, slots=True, repr=False)
class RefusedLine(Result):
    """A line that did not come in, and why."""

    line: int
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.why}, at {self.where}"


@dataclass(frozen=True, slots=True, repr=False)
class ImportReport(Result):
    """What came in, what did not, and what of a log was let through."""

    lines: int
    objects: int
    versions: int
    is_dry_run: bool
    refused: Sequence[RefusedLine] = ()
    log: Sequence[Violation] = ()
    """What is wrong with the log that came along."""
    receipts: Sequence[Receipt] = ()


class Importing:
    """Imports objects into one scope."""

    def __init__(self, table: GovernedTable, drafts: Drafts, writer: Writer[Any]) -> None:
        self._table = table
        self._drafts = drafts
        self._writer = writer

    async def import_objects(
        self, objects: Log, *, log: Log | None, lenient: bool, dry_run: bool
    ) -> ImportReport:
        """Bring objects in, as `Journal.import_objects` says."""
        check_lines("objects", objects)
        if log is not None:
            check_lines("log", log)
        lines = list(numbered(objects))
        reading = _Reading([], [], [])
        for number, line in lines:
            reading.take(number, line)
        wrong = [] if log is None else _log_faults(log, reading.documents)
        if wrong and not lenient:
            raise InvalidLog(len(wrong), wrong[0].line or 0, f"{wrong[0].why}, at {wrong[0].where}")
        note = self._writer.note(None)
        guarded = await self._table.rulebook.guard()
        ids = list(dict.fromkeys(version.id for version in reading.versions))
        done: list[_Import] = []

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            made = _Import(self._drafts, list(reading.refused))
            known = dict(zip(ids, found, strict=True))
            for version in reading.versions:
                made.take(version, is_known=known[version.id] is not None)
            made.refused.sort(key=lambda each: each.line)
            if made.refused and not lenient:
                first = made.refused[0]
                raise ImportRefused(len(made.refused), first.line, str(first))
            guarded(made.drafts)
            done[:] = [made]
            return [] if dry_run else made.drafts

        receipts: Sequence[Receipt] = ()
        if dry_run:
            await self._table.commit(Unit(note.actor, note.at, decide, ids, is_dry=True))
        else:
            receipts = await self._writer.receipts(await self._table.change(ids, note, decide))
        made = done[0]
        return ImportReport(
            len(lines),
            len({draft.version.id for draft in made.drafts if draft.version is not None}),
            len(made.drafts),
            dry_run,
            made.refused,
            wrong,
            receipts,
        )


@dataclass(frozen=True, slots=True)
class _Version:
    """An object of a line, as it stood there."""

    line: int
    id: str
    document: Mapping[str, JsonValue]
    hash: str


class _Reading(NamedTuple):
    """The lines of a file, each looked at by itself."""

    versions: list[_Version]
    refused: list[RefusedLine]
    documents: list[dict[str, JsonValue]]

    def take(self, number: int, line: object) -> None:
        """Look at one more line.

        1. it is a JSON object
        2. it is a MemoryObject, and its hash is right                       (GOV-OBJECT)
        3. its id, data, tags and meta are what a record here may have
        """
        # 1.
        document, unread = read_line(line)
        if unread is not None:
            self.refused.append(RefusedLine(number, unread.where, unread.why))
            return
        # 2.
        errors = [
            violation for violation in validate_object(document) if violation.severity == "error"
        ]
        if errors:
            self.refused.append(RefusedLine(number, errors[0].where, errors[0].why))
            return
        self.documents.append(document)
        try:
            MemoryObject.model_validate(document)
            # 3.
            _check_record(document)
        except InvalidInput as refused:
            where = str(getattr(refused, "where", "$"))
            self.refused.append(RefusedLine(number, where, str(getattr(refused, "why", refused))))
            return
        plain = unsealed(document)
        digest = hash_name(integrity_digest(canonical_bytes(plain)))
        self.versions.append(_Version(number, str(plain["id"]), plain, digest))


def _log_faults(log: Log, objects: Iterable[Mapping[str, JsonValue]]) -> list[Violation]:
    """What is wrong with a log, by itself and compared with its objects."""
    lines = log if isinstance(log, str | bytes) else list(log)
    found = [*read_log(lines, lenient=True).let_through, *validate_log(lines, objects=objects)]
    return list(dict.fromkeys(violation for violation in found if violation.severity == "error"))


def _check_record(document: Mapping[str, JsonValue]) -> None:
    if str(document["id"]).startswith(RESERVED):
        raise InvalidObject("$.id", "ids that begin so are ours")
    given: dict[str, Any] = {"id": document["id"], "data": data_of(document)}
    given |= {name: document[name] for name in ("tags", "meta") if document.get(name) is not None}
    try:
        MemoryRecordInput[Any].model_validate(given)
    except ValidationError as refused:
        raise InvalidObject(*place_and_reason(refused)) from None


class _Import:
    """The drafts of one import, made from what is there when it lands."""

    def __init__(self, drafts: Drafts, refused: list[RefusedLine]) -> None:
        self.drafts: list[Draft] = []
        self.refused = refused
        self._drafts = drafts
        self._newest: dict[str, tuple[_Version, Current]] = {}
        self._given_up: set[str] = set()
        """The ids of which a version was refused: what follows it can't come in either."""
        self._now: dict[str, str] = {}
        """By the hash that an object had: the one that it has here."""

    def take(self, version: _Version, *, is_known: bool) -> None:
        """Make the draft of a version, or say why there is none.

        1. nothing is there under its id, and nothing of it was refused before
        2. nothing was erased of it; its first version here is an active one
        3. what follows a version names its hash
        """
        before = self._newest.get(version.id)
        status = status_of(version.document)
        why = None
        # 1.
        if version.id in self._given_up:
            why = "$.id", "a version before it was refused"
        elif is_known:
            why = "$.id", "something is remembered under this id already"
        # 2.
        elif status == "erased":
            why = "$.status", "it was erased: nothing is left of it"
        elif before is None and status != "active":
            why = "$.status", f"it is {status}, and the version before it is not there"
        # 3.
        elif before is not None and version.document.get("supersedes") != before[0].hash:
            why = "$.supersedes", "it does not follow the version before it in the file"
        if why is not None:
            self._given_up.add(version.id)
            self.refused.append(RefusedLine(version.line, *why))
            return
        self._add(version, None if before is None else before[1])

    def _add(self, given: _Version, before: Current | None) -> None:
        document = dict(given.document)
        document["trust"] = "untrusted"
        document["version"] = str(1 if before is None else before.number + 1)
        document.setdefault("nonce", self._drafts.nonce())
        if (replaced := document.get("supersedes")) is not None:
            document["supersedes"] = self._now.get(replaced, replaced)
        if document.get("inputs") is not None:
            document["inputs"] = [
                {**each, "hash": self._now.get(each["hash"], each["hash"])}
                for each in document["inputs"]
            ]
        kind = _KINDS.get(status_of(document), "create")
        if before is None and document["statement_type"] == "ConsolidatedStatement":
            kind = "consolidate" if "reconstruction" in document else "create"
        body = canonical_bytes(document)
        version = row_of(document)
        current = Current(*version, body)
        self.drafts.append(
            Draft(
                kind,
                body,
                self._drafts.salt(),
                version,
                tags_of(document),
                before,
                () if before is None else tags_of(decode(before.body)),
                inputs=inputs_in(document),
            )
        )
        self._now[given.hash] = hash_name(integrity_digest(body))
        self._newest[given.id] = (given, current)
