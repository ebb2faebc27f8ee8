"""What is wrong with a MemoryObject: every violation, with the rule it breaks (GOV-OBJECT).

The labels are those of the governance reference. O1 is the seed's JSON schema, by hand; a member
that the schema refuses is named by its own check as well, where it has one.

===  ======================================================================================
O1   the schema: members, their types, their enumerations
O2   statement_type is one of the five                                          (GOV-TYPE)
O3   verdict_type is one of the four
O4   source_refs is there, and each source has a uri
O5   timestamp is an RFC 3339 time
O6   each bound is a time or explicitly unknown; bounded has an end  (GOV-TIME-1, GOV-TIME-2)
O7   applicability_scope is there
O8   jurisdiction is a text or null
O9   version is a non-empty text
O10  integrity_hash is sha256 in 64 lower-case digits, and is the hash of the object
O11  what is Factual or a SourceStatement has a source
O12  what is a ConsolidatedStatement has a source                             (GOV-CONS-5)
O13  for use now: not past its time, not forgotten, no conformance break stands
===  ======================================================================================

One fault is one finding: where mending it would mend another, the other is not reported. Nothing
that is given makes a validator raise.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue, path
from memoranda.kernel.results import Result
from memoranda.ledger.model import read
from memoranda.ledger.object import (
    ALGORITHM,
    INTEGRITY,
    STATEMENT_TYPES,
    TEMPORAL_SCOPES,
    TYPE,
    VERDICT_TYPES,
    unsealed,
)
from memoranda.ledger.time import instant, moment

# ------------------------------------------------------------------------------------------------
# What a validator found: one thing that is wrong, where, and which rule it breaks.

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, repr=False)
class Violation(Result):
    """One violation: the check that failed, the rule behind it, the place, the reason.

    `line` is the line of a log, counted from 1; None for an object.
    """

    check: str
    rule: str
    where: str
    why: str
    severity: Severity = "error"
    line: int | None = None

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}, "
        return f"{self.severity} {self.check} ({self.rule}): {line}{self.where}: {self.why}"


# ---------------------------------------------------------------------- JSON Schema
# The few words of JSON Schema that the two schemas of the seed use, so that none is needed at
# run time. A shape is what a member must be; its answer is what is wrong, or None.

TEXT: Final = "a non-empty text"
TEXT_OR_NULL: Final = "a text or null"


def misfit(value: JsonValue, shape: str | Sequence[str | None]) -> str | None:
    """What is wrong with a value of a shape: one of ours by name, or a list of the allowed."""
    match shape:
        case "a non-empty text":
            fits = isinstance(value, str) and value != ""
        case "a text or null":
            fits = value is None or isinstance(value, str)
        case "an object or null":
            fits = value is None or isinstance(value, dict)
        case str():
            raise ValueError(shape)
        case _:
            fits = value is None or isinstance(value, str)
            if fits and value in shape:
                return None
            return (
                f"it must be one of {', '.join('null' if text is None else text for text in shape)}"
            )
    return None if fits else f"it is not {shape}"


def misfits(
    document: Mapping[str, JsonValue],
    shapes: Mapping[str, str | Sequence[str | None]],
    required: Sequence[str],
) -> dict[str, str]:
    """Per member that does not fit: what is wrong with it."""
    found = {name: "it is missing" for name in required if name not in document}
    for name, shape in shapes.items():
        if name in document and (why := misfit(document[name], shape)):
            found[name] = why
    return found


def place(*steps: str | int) -> str:
    """The path to a member: ``$.a[0]``."""
    where = "$"
    for step in steps:
        where = path(where, step)
    return where


_REQUIRED: Final = (
    *("id", "type", "statement", "statement_type", "verdict_type"),
    *("timestamp", "version", INTEGRITY),
)
_SHAPES: Final[Mapping[str, str | Sequence[str | None]]] = {
    "id": TEXT,
    "type": (TYPE,),
    "statement": TEXT,
    "statement_type": STATEMENT_TYPES,
    "verdict_type": VERDICT_TYPES,
    "timestamp": TEXT,
    "valid_from": TEXT_OR_NULL,
    "valid_to": TEXT_OR_NULL,
    "temporal_scope": (*TEMPORAL_SCOPES, None),
    "jurisdiction": TEXT_OR_NULL,
    "applicability_scope": "an object or null",
    "version": TEXT,
}
_OWN_CHECK: Final = {
    "statement_type": ("O2", "GOV-TYPE"),
    "verdict_type": ("O3", "GOV-OBJECT"),
    "jurisdiction": ("O8", "GOV-OBJECT"),
    "version": ("O9", "GOV-OBJECT"),
}
"""Members that the schema checks whole, and the label that they have beside O1."""

_SHORTEST_DIGEST: Final = 8
_HEX_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FORGOTTEN: Final = frozenset({"invalidated", "archived", "superseded", "erased"})


def validate_object(document: object) -> list[Violation]:
    """Every violation of a MemoryObject: a dict, or the text or bytes of one (GOV-OBJECT)."""
    if isinstance(document, (str, bytes)):
        try:
            document = read(document)
        except InvalidJson as refused:
            return [Violation("O1", "GOV-OBJECT", refused.where, refused.why)]
    if not isinstance(document, dict):
        return [Violation("O1", "GOV-OBJECT", "$", "it is not an object")]
    found: list[Violation] = []
    for check in (_schema, _sources, _timestamp, _temporal, _applicability, _integrity, _grounded):
        found += check(document)
    return found


def validate_use(
    document: Mapping[str, JsonValue], *, at: int, breaks: Sequence[str] = ()
) -> list[Violation]:
    """What rules out that an object is used for a factual output at this time (O13).

    `breaks` are the conformance breaks that stand. An `expires` of ours counts as well.
    """
    found: list[Violation] = []
    now = moment(at)
    for name in ("valid_to", "expires"):
        bound = document.get(name)
        end = instant(bound) if isinstance(bound, str) else None
        # An end is inclusive, an expiry is not.
        if end is not None and (end < now or (end == now and name == "expires")):
            found.append(Violation("O13", "GOV-TIME-1", place(name), "it is past its time"))
    status = document.get("status")
    if isinstance(status, str) and status in _FORGOTTEN:
        found.append(Violation("O13", "GOV-FORGET", "$.status", f"it is {status}"))
    found += [
        Violation("O13", "GOV-BREAK", "$", f"the conformance break {break_!r} stands")
        for break_ in breaks
    ]
    return found


# --------------------------------------------------------------------------- checks

Document = Mapping[str, JsonValue]


def _schema(document: Document) -> Iterator[Violation]:
    for name, why in misfits(document, _SHAPES, _REQUIRED).items():
        yield Violation("O1", "GOV-OBJECT", place(name), why)
        if name in _OWN_CHECK:
            check, rule = _OWN_CHECK[name]
            yield Violation(check, rule, place(name), why)


def _sources(document: Document) -> Iterator[Violation]:
    """O4, and O1 where a source is not what the schema says."""
    if "source_refs" not in document:
        yield Violation("O4", "GOV-OBJECT", "$.source_refs", "it is missing; write [] for none")
        return
    for where, why, is_unnamed in _misshapen_sources(document["source_refs"]):
        yield Violation("O1", "GOV-OBJECT", where, why)
        if is_unnamed:
            yield Violation("O4", "GOV-OBJECT", where, why)


def _misshapen_sources(sources: JsonValue) -> Iterator[tuple[str, str, bool]]:
    if not isinstance(sources, (list, tuple)):
        yield "$.source_refs", "it is not a list", True
        return
    for index, source in enumerate(sources):
        if not isinstance(source, dict):
            yield place("source_refs", index), "a source is an object", True
            continue
        shapes = {"uri": TEXT, "anchor": TEXT_OR_NULL, "retrieved_at": TEXT_OR_NULL}
        for name, why in misfits(source, shapes, ["uri"]).items():
            yield place("source_refs", index, name), why, name == "uri"


def _timestamp(document: Document) -> Iterator[Violation]:
    if not _is_time(document.get("timestamp")):
        yield Violation("O5", "GOV-OBJECT", "$.timestamp", "it is not an RFC 3339 time")


def _temporal(document: Document) -> Iterator[Violation]:
    """O6.

    1. a bound that stands there is a time
    2. a bound that is missing or null is explicitly unknown; an end may be unbounded instead
    3. what is bounded has an end                                               (GOV-TIME-1)
    4. the end is not before the start
    """
    scope = document.get("temporal_scope")
    bounds = {name: document.get(name) for name in ("valid_from", "valid_to")}
    # 1.
    for name, bound in bounds.items():
        if bound is not None and not _is_time(bound):
            yield Violation("O6", "GOV-TIME-2", place(name), "it is not an RFC 3339 time")
    # 2. and 3.
    if bounds["valid_from"] is None and scope != "unknown":
        why = "there is no start, and temporal_scope does not say 'unknown'"
        yield Violation("O6", "GOV-TIME-2", "$.valid_from", why)
    if bounds["valid_to"] is None and scope == "bounded":
        yield Violation("O6", "GOV-TIME-1", "$.valid_to", "it is bounded, and has no end")
    elif bounds["valid_to"] is None and scope not in ("unknown", "unbounded"):
        why = "there is no end, and temporal_scope does not say 'unknown' or 'unbounded'"
        yield Violation("O6", "GOV-TIME-2", "$.valid_to", why)
    elif bounds["valid_to"] is not None and scope == "unbounded":
        why = "it has an end, and temporal_scope says 'unbounded'"
        yield Violation("O6", "GOV-TIME-2", "$.temporal_scope", why, "warning")
    # 4.
    start, end = (instant(bound) if isinstance(bound, str) else None for bound in bounds.values())
    if start is not None and end is not None and end < start:
        yield Violation("O6", "GOV-TIME-2", "$.valid_to", "it is before valid_from")


def _applicability(document: Document) -> Iterator[Violation]:
    if "applicability_scope" not in document:
        why = "it is missing; write null where it is not restricted"
        yield Violation("O7", "GOV-OBJECT", "$.applicability_scope", why)


def _integrity(document: Document) -> Iterator[Violation]:
    """O10, and O1 where the hash is not what the schema says."""
    wrong = [
        Violation("O1", "GOV-OBJECT", where, why)
        for where, why in _misshapen_hash(document.get(INTEGRITY))
        if INTEGRITY in document  # that it is missing, `_schema` said
    ]
    yield from wrong
    why = _hash_fault(document)
    if why is not None:
        yield Violation("O10", "GOV-OBJECT", place(INTEGRITY), why)


def _misshapen_hash(stated: JsonValue) -> Iterator[tuple[str, str]]:
    if not isinstance(stated, dict):
        yield place(INTEGRITY), "it is not an object"
        return
    shapes = {"algo": (ALGORITHM,), "digest": TEXT, "note": TEXT_OR_NULL}
    for name, why in misfits(stated, shapes, ["algo", "digest"]).items():
        yield place(INTEGRITY, name), why
    digest = stated.get("digest")
    if isinstance(digest, str) and 0 < len(digest) < _SHORTEST_DIGEST:
        why = f"it has fewer than {_SHORTEST_DIGEST} characters"
        yield place(INTEGRITY, "digest"), why
    for name in stated:
        if name not in shapes:
            yield place(INTEGRITY, str(name)), "a hash has no such member"


def _hash_fault(document: Document) -> str | None:
    stated = document.get(INTEGRITY)
    if not isinstance(stated, dict):
        return "there is no integrity hash"
    algo, digest = stated.get("algo"), stated.get("digest")
    if algo != ALGORITHM:
        return "its algorithm is not sha256"
    if not isinstance(digest, str) or not _HEX_DIGEST.fullmatch(digest):
        return "its digest is not 64 lower-case hexadecimal digits"
    try:
        computed = sha256_hex(canonical_bytes(unsealed(document)))
    except InvalidJson as refused:
        return f"the object has no canonical form: {refused.why}, at {refused.where}"
    return None if digest == computed else f"the object's digest is {computed}"


def _grounded(document: Document) -> Iterator[Violation]:
    """O11 and O12: what claims a source has one. A source that can't be read is O4's."""
    sources = document.get("source_refs")
    if sources is not None and sources not in ([], ()):
        return
    statement_type = document.get("statement_type")
    if document.get("verdict_type") == "Factual":
        why = "what is Factual needs a source"
        yield Violation("O11", "GOV-OBJECT", "$.source_refs", why)
    elif statement_type == "SourceStatement":
        why = "a SourceStatement needs a source"
        yield Violation("O11", "GOV-TYPE", "$.source_refs", why)
    if statement_type == "ConsolidatedStatement":
        why = "a ConsolidatedStatement needs a source"
        yield Violation("O12", "GOV-CONS-5", "$.source_refs", why)


def _is_time(value: JsonValue) -> bool:
    return isinstance(value, str) and instant(value) is not None
