"""What is wrong with a MemoryLog: every violation, with the rule it breaks (GOV-LOG).

===  ======================================================================================
L1   the schema: one JSON object a line, its members and their types
L2   event_type is one of the six
L3   actor is system, human or policy-engine
L4   invalidate, archive and conformance_break have a reason that says something
L5   hashes are ``sha256:`` and 64 lower-case digits; there are those that the type asks for
L6   per id, prev_hash (or `supersedes`) is the last new_hash
L7   event_id is unique; times that go back are a warning
L8   consolidate has inputs, an output, a justification, a diff or a reconstruction (GOV-CONS-4)
L9   objects and log agree: each object has its event, and no object vanished       (GOV-FORGET)
L10  an earlier export is the beginning of this one, byte for byte
L11  nothing became Factual while a conformance break stood                          (GOV-BREAK)
===  ======================================================================================

A log may begin in the middle of a history: an id that is met for the first time has no last hash
to compare with. L9 and L11 need the objects, L10 needs the earlier export.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue
from memoranda.ledger.event import CHANGES, EVENT_TYPES, NEEDS_REASON, STARTS
from memoranda.ledger.model import read
from memoranda.ledger.object import hash_name, unsealed
from memoranda.ledger.time import instant
from memoranda.ledger.validate import TEXT, TEXT_OR_NULL, Violation, misfits, place

Log = str | bytes | Iterable[object]
"""The text of a log, or its lines: as texts, as bytes, or parsed."""

_ACTORS: Final = ("system", "human", "policy-engine")
_REQUIRED: Final = ("event_id", "event_type", "memory_object_id", "timestamp", "actor")
_SHAPES: Final[Mapping[str, str | Sequence[str | None]]] = {
    "event_id": TEXT,
    "event_type": sorted(EVENT_TYPES),
    "memory_object_id": TEXT,
    "timestamp": TEXT,
    "actor": TEXT,
    "reason": TEXT_OR_NULL,
    "prev_hash": TEXT_OR_NULL,
    "new_hash": TEXT_OR_NULL,
}
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")

Document = Mapping[str, JsonValue]


def validate_log(
    lines: Log, *, objects: Iterable[Document] | None = None, earlier: bytes | None = None
) -> list[Violation]:
    """Every violation of a log, in the order of its lines (GOV-LOG).

    With `objects`, all versions of all objects that the log is about, those are compared with
    it; with `earlier`, an older export of the same log, that must be the beginning of this one.
    """
    found: list[Violation] = []
    if earlier is not None:
        lines = lines if isinstance(lines, (str, bytes)) else list(lines)
        found += _rewritten(earlier, lines)
    walk = _Walk()
    for number, line in numbered(lines):
        event, unread = read_line(line)
        wrong = [unread] if unread is not None else [*validate_event(event), *walk.step(event)]
        found += [replace(violation, line=number) for violation in wrong]
    if objects is not None:
        found += _disagreement(walk, list(objects))
    return found


def validate_event(event: Document) -> list[Violation]:
    """Every violation of one event, by itself (L1 to L5 and L8)."""
    found: list[Violation] = []
    for check in (_schema, _reason, _hashes, _consolidation):
        found += check(event)
    return found


def numbered(lines: Log) -> Iterator[tuple[int, object]]:
    """The lines of a log, counted from 1; blank ones say nothing."""
    split: Iterable[object] = lines
    if isinstance(lines, str):
        split = lines.split("\n")
    elif isinstance(lines, bytes):
        split = lines.split(b"\n")
    for number, line in enumerate(split, start=1):
        if not (isinstance(line, (str, bytes)) and not line.strip()):
            yield number, line


def read_line(line: object) -> tuple[dict[str, JsonValue], Violation | None]:
    """The object on a line, or what keeps it from being read (L1)."""
    if isinstance(line, (str, bytes)):
        try:
            line = read(line)
        except InvalidJson as refused:
            return {}, Violation("L1", "GOV-LOG", refused.where, refused.why)
    if not isinstance(line, dict):
        return {}, Violation("L1", "GOV-LOG", "$", "it is not an object")
    return line, None


# ---------------------------------------------------------------- one event by itself


def _schema(event: Document) -> Iterator[Violation]:
    wrong = misfits(event, _SHAPES, _REQUIRED)
    for name, why in wrong.items():
        yield Violation("L1", "GOV-LOG", place(name), why)
    if "event_type" in wrong:
        yield Violation("L2", "GOV-LOG", "$.event_type", wrong["event_type"])
    if event.get("actor") not in _ACTORS:
        yield Violation("L3", "GOV-LOG", "$.actor", f"it must be one of {', '.join(_ACTORS)}")


def _reason(event: Document) -> Iterator[Violation]:
    kind, reason = event.get("event_type"), event.get("reason")
    if _is_in(kind, NEEDS_REASON) and not (isinstance(reason, str) and reason.strip()):
        rule = "GOV-BREAK" if kind == "conformance_break" else "GOV-FORGET"
        yield Violation("L4", rule, "$.reason", f"{kind} needs a reason")


def _hashes(event: Document) -> Iterator[Violation]:
    """L5.

    1. a hash that stands there has the form of one
    2. create and consolidate have no state before
    3. what an event leads to, or changes, has a hash
    """
    kind = event.get("event_type")
    before, after = event.get("prev_hash"), event.get("new_hash")
    # 1.
    for name in ("prev_hash", "new_hash", "supersedes"):
        if event.get(name) is not None and _hash(event, name) is None:
            why = "it is not sha256: and 64 lower-case hexadecimal digits"
            yield Violation("L5", "GOV-LOG", place(name), why)
    # 2.
    if _is_in(kind, STARTS) and before is not None:
        why = f"{kind} has no state before it"
        yield Violation("L5", "GOV-LOG", "$.prev_hash", why)
    # 3.
    if _is_in(kind, CHANGES) and before is None:
        yield Violation("L5", "GOV-LOG", "$.prev_hash", f"{kind} needs the hash before it")
    if _is_in(kind, STARTS | CHANGES) and after is None:
        yield Violation("L5", "GOV-LOG", "$.new_hash", f"{kind} needs the hash after it")


def _consolidation(event: Document) -> Iterator[Violation]:
    if event.get("event_type") != "consolidate":
        return
    inputs, output = event.get("input_ids"), event.get("output_id")
    if not (
        isinstance(inputs, (list, tuple))
        and inputs
        and all(isinstance(input_, str) and input_ for input_ in inputs)
    ):
        yield Violation("L8", "GOV-CONS-4", "$.input_ids", "there are no ids of inputs")
    if not (isinstance(output, str) and output):
        yield Violation("L8", "GOV-CONS-4", "$.output_id", "there is no id of the output")
    elif output != event.get("memory_object_id"):
        why = "it is not the memory_object_id"
        yield Violation("L8", "GOV-CONS-4", "$.output_id", why, "warning")
    justification = event.get("justification")
    if not (isinstance(justification, str) and justification.strip()):
        yield Violation("L8", "GOV-CONS-4", "$.justification", "there is no justification")
    if event.get("diff") in _NOTHING and event.get("reconstruction") in _NOTHING:
        why = "there is neither a diff nor a reconstruction"
        yield Violation("L8", "GOV-CONS-4", "$.diff", why)


_NOTHING: Final[tuple[JsonValue, ...]] = (None, "", [], {})


# ------------------------------------------------------------------- event after event


@dataclass(slots=True)
class _Walk:
    """What was met so far."""

    event_ids: set[str] = field(default_factory=set)
    last: dict[str, str] = field(default_factory=dict)
    """Per id, the hash of its newest state."""
    led_to: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """The states that events led to, and the state of the same id before."""
    during_break: set[tuple[str, str]] = field(default_factory=set)
    """Those of them that came while a conformance break stood."""
    erased: set[str] = field(default_factory=set)
    breaks: dict[str, None] = field(default_factory=dict)
    latest: tuple[int, str] | None = None

    def step(self, event: Document) -> Iterator[Violation]:
        yield from self._unique(event)
        yield from self._in_time(event)
        id, kind = event.get("memory_object_id"), event.get("event_type")
        if not (isinstance(id, str) and isinstance(kind, str)):
            return
        yield from self._continued(event, id, kind)
        if kind == "conformance_break":
            self.breaks[id] = None
        elif kind == "policy_change" and event.get("audit_ref"):
            self.breaks.clear()
        elif (new := _hash(event, "new_hash")) is not None:
            if kind != "policy_change":
                self.led_to[id, new] = self.last.get(id)
                if self.breaks:
                    self.during_break.add((id, new))
            self.last[id] = new
        if event.get("erasure") is True:
            self.erased.add(id)

    def _unique(self, event: Document) -> Iterator[Violation]:
        event_id = event.get("event_id")
        if isinstance(event_id, str):
            if event_id in self.event_ids:
                yield Violation("L7", "GOV-LOG", "$.event_id", f"{event_id!r} stands twice")
            self.event_ids.add(event_id)

    def _in_time(self, event: Document) -> Iterator[Violation]:
        at = event.get("timestamp")
        moment = instant(at) if isinstance(at, str) else None
        if moment is None:
            if isinstance(at, str) and at:
                why = "it is not an RFC 3339 time"
                yield Violation("L7", "GOV-LOG", "$.timestamp", why, "warning")
        elif self.latest is not None and moment < self.latest:
            why = "it is before the time of an earlier event"
            yield Violation("L7", "GOV-LOG", "$.timestamp", why, "warning")
        else:
            self.latest = moment

    def _continued(self, event: Document, id: str, kind: str) -> Iterator[Violation]:
        last = self.last.get(id)
        if last is None or event.get("audit_ref"):
            return
        if kind in CHANGES:
            before = _hash(event, "prev_hash")
            if before is not None and before != last:
                why = f"the last new_hash of {id!r} is {last}"
                yield Violation("L6", "GOV-LOG", "$.prev_hash", why)
        elif kind in STARTS:
            before = _hash(event, "supersedes")
            if before is None:
                why = f"{id!r} is in the log already, and this does not say what it supersedes"
                yield Violation("L6", "GOV-LOG", "$.supersedes", why, "warning")
            elif before != last:
                why = f"the last new_hash of {id!r} is {last}"
                yield Violation("L6", "GOV-LOG", "$.supersedes", why)


# --------------------------------------------------------------------- the log as a whole


def _rewritten(earlier: bytes, lines: Log) -> Iterator[Violation]:
    if isinstance(lines, str):
        now = lines.encode(errors="surrogatepass")
    elif isinstance(lines, bytes):
        now = lines
    else:
        now = b"\n".join(_raw(line) for line in lines)
    if now.startswith(earlier) and (len(now) == len(earlier) or _ends_a_line(earlier, now)):
        return
    same = next(
        (index for index, (old, new) in enumerate(zip(earlier, now, strict=False)) if old != new),
        min(len(earlier), len(now)),
    )
    line = earlier.count(b"\n", 0, same) + 1
    why = "an earlier export is not the beginning of this log"
    yield Violation("L10", "GOV-LOG", f"byte {same}", why, line=line)


def _ends_a_line(earlier: bytes, now: bytes) -> bool:
    return not earlier or earlier.endswith(b"\n") or now[len(earlier) :].startswith(b"\n")


def _raw(line: object) -> bytes:
    if isinstance(line, bytes):
        return line.rstrip(b"\n")
    if isinstance(line, str):
        return line.encode(errors="surrogatepass").rstrip(b"\n")
    try:
        return canonical_bytes(line)
    except InvalidJson:
        return b""


def _disagreement(walk: _Walk, objects: Sequence[Document]) -> Iterator[Violation]:
    """L9 and L11.

    1. each version of an object has the event that led to it, with its hash
    2. each state that an event led to can be had, unless its object was erased
    3. nothing became Factual while a conformance break stood
    """
    held: dict[tuple[str, str], Document] = {}
    for index, document in enumerate(objects):
        where = f"objects[{index}]"
        id, digest = _identity(document)
        if id is None or digest is None:
            why = "it has no id or no canonical form, so no event can be its own"
            yield Violation("L9", "GOV-FORGET", where, why)
            continue
        held[id, hash_name(digest)] = document
        # 1.
        if (id, hash_name(digest)) not in walk.led_to:
            why = f"no event led to this state of {id!r}"
            yield Violation("L9", "GOV-FORGET", where, why)
    for (id, digest), before in walk.led_to.items():
        found = held.get((id, digest))
        # 2.
        if found is None and id not in walk.erased:
            why = f"the state {digest} of {id!r} can't be had: it was deleted in silence"
            yield Violation("L9", "GOV-FORGET", "objects", why)
        # 3.
        if (id, digest) not in walk.during_break or not _is_factual(found):
            continue
        if before is None or not _is_factual(held.get((id, before))):
            why = f"{id!r} became Factual while a conformance break stood"
            yield Violation("L11", "GOV-BREAK", "objects", why)


def _is_factual(document: Document | None) -> bool:
    return document is not None and document.get("verdict_type") == "Factual"


def _identity(document: object) -> tuple[str | None, str | None]:
    if not isinstance(document, dict) or not isinstance(document.get("id"), str):
        return None, None
    try:
        return document["id"], sha256_hex(canonical_bytes(unsealed(document)))
    except InvalidJson:
        return document["id"], None


def _hash(event: Document, name: str) -> str | None:
    value = event.get(name)
    return value if isinstance(value, str) and _HASH.fullmatch(value) else None


def _is_in(kind: JsonValue, kinds: frozenset[str]) -> bool:
    return isinstance(kind, str) and kind in kinds
