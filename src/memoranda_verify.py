"""Verify an export of memoranda, with nothing of memoranda.

This is a second implementation, written from docs/format.md alone: one file that an auditor can
read in an hour and run anywhere. It needs Python 3.11; `--key` needs `cryptography`, nothing else.

    python memoranda_verify.py export.ndjson --checkpoint kept.txt --key NAME+ID+KEY

The walk reads the export once, line by line, and keeps little: a few hashes of the tree, the newest
version of each object, and some snapshots of worlds, because the next ones say only what changed. A
snapshot that rests on one from long before is restored from the lines themselves: see `Again`. Each
line is checked in this order:

1. form       the line, its entry and its body are of the form that they must have
2. seq        the entry's number is one more than that of the entry before
3. previous   it names the hash of the entry before
4. time       it is not older than the entry before
5. body       salt and body have the digest that the entry names
6. object     the rules for objects and facts hold
7. world      the snapshots and ids of worlds have the hashes that they say

and at the end of the export:

8. size       there are as many entries as the header says
9. root       the checkpoint at the end is of this origin, size and root
10. signature the keys that are known have signed it, as far as they signed
11. anchor    the checkpoints that were kept elsewhere are of this journal

Damage is reported, never raised: an auditor wants all of it. After a finding the walk goes on from
what is stored, so that one edit isn't reported a million times.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import math
import os
import re
import sys
import tempfile
import time
import zlib
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import datetime
from json.decoder import scanstring  # type: ignore[attr-defined]  # what reads every string
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CHECKS = (
    "form", "seq", "previous", "time", "body", "object", "world", "size", "root", "signature",
    "anchor",
)  # fmt: skip
LONGEST_LINE = 64 * 2**20
DAMAGED = 5  # the exit code, as of `memoranda verify`
DEEPEST_BODY = 128
MOST_SIGNATURES = 100
LARGEST_INTEGER = 2**53 - 1  # what a double holds exactly
LONGEST_NOTE = 2**20
DEEPEST_SNAPSHOT = 64
LARGEST_SNAPSHOT = 16 * 2**20
ROOM_FOR_SNAPSHOTS = 16 * 2**20  # so many bytes of them are kept for those that rest on them

MEMBERS = ("actor", "at", "body_digest", "kind", "previous_entry_hash", "seq", "v")
OBJECT_KINDS = frozenset({"create", "consolidate", "invalidate", "archive"})
FACT_TYPES = {
    "proposal": ("Proposal",),
    "decision": ("Vote", "Decision"),
    "world": ("World", "Branch"),
    "execution": ("ExecutionBegun", "ExecutionSealed", "ExecutionAbandoned"),
    "effect": ("EffectStarted", "EffectFinished"),
    "erasure": ("Erasure",),
    "trace": ("Trace",),
    "cycle": ("Cycle",),
}
WORLD_KINDS = frozenset({"world", "execution"})
KINDS = (
    OBJECT_KINDS
    | FACT_TYPES.keys()
    | {"policy_change", "conformance_break", "checkpoint", "maintenance"}
)
STATEMENT_TYPES = (
    "SourceStatement", "UserProvidedStatement", "SystemGeneratedStatement", "DerivedStatement",
    "ConsolidatedStatement",
)  # fmt: skip
VERDICT_TYPES = ("Factual", "Inference", "False", "Unanswered")
ENDINGS = {"invalidate": ("invalidated", "superseded"), "archive": ("archived", "erased")}

# ---------------------------------------------------------------------------------------- JSON


class Malformed(ValueError):
    """A text that is not of the form that it must have; the message says why."""


def shown(text: object, most: int = 80) -> str:
    """What came out of a file, fit for a terminal: short, and without control characters."""
    found = text if isinstance(text, str) else repr(text)
    cut = found if len(found) <= most else found[: most - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def _refuse(constant: str) -> NoReturn:
    raise Malformed(f"{constant} is not JSON")


def _number(digits: str) -> int | float:
    """A number as JSON means it: a double, which holds integers up to 2^53-1 exactly."""
    if len(digits) <= 17 and digits.lstrip("-").isdigit():
        whole = int(digits)
        if abs(whole) <= LARGEST_INTEGER:
            return whole
    double = float(digits)
    if math.isinf(double):
        raise Malformed(f"the number {shown(digits, 24)} is beyond a double")
    return double


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Malformed(f"the key {shown(twice)!r} stands twice")
    return found


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_number, parse_int=_number, parse_constant=_refuse
)


def parse(text: str) -> Any:
    """Read JSON of which no two parsers could think differently; raise Malformed."""
    try:
        return _STRICT.decode(text)
    except Malformed:
        raise
    except ValueError as wrong:
        raise Malformed(f"not JSON: {wrong}") from None
    except RecursionError:
        raise Malformed("nested too deeply") from None


_ESCAPES = {'"': '\\"', "\\": "\\\\"} | {chr(byte): f"\\u{byte:04x}" for byte in range(0x20)}
_ESCAPES |= {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_TO_ESCAPE = re.compile(r'["\\\x00-\x1f]')
_SURROGATE = re.compile("[\ud800-\udfff]")


def _string(text: str) -> str:
    """RFC 8785, 3.2.2.2: only what must be escaped is, in the shortest way."""
    if _SURROGATE.search(text):
        raise Malformed("a lone surrogate has no UTF-8 form")
    return '"' + _TO_ESCAPE.sub(lambda found: _ESCAPES[found[0]], text) + '"'


def _double(value: float) -> str:
    """RFC 8785, 3.2.2.3: as ECMAScript writes a number. Python finds the same shortest digits."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0)  # digits before the decimal point, as if written out
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = "." + digits[1:] if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def canonical(value: Any, room: int = DEEPEST_BODY) -> str:
    """RFC 8785: the one text of a value that `parse` gave."""
    if room == 0 and isinstance(value, dict | list):
        raise Malformed(f"nested deeper than {DEEPEST_BODY}")
    match value:
        case str():
            return _string(value)
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _double(value)
        case None:
            return "null"
        case list():
            return "[" + ",".join(canonical(item, room - 1) for item in value) + "]"
        case dict():
            ordered = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
            members = (_string(name) + ":" + canonical(value[name], room - 1) for name in ordered)
            return "{" + ",".join(members) + "}"
        case _:
            raise TypeError(type(value))


def depth(value: Any, most: int) -> int:
    """How deep a value is nested; raise Malformed if that is more than `most`."""
    inner = value.values() if type(value) is dict else value if type(value) is list else None
    if inner is None:
        return 0
    if most == 0:
        raise Malformed("nested too deeply")
    kinds = set(map(type, inner))
    if dict not in kinds and list not in kinds:
        return 1
    return 1 + max(depth(one, most - 1) for one in inner)


def has_floats(value: Any) -> bool:
    """Whether there are floats in it, which the library writes otherwise than RFC 8785."""
    inner = value.values() if type(value) is dict else value if type(value) is list else None
    if inner is None:
        return type(value) is float
    kinds = set(map(type, inner))
    if float in kinds:
        return True
    return (dict in kinds or list in kinds) and any(map(has_floats, inner))


class _Careful(ValueError):
    """A body that the fast way can't judge."""


def _careful(_: str) -> NoReturn:
    raise _Careful


def _small(digits: str) -> int:
    if len(digits) > 15:
        raise _Careful
    return int(digits)


_FAST = json.JSONDecoder(parse_float=_careful, parse_int=_small, parse_constant=_careful).raw_decode
_WRITE = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False, allow_nan=False
).iterencode


def read_json(text: str) -> tuple[Any, str | None]:
    """The value of canonical JSON, as far as it has one, and what is wrong with its form.

    The library's writer gives the text again only if it was canonical already, provided that there
    are no floats, no large integers and no characters of two UTF-16 units, which sort otherwise.
    Then that is all; whatever is not so plain goes through the writer above.
    """
    try:
        value, _ = _FAST(text)
        if (
            "".join(_WRITE(value, _one_shot=True)) == text
            and (text.isascii() or len(text.encode("utf-16-le")) == 2 * len(text))
            and (text.count("{") + text.count("[") <= DEEPEST_BODY or depth(value, DEEPEST_BODY))
        ):
            return value, None
    except (ValueError, RecursionError):
        pass
    try:
        value = parse(text)
        return value, None if canonical(value) == text else "it is not canonical"
    except Malformed as wrong:
        return None, str(wrong)


def written(value: Any, *, is_plain: bool) -> str:
    """The canonical text of a value; fast if it is plain, which is to say without floats."""
    if is_plain:
        text = "".join(_WRITE(value, _one_shot=True))
        if text.isascii() or len(text.encode("utf-16-le")) == 2 * len(text):
            return text
    return canonical(value)


def read_body(text: str) -> tuple[dict[str, Any] | None, str | None]:
    """A body's members, as far as it has any, and what is wrong with its form."""
    value, wrong = read_json(text)
    if type(value) is dict:
        return value, wrong and f"the body: {wrong}"
    return None, f"the body: {wrong or 'it is not an object'}"


# -------------------------------------------------------------------------------------- entries


class Entry(NamedTuple):
    """The members of an entry that the walk compares."""

    at: int
    body_digest: str
    kind: str
    previous: str
    seq: int


# The canonical form itself, for actors without escapes; Q stands for a quotation mark.
_PATTERN = (
    r"\{QactorQ:Q[^\":\\\x00-\x1f]+:[^\"\\\x00-\x1f]+Q,QatQ:(0|[1-9][0-9]{0,14}),"
    r"Qbody_digestQ:Q([0-9a-f]{64})Q,QkindQ:Q([a-z_]+)Q,Qprevious_entry_hashQ:Q([0-9a-f]{64})Q,"
    r"QseqQ:(0|[1-9][0-9]{0,14}),QvQ:1\}"
)
_ENTRY = re.compile(_PATTERN.replace("Q", '"'))
_HASH = re.compile(r"[0-9a-f]{64}")
_SALT = re.compile(r"[0-9a-f]{32}")


def read_entry(text: str) -> tuple[Entry | None, str | None]:
    """An entry's members, as far as they can be used, and what is wrong with its form."""
    if (found := _ENTRY.fullmatch(text)) and found[3] in KINDS:
        return Entry(int(found[1]), found[2], found[3], found[4], int(found[5])), None
    try:
        members = parse(text)
        if not isinstance(members, dict) or sorted(members) != list(MEMBERS):
            raise Malformed(f"it has other members than {', '.join(MEMBERS)}")
        for name in ("at", "seq"):
            if type(members[name]) is not int or members[name] < 0:
                raise Malformed(f"{name} is not a whole number from 0")
        for name in ("body_digest", "previous_entry_hash"):
            if not isinstance(members[name], str) or not _HASH.fullmatch(members[name]):
                raise Malformed(f"{name} is not 64 hex digits")
        if members["kind"] not in KINDS:
            raise Malformed(f"{shown(members['kind'])!r} is no kind")
        if type(members["v"]) is not int or members["v"] != 1:
            raise Malformed("v is not 1")
        _, at, digest, kind, previous, seq, _ = (members[name] for name in MEMBERS)
        entry = Entry(at, digest, kind, previous, seq)
        kind, colon, id = str(members["actor"]).partition(":")
        if not isinstance(members["actor"], str) or not (kind and colon and id):
            return entry, "the entry: actor is not kind:id"
        if canonical(members) != text:
            return entry, "the entry is not canonical"
    except (Malformed, TypeError) as wrong:
        return None, f"the entry: {wrong}"
    return entry, None


# ----------------------------------------------------------------------------------------- tree

_sha256 = hashlib.sha256


class Tree:
    """RFC 6962, 2.1: the roots of the full subtrees, largest first; each addition is one leaf."""

    def __init__(self) -> None:
        self.size = 0
        self._peaks: list[bytes] = []

    def add(self, entry: bytes) -> None:
        """Grow by the leaf of an entry."""
        node, peaks, size = _sha256(b"\x00" + entry).digest(), self._peaks, self.size
        while size & 1:
            node = _sha256(b"\x01" + peaks.pop() + node).digest()
            size >>= 1
        peaks.append(node)
        self.size += 1

    def root(self) -> bytes:
        """The root at the present size."""
        if not self._peaks:
            return _sha256().digest()
        *left, node = self._peaks
        for peak in reversed(left):
            node = _sha256(b"\x01" + peak + node).digest()
        return node


# -------------------------------------------------------------------------------------- objects


class Versions:
    """The newest version of each object, its digest and the first place, in 64 to 72 bytes each.

    A table of our own, because a dict of a million small values would take three times as much.
    Ids are told apart by their 64-bit hash, which Python keys anew in each process.
    """

    def __init__(self) -> None:
        self._slots = array("I", bytes(4 * 1024))
        self._hashes = array("q")
        self._versions = array("Q")
        self._places = array("Q")
        self._digests = bytearray()

    def _slot(self, key: int) -> int:
        slots, hashes = self._slots, self._hashes
        mask = len(slots) - 1
        slot = key & mask
        while (row := slots[slot]) and hashes[row - 1] != key:
            slot = (slot + 1) & mask
        return slot

    def swap(self, id: str, version: int, digest: bytes, place: int) -> tuple[int, bytes, int]:
        """Keep what is the newest now; return what was: version 0 for an id that was not seen.

        With it comes the place of the first body of the object.
        """
        key = hash(id)
        slot = self._slot(key)
        if row := self._slots[slot]:
            here = slice(32 * row - 32, 32 * row)
            before = self._versions[row - 1], bytes(self._digests[here]), self._places[row - 1]
            self._versions[row - 1] = version
            self._digests[here] = digest
            return before
        self._hashes.append(key)
        self._versions.append(version)
        self._places.append(place)
        self._digests += digest
        self._slots[slot] = len(self._hashes)
        if len(self._hashes) * 3 > len(self._slots) * 2:
            self._slots = array("I", bytes(8 * len(self._slots)))
            for row, known in enumerate(self._hashes, 1):
                self._slots[self._slot(known)] = row
        return 0, b"", place


_VERSION = re.compile(r"[1-9][0-9]{0,14}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{3})?Z"
)
_SUPERSEDES = re.compile(r"sha256:[0-9a-f]{64}")


def _text(value: Any) -> bool:
    return type(value) is str and value != ""


def _is_time(value: Any) -> bool:
    """RFC 3339 in UTC, in whole seconds or milliseconds, of a day that there is."""
    if type(value) is not str or not _TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def broken_member(body: dict[str, Any]) -> str | None:
    """Rule 1 for objects: the members that seed 003 demands."""
    if body.get("type") != "MemoryObject":
        return "type is not MemoryObject"
    if not (
        _text(body.get("id")) and _text(body.get("statement")) and _text(body.get("timestamp"))
    ):
        return "id, statement or timestamp is missing or not a text"
    if body.get("statement_type") not in STATEMENT_TYPES:
        return "statement_type is missing or not one of seed 003"
    if body.get("verdict_type") not in VERDICT_TYPES:
        return "verdict_type is missing or not one of seed 003"
    if type(body.get("source_refs")) is not list:
        return "source_refs is missing or not an array"
    if "applicability_scope" not in body:
        return "applicability_scope is missing"
    if not _text(body.get("temporal_scope")) and not {"valid_from", "valid_to"} <= body.keys():
        return "it says neither valid_from and valid_to nor temporal_scope"
    return "it has an integrity_hash" if "integrity_hash" in body else None


def unreadable_member(body: dict[str, Any]) -> str | None:
    """Rule 7 for objects: what one is found by can be read."""
    if not _is_time(body["timestamp"]):
        return "timestamp is not a time"
    for name in ("valid_from", "valid_to", "expires", "said_at"):
        if body.get(name) is not None and not _is_time(body[name]):
            return f"{name} is not a time"
    for name in ("created_ms", "updated_ms"):
        if name in body and type(body[name]) is not int:
            return f"{name} is not a whole number"
    for name in ("subject", "thread", "in_thread", "speaker", "media_type"):
        if body.get(name) is not None and not _text(body[name]):
            return f"{name} is not a text"
    if type(body.get("indexed", True)) is not bool:
        return "indexed is neither true nor false"
    tags, inputs = body.get("tags"), body.get("inputs")
    if tags is not None and not (type(tags) is list and all(map(_text, tags))):
        return "tags are not texts"
    if inputs is not None and not (
        type(inputs) is list and all(type(one) is dict and _text(one.get("id")) for one in inputs)
    ):
        return "inputs do not name ids"
    form = body.get("format", "text")
    if form not in ("text", "json", "bytes"):
        return "format is neither text, json nor bytes"
    if form == "bytes":
        return undescribed_bytes(body)
    if form == "json" and read_json(body["statement"])[1]:
        return "the statement is not canonical JSON, and format says that it is"
    return None


def undescribed_bytes(body: dict[str, Any]) -> str | None:
    """Rule 7 for objects that hold bytes: they are base64, and the statement describes them."""
    data, media_type = body.get("data"), body.get("media_type")
    if not isinstance(data, str) or not _text(media_type):
        return "data or media_type is missing or not a text, and format says that there are bytes"
    try:
        held = base64.b64decode(data, validate=True)
    except ValueError:
        return "data is not base64"
    if base64.b64encode(held).decode() != data:
        return "data is not base64 in its one form"
    digest = hashlib.sha256(held).hexdigest()
    if body["statement"] != f"{media_type}, {len(held)} bytes, sha256 {digest}":
        return "the statement does not describe the bytes"
    return None


def broken_ending(kind: str, body: dict[str, Any]) -> str | None:
    """Rules 4 and 5 for objects: a reason for what ends one, and the status that fits."""
    if kind not in ENDINGS:
        return "its status is not active, which is said by no status" if "status" in body else None
    reason = body.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        return f"{kind} without a reason"
    if body.get("status") not in ENDINGS[kind]:
        return f"{kind} leads to the status {shown(body.get('status'))}"
    return None


# ---------------------------------------------------------------------------------------- facts


def _is_before(number: Any, seq: int) -> bool:
    return type(number) is int and 0 <= number < seq


def _are_names(value: Any) -> bool:
    return type(value) is list and all(map(_text, value)) and len(set(value)) == len(value)


def _pairs(value: Any) -> bool:
    """Whether it is an array of arrays of two, each once."""
    if type(value) is not list or not all(type(one) is list and len(one) == 2 for one in value):
        return False
    return len(set(map(canonical, value))) == len(value)


def broken_fact(kind: str, body: dict[str, Any], seq: int) -> str | None:
    """Rules 1 and 2 for facts, as far as they ask for no other entry."""
    if body["type"] not in FACT_TYPES[kind]:
        return f"{shown(body['type'])!r} is no type of a {kind}"
    for name in ("marks", "inputs"):
        if name in body and not _are_names(body[name]):
            return f"{name} are not names, each once"
    if ("output" in body) != bool(body.get("inputs")) or not _text(body.get("output", "-")):
        return "inputs and output are not there together"
    unmarks = body.get("unmarks", [])
    if not (_pairs(unmarks) and all(_text(name) and _is_before(at, seq) for name, at in unmarks)):
        return "unmarks are not marks of entries before it, each once"
    return broken_erasure(body, seq) if kind == "erasure" else None


def broken_erasure(body: dict[str, Any], seq: int) -> str | None:
    """Rule 2 for facts: the form of an erasure."""
    reason = body.get("reason")
    if type(reason) is not str or not reason.strip() or not _text(body.get("cause")):
        return "an erasure without a reason or a cause"
    erased = body.get("erased")
    if not erased or not _pairs(erased):
        return "an erasure does not say what was erased"
    for number, digest in erased:
        if not _is_before(number, seq) or type(digest) is not str or not _HASH.fullmatch(digest):
            return "what was erased are not entries before the erasure, with their digests"
    return None


# --------------------------------------------------------------------------------------- worlds

_NO_FIT = "the changes do not fit the snapshot before"
_KEEPERS = {"ExecutionSealed": "world", "Branch": "head"}
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _hex(text: str) -> str:
    return _sha256(text.encode()).hexdigest()


def world_id(schema_hash: str, snapshot_hash: str) -> str:
    """The id of a world."""
    return _hex(f"{schema_hash}:{snapshot_hash}")


def broken_world(body: dict[str, Any]) -> str | None:
    """Rule 1 for worlds: the id of a World follows from its hashes."""
    world = body.get("world")
    found = [
        world.get(name) if type(world) is dict else None
        for name in ("schemaHash", "snapshotHash", "worldId")
    ]
    if not all(type(one) is str for one in found):
        return "the world has no worldId, schemaHash and snapshotHash"
    if found[2] != world_id(str(found[0]), str(found[1])):
        return "the id of the world is not the hash of its schema and snapshot"
    return None


def _system_input(system: Any) -> dict[str, Any]:
    """What of the system state is part of a snapshot's hash; raise Malformed."""
    if type(system) is not dict or "lastError" not in system:
        raise Malformed("the snapshot has no system with a lastError")
    errors, pending = system.get("errors"), system.get("pendingRequirements")
    if type(errors) is not list or type(pending) is not list:
        raise Malformed("errors or pendingRequirements are not arrays")
    signatures = []
    for error in errors:
        source = error.get("source") if type(error) is dict else None
        if type(source) is not dict or not {"actionId", "nodePath"} <= source.keys():
            raise Malformed("an error has no source with actionId and nodePath")
        if "code" not in error:
            raise Malformed("an error has no code")
        place = {"actionId": source["actionId"], "nodePath": source["nodePath"]}
        signatures.append({"code": error["code"], "source": place})
    ids = [one.get("id") if type(one) is dict else None for one in pending]
    if not all(type(id) is str for id in ids):
        raise Malformed("a pending requirement has no id")
    ids.sort(key=lambda id: str(id).encode("utf-16-be", "surrogatepass"))
    failed = system["lastError"] is not None or pending
    return {
        "errors": sorted(signatures, key=lambda one: _hex(canonical(one))),
        "pendingDigest": _hex(canonical({"pendingIds": ids})) if ids else "empty",
        "terminalStatus": "failed" if failed else "completed",
    }


def _at(container: Any, step: Any) -> Any:
    """What stands at a step of a path; raise Malformed if there is nothing."""
    if type(container) is dict and type(step) is str and step in container:
        return container[step]
    if type(container) is list and type(step) is int and step < len(container):
        return container[step]
    raise Malformed(_NO_FIT)


def applied(value: Any, changes: list[Any]) -> Any:
    """A value after changes of the right form; the value itself stays as it is."""
    own: dict[int, Any] = {}  # what was copied for this result, and alone may be changed

    def copied(container: Any) -> Any:
        if id(container) in own:
            return container
        if type(container) is not dict and type(container) is not list:
            raise Malformed(_NO_FIT)
        copy = container.copy()
        own[id(copy)] = copy
        return copy

    for verb, path, *rest in changes:
        if verb == "set" and not path:
            value = rest[0]
            continue
        value = target = copied(value)
        for step in path if verb == "splice" else path[:-1]:
            target[step] = inner = copied(_at(target, step))
            target = inner
        if verb == "splice":
            index, count, items = rest
            if type(target) is not list or index + count > len(target):
                raise Malformed(_NO_FIT)
            target[index : index + count] = items
        elif verb == "set":
            if type(target) is not dict or type(path[-1]) is not str:
                _at(target, path[-1])
            target[path[-1]] = rest[0]
        else:
            if type(target) is not dict or not path:
                raise Malformed(_NO_FIT)
            _at(target, path[-1])
            del target[path[-1]]
    return value


def _is_whole(number: Any) -> bool:
    return type(number) is int and number >= 0


def _is_change(change: Any) -> bool:
    if type(change) is not list or len(change) < 2 or type(change[1]) is not list:
        return False
    verb, path, *rest = change
    if not all(type(step) is str or _is_whole(step) for step in path):
        return False
    if verb == "splice":
        return len(rest) == 3 and all(map(_is_whole, rest[:2])) and type(rest[2]) is list
    return (verb, len(rest)) in (("set", 1), ("unset", 0))


def broken_keeping(snapshot: Any, seq: int) -> str | None:
    """Rule 2 for worlds: a snapshot is kept whole, or by changes."""
    members = snapshot.keys() if type(snapshot) is dict else ()
    if members not in ({"sha256", "full"}, {"sha256", "on", "changes"}):
        return "the snapshot is kept neither whole nor by changes"
    digest = snapshot["sha256"]
    if type(digest) is not str or not _HASH.fullmatch(digest):
        return "the snapshot has no sha256"
    if "full" in snapshot:
        return None
    on, changes = snapshot["on"], snapshot["changes"]
    if type(on) is not list or not on or not all(_is_before(one, seq) for one in on):
        return "the snapshot does not rest on entries before it"
    if on != sorted(set(on)):
        return "the entries that the snapshot rests on are not in their order"
    if type(changes) is not list or not all(map(_is_change, changes)):
        return "the changes of the snapshot are not changes"
    return None


class Snapshot(NamedTuple):
    """A snapshot that was restored, and the entries that it rests on."""

    value: dict[str, Any]
    on: list[int]
    is_plain: bool
    deep: int  # no deeper than this
    size: int


class Restored(NamedTuple):
    """A snapshot before it is compared; `deep` is a bound for how deep it is nested."""

    value: Any
    is_plain: bool
    deep: int


def _whole(kept: dict[str, Any]) -> Restored:
    full = kept["full"]
    return Restored(full, not has_floats(full), depth(full, DEEPEST_BODY))


def _changed(before: Restored, changes: list[Any]) -> Restored:
    deep = [len(path) + depth(rest[-1], DEEPEST_BODY) for _, path, *rest in changes if rest]
    is_plain = before.is_plain and not has_floats(changes)
    return Restored(applied(before.value, changes), is_plain, max([before.deep, *deep]))


class Again:
    """Lines of an export that may be needed again, found by the numbers of their entries.

    They are read again where they are. From a pipe nothing can be read twice: then they are copied
    to a temporary file that has no name and is gone afterwards.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._is_copied = not stream.seekable()
        self._file: IO[bytes] = stream
        if self._is_copied:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._numbers = array("Q")
        self._offsets = array("Q")
        self._lengths = array("Q")

    def close(self) -> None:
        """Nothing is needed again."""
        if self._is_copied:
            self._file.close()

    def keep(self, number: int, line: bytes) -> None:
        """Keep the line that was read last, if its number is right."""
        if self._numbers and number <= self._numbers[-1]:
            return
        if self._is_copied:
            offset = self._file.seek(0, os.SEEK_END)
            self._file.write(line)
        else:
            offset = self._file.tell() - len(line)
        self._numbers.append(number)
        self._offsets.append(offset)
        self._lengths.append(len(line))

    def snapshot(self, number: int) -> dict[str, Any] | None:
        """What an entry keeps of a snapshot; None if it is not one that was kept here."""
        row = bisect_left(self._numbers, number)
        if row == len(self._numbers) or self._numbers[row] != number:
            return None
        line = self._read(self._offsets[row], self._lengths[row])
        plain = plain_line(line)
        found = parse(plain[3] or "" if plain else read_line(line)["body"])["snapshot"]
        return dict(found)

    def _read(self, offset: int, length: int) -> bytes:
        file = self._file
        if hasattr(os, "pread") and isinstance(file, io.BufferedReader) and _is_file(file):
            return os.pread(file.fileno(), length, offset)  # what is read ahead stays as it is
        back = file.tell()
        file.seek(offset)
        line = file.read(length)
        file.seek(back)
        return line


def _is_file(stream: io.BufferedReader) -> bool:
    return isinstance(stream.raw, io.FileIO)


class Worlds:
    """The rules for worlds. Some snapshots are kept: most rest on one that was just seen."""

    def __init__(self, again: Again) -> None:
        self._again = again
        self._recent: dict[int, Snapshot] = {}
        self._room = ROOM_FOR_SNAPSHOTS
        self.erased: set[int] = set()
        self.unusable: set[int] = set()  # those of which something was said

    def broken(self, seq: int, body: dict[str, Any], line: bytes, *, in_order: bool) -> str | None:
        """The first rule that a world, a branch or the end of an execution breaks.

        `in_order` says that nothing was found so far: else what is missing is no news.
        """
        if body["type"] == "World":
            return broken_world(body)
        if body["type"] not in _KEEPERS:
            return None
        try:
            wrong = self._broken_snapshot(seq, body, in_order)
        except Malformed as refused:
            wrong = str(refused)
        except RecursionError:
            wrong = "the snapshot is nested too deeply"
        if wrong:
            self.unusable.add(seq)
        elif seq not in self.unusable:
            self._again.keep(seq, line)
        return wrong

    def _broken_snapshot(self, seq: int, body: dict[str, Any], in_order: bool) -> str | None:
        # 2. it is kept in one of two ways
        kept, schema_hash, world = (
            body.get(name) for name in ("snapshot", "schemaHash", _KEEPERS[body["type"]])
        )
        if type(schema_hash) is not str or type(world) is not str:
            return "it does not name a schema and a world"
        if (wrong := broken_keeping(kept, seq)) or kept is None:
            return wrong
        on = kept.get("on", [])
        if not self.unusable.isdisjoint(on):
            self.unusable.add(seq)
            return None
        # 5. what it rests on was not erased without it
        if not self.erased.isdisjoint(on):
            return "what the snapshot rests on was erased, and it was not"
        # 3. it can be restored
        restored = self._restored(kept, on)
        if restored is None:
            self.unusable.add(seq)
            return "the snapshot rests on an entry that keeps none" if in_order else None
        return self._differs(seq, kept, restored, schema_hash, world)

    def _restored(self, kept: dict[str, Any], on: list[int]) -> Restored | None:
        """What a snapshot is; None if something that it rests on isn't there."""
        if not on:
            return _whole(kept)
        before = self._recent.get(on[-1])
        found: Restored | None = None
        if before is not None and before.on == on[:-1]:
            self._recent[on[-1]] = self._recent.pop(on[-1])  # the one that was used last
            found = Restored(before.value, before.is_plain, before.deep)
        else:
            first, *others = [self._again.snapshot(number) for number in on]
            if first is None or "full" not in first:
                return None
            found = _whole(first)
            for other in others:
                if other is None or "changes" not in other:
                    return None
                found = _changed(found, other["changes"])
        return _changed(found, kept["changes"])

    def _differs(
        self, seq: int, kept: dict[str, Any], restored: Restored, schema: str, world: str
    ) -> str | None:
        value, is_plain, deep = restored
        if type(value) is not dict:
            return "the snapshot is not an object"
        if deep > DEEPEST_SNAPSHOT:  # perhaps: it is only a bound
            deep = depth(value, DEEPEST_SNAPSHOT)
        texts = {name: written(member, is_plain=is_plain) for name, member in value.items()}
        ordered = sorted(texts, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        text = "{" + ",".join(f"{_string(name)}:{texts[name]}" for name in ordered) + "}"
        content = text.encode()
        if len(content) > LARGEST_SNAPSHOT or ("\\u0000" in text and _NUL.search(text)):
            return "the snapshot is too large, or has U+0000 in it"
        if _sha256(content).hexdigest() != kept["sha256"]:
            return "the snapshot has another sha256 than is written with it"
        # 4. its hash gives the world
        data = value.get("data")
        if data is None:
            own = "{}"
        elif type(data) is dict and any(name.startswith("$") for name in data):
            mine = {name: one for name, one in data.items() if not name.startswith("$")}
            own = written(mine, is_plain=is_plain)
        else:
            own = texts["data"]
        hashed = f'{{"data":{own},"system":{canonical(_system_input(value.get("system")))}}}'
        if world_id(schema, _hex(hashed)) != world:
            return "the snapshot is not that of the world that is named"
        self._hold(seq, Snapshot(value, kept.get("on", []), is_plain, deep, len(content)))
        return None

    def _hold(self, seq: int, snapshot: Snapshot) -> None:
        self._recent[seq] = snapshot
        self._room -= snapshot.size
        while self._room < 0 and len(self._recent) > 1:
            oldest = next(iter(self._recent))
            self._room += self._recent.pop(oldest).size


# ---------------------------------------------------------------------------------- checkpoints


class Signature(NamedTuple):
    """A signature line of a note: who says to have signed, and the bytes."""

    name: str
    key_id: bytes
    signed: bytes

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}"


@dataclass(frozen=True)
class Checkpoint:
    """A C2SP tlog-checkpoint."""

    origin: str
    size: int
    root: bytes
    text: bytes = b""
    signatures: tuple[Signature, ...] = ()


@dataclass(frozen=True)
class Key:
    """A public Ed25519 key with its name."""

    name: str
    key_id: bytes
    public: bytes

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}"


_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


def _decoded(text: str, what: str) -> bytes:
    """Base64 in its one form: no other letters, no loose bits at the end."""
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        raise Malformed(f"{what} is not base64") from None
    if base64.b64encode(found).decode() != text:
        raise Malformed(f"{what} is not base64 in its one form")
    return found


def _is_key_name(name: str) -> bool:
    return name != "" and "+" not in name and not any(c.isspace() for c in name)


def parse_checkpoint(note: str) -> Checkpoint:
    """Read a checkpoint, signed or not; raise Malformed."""
    head, blank, tail = note.partition("\n\n")
    if not blank:
        raise Malformed("no empty line follows the text of the checkpoint")
    if _CONTROL.search(note) or _SURROGATE.search(note):
        raise Malformed("the checkpoint has a character that no note may have")
    origin, size, root, *extensions = [*head.split("\n"), "", ""][: max(3, head.count("\n") + 1)]
    if not (origin and size and root and all(extensions)):
        raise Malformed("the checkpoint does not begin with an origin, a size and a root")
    if not _SIZE.fullmatch(size) or int(size) > LARGEST_INTEGER:
        raise Malformed("the size of the checkpoint is not a plain decimal number")
    hashed = _decoded(root, "the root of the checkpoint")
    if len(hashed) != _sha256().digest_size:
        raise Malformed("the root of the checkpoint has not 32 bytes")
    *lines, rest = tail.split("\n")
    if rest or len(lines) > MOST_SIGNATURES:
        raise Malformed("the checkpoint does not end with signature lines")
    signatures = tuple(map(_signature, lines))
    return Checkpoint(origin, int(size), hashed, head.encode() + b"\n", signatures)


def _signature(line: str) -> Signature:
    dash, *fields = line.split(" ")
    if dash != "—" or len(fields) != 2 or not _is_key_name(fields[0]):
        raise Malformed("the checkpoint has a line that is no signature")
    signed = _decoded(fields[1], "a signature")
    if len(signed) <= 4:
        raise Malformed("a signature has no bytes")
    return Signature(fields[0], signed[:4], signed[4:])


def parse_key(line: str) -> Key:
    """Read a public key, written name+id+key as the signed notes of Go do; raise Malformed."""
    name, key_id, encoded = [*line.strip().split("+", 2), "", ""][:3]
    if not _is_key_name(name) or not re.fullmatch(r"[0-9a-fA-F]{8}", key_id):
        raise Malformed("a key is written name+id+key, the id as 8 hex digits")
    key = _decoded(encoded, "the key")
    if key[:1] != b"\x01" or len(key) != 33:
        raise Malformed("the key is not an Ed25519 key (0x01 and 32 bytes)")
    if _sha256(name.encode() + b"\n" + key).digest()[:4] != bytes.fromhex(key_id):
        raise Malformed("the key has another id than it says: a letter of it was lost or changed")
    return Key(name, bytes.fromhex(key_id), key[1:])


def parse_ring(text: str) -> list[Key]:
    """Read a ring of public keys, each on a line with the times of its use; raise Malformed."""
    header, *lines = text.split("\n")
    if header != "memoranda/keyring/1" or not lines or lines.pop():
        raise Malformed("it is not lines of text that begin with memoranda/keyring/1")
    if any(line.count(" ") != 2 for line in lines):
        raise Malformed("a line is not: key, since, until")
    return [parse_key(line.split(" ")[0]) for line in lines]


def _holds(key: Key, signature: bytes, text: bytes) -> bool:
    # Here and not above: whoever gives no key needs no package.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (  # noqa: PLC0415
        Ed25519PublicKey,
    )

    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass
class Standing:
    """What the signatures of a checkpoint are worth, with the keys that are known."""

    by: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.wrong:
            return "failed"
        return "signed" if self.by else "foreign" if self.foreign else "unsigned"


def standing(checkpoint: Checkpoint, keys: Sequence[Key]) -> Standing:
    """Who signed, who did not though the name says so, and who is unknown."""
    found = Standing()
    for one in checkpoint.signatures:
        known = [key for key in keys if (key.name, key.key_id) == (one.name, one.key_id)]
        if not known:
            found.foreign.append(str(one))
        elif all(_holds(key, one.signed, checkpoint.text) for key in known):
            found.by.append(str(one))
        else:
            found.wrong.append(str(one))
    return found


# --------------------------------------------------------------------------------------- report


class Finding(NamedTuple):
    """One thing that is wrong; `seq` is the place of the entry, None for what is of no entry."""

    check: str
    seq: int | None
    why: str


class Findings:
    """All that was found wrong, kept packed: a million findings may be a million lines."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, Finding] = {}
        self._open: list[Finding] = []
        self._packed: list[bytes] = []

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[Finding]:
        for packed in self._packed:
            for finding in json.loads(zlib.decompress(packed)):
                yield Finding(*finding)
        yield from self._open

    def add(self, check: str, seq: int | None, why: str) -> None:
        """Keep one more."""
        finding = Finding(check, seq, why)
        self.counts[check] = self.counts.get(check, 0) + 1
        self.first.setdefault(check, finding)
        self._open.append(finding)
        if len(self._open) == 4096:
            self._packed.append(zlib.compress(json.dumps(self._open).encode(), 1))
            self._open = []


@dataclass
class Anchor:
    """A checkpoint that was kept elsewhere, and what became of it."""

    file: str
    checkpoint: Checkpoint
    standing: Standing = field(default_factory=Standing)
    verdict: str = ""


@dataclass
class Report:
    """What the walk saw."""

    findings: Findings
    origin: str | None = None
    scope: str | None = None
    size: int = 0
    root: bytes | None = None
    erased: int = 0
    end: Standing | None = None
    anchors: list[Anchor] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return len(self.findings) == 0


# ----------------------------------------------------------------------------------------- walk


def _lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines with their line feeds; None for one that is too long."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(2**20)
        yield None


# A line holds no object within it: the pairs come as they stand, and a twin is seen.
_LINE = json.JSONDecoder(
    object_pairs_hook=tuple, parse_float=_careful, parse_int=_small, parse_constant=_refuse
).decode


def read_line(line: bytes | None) -> dict[str, Any]:
    """The members of a line of an export; raise Malformed."""
    if line is None:
        raise Malformed(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        pairs = _LINE(line.decode())
    except UnicodeDecodeError:
        raise Malformed("the line is not UTF-8") from None
    except _Careful:
        raise Malformed("the line has a number that is not a small integer") from None
    except Malformed as wrong:
        raise Malformed(f"the line: {wrong}") from None
    except ValueError as wrong:
        raise Malformed(f"the line is not JSON: {wrong}") from None
    except RecursionError:
        raise Malformed("the line is nested too deeply") from None
    if type(pairs) is not tuple:
        raise Malformed("the line is not an object")
    members = dict(pairs)
    if len(members) < len(pairs):
        raise Malformed("the line has a key twice")
    return members


_REST = re.compile(
    r',"entry":"(' + _PATTERN.replace("Q", r"\\\"") + r')","salt":(?:"([0-9a-f]{32})"|null)\}\n'
)


def plain_line(line: bytes | None) -> tuple[str, Entry, str | None, str | None] | None:
    """Entry, its members, salt and body of a line as nearly all are, or None.

    That is a line as memoranda writes it: without spaces, its members in the order of their names,
    and no escapes in its entry but those of quotation marks. Its form and that of its entry are
    right.
    """
    try:
        text = line.decode() if line else ""
        if text.startswith('{"body":"'):
            body, end = scanstring(text, 9)
        elif text.startswith('{"body":null'):
            body, end = None, 12
        else:
            return None
    except ValueError:
        return None
    found = _REST.fullmatch(text, end)
    if not found or found[4] not in KINDS:
        return None
    entry, at, digest, kind, previous, seq, salt = found.groups()
    if (salt is None) != (body is None):
        return None
    return _unescaped(entry), Entry(int(at), digest, kind, previous, int(seq)), salt, body


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"')


_ORIGIN = re.compile(r"memoranda/[0-9a-f]{32}/([A-Za-z0-9\-._~%]+)")
_ENTRY_LINE = frozenset({"entry", "salt", "body"})
_HEADER_LINE = frozenset({"type", "v", "origin", "scope", "size"})
_END_LINE = frozenset({"type", "checkpoint"})


class Walk:
    """One walk over one export."""

    def __init__(
        self,
        anchors: Sequence[Anchor] = (),
        keys: Sequence[Key] = (),
        *,
        require_signature: bool = False,
    ) -> None:
        self.findings = Findings()
        self.report = Report(self.findings, anchors=list(anchors))
        self._keys = keys
        self._require_signature = require_signature
        self._tree = Tree()
        self._wanted = {anchor.checkpoint.size for anchor in anchors}
        self._roots: dict[int, bytes] = {0: self._tree.root()}
        self._said: int | None = None  # the size that the header says
        self._place = 0
        self._unreadable: int | None = None  # the first place without an entry: no root from there
        self._previous: str | None = None  # None: not known, nothing can be compared
        self._seq = -1
        self._right = -1  # the last number that was right,
        self._shift = 0  # and how far it was from its place
        self._at = 0
        self._versions = Versions()
        self._spare = 0  # erased bodies of objects that no gap of versions has used up
        self._gone: dict[int, tuple[str, int]] = {}  # erased facts that no erasure has named yet
        self._line: bytes | None = None
        self._worlds = Worlds(Again(io.BytesIO()))
        self._lost = 0  # bodies that are there, but of no use
        self._checkpoint: Checkpoint | None = None
        self._progress: Callable[[int], None] | None = None

    # -- the lines

    def read(self, stream: IO[bytes], progress: Callable[[int], None] | None = None) -> Report:
        """Walk over an export from its header to its end."""
        again = Again(stream)
        self._worlds = Worlds(again)
        try:
            return self._read(stream, progress)
        finally:
            again.close()

    def _read(self, stream: IO[bytes], progress: Callable[[int], None] | None) -> Report:
        self._progress = progress
        pending: Malformed | None = None  # a line that can't be read: an entry, or the end
        began, ended, after = False, False, 0
        feed = True
        for line in _lines(stream):
            if ended:
                after += 1
                continue
            if not began:
                began = True
                if self._header(line):
                    feed = line is not None and line.endswith(b"\n")
                    continue
            if pending:
                self._no_entry(pending)
                pending = None
            feed = line is None or line.endswith(b"\n")
            self._line = line
            try:
                if plain := plain_line(line):
                    self._checked(*plain)
                    continue
                if line is not None and not line.strip():
                    self.findings.add("form", self._place, "a line is empty")
                    continue
                members = read_line(line)
                if "entry" in members:
                    self._entry(members)
                elif members.get("type") == "end":
                    self._end(members)
                    ended = True
                else:
                    raise Malformed("the line is neither an entry nor the end")
            except Malformed as wrong:
                pending = wrong
        if pending and self._said == self._place:
            self.findings.add("form", None, f"the end: {pending}")
            ended = True
        elif pending:
            self._no_entry(pending)
        if not ended:
            self.findings.add("form", None, "the export has no end: it was cut off")
        elif after:
            self.findings.add("form", None, f"{after} lines follow the end")
        elif not feed and not pending:
            self.findings.add("form", None, "the last line does not end with a line feed")
        self._whole()
        return self.report

    def _header(self, line: bytes | None) -> bool:
        """Whether the first line was a header, however damaged."""
        try:
            header = read_line(line)
        except Malformed as wrong:
            self.findings.add("form", None, f"the header: {wrong}")
            return True
        if "entry" in header or header.get("type") == "end":
            self.findings.add("form", None, "the export has no header")
            return False
        try:
            if header.keys() != _HEADER_LINE:
                raise Malformed("it has other members than type, v, origin, scope, size")
            if header["type"] != "memoranda-export" or header["v"] != 1 or header["v"] is True:
                raise Malformed("it is not that of a memoranda-export of version 1")
        except Malformed as wrong:
            self.findings.add("form", None, f"the header: {wrong}")
        origin, scope, size = (header.get(name) for name in ("origin", "scope", "size"))
        if isinstance(origin, str) and (found := _ORIGIN.fullmatch(origin)):
            self.report.origin = origin
            genesis = b"memoranda/journal/1\n" + origin.encode()
            self._previous = _sha256(genesis).hexdigest()
            if not isinstance(scope, str) or _quoted(scope) != found[1]:
                self.findings.add("form", None, "the header: the scope is not that of the origin")
            else:
                self.report.scope = scope
        else:
            self.findings.add("form", None, "the header: the origin is not of the form of one")
        if type(size) is int and size >= 0:
            self._said = size
        else:
            self.findings.add("form", None, "the header: the size is not a whole number from 0")
        return True

    def _no_entry(self, wrong: Malformed) -> None:
        """Pass over a line in which there is no entry to be read."""
        self.findings.add("form", self._place, str(wrong))
        if self._unreadable is None:
            self._unreadable = self._place
        self._previous = None
        self._lost += 1
        self._place += 1

    def _entry(self, members: dict[str, Any]) -> None:
        """Check a line of an entry."""
        text, salt, body = members["entry"], members.get("salt"), members.get("body")
        if not isinstance(text, str):
            raise Malformed("the entry is not a string")
        if _SURROGATE.search(text):
            raise Malformed("the entry has a lone surrogate")
        if members.keys() != _ENTRY_LINE:
            self.findings.add("form", self._place, "the line has other members than its three")
        entry, wrong = read_entry(text)
        if wrong:
            self.findings.add("form", self._place, wrong)
        self._checked(text, entry, salt, body)

    def _checked(self, text: str, entry: Entry | None, salt: Any, body: Any) -> None:
        """Check an entry and its body, in the order of the checks, and let chain and tree grow."""
        place, add, hashed = self._place, self.findings.add, text.encode()

        # 1. form: what is left of it
        content, value = self._body(salt, body)

        if entry is None:
            self._lost += 1
        else:
            at, digest, kind, previous, seq = entry

            # 2. seq: one more than the entry before. After a wrong number, what goes on from it is
            #    right, and what goes on as if it had been right, or had not been there
            if seq in (self._seq + 1, self._right + 1, place + self._shift):
                self._right, self._shift = seq, seq - place
            else:
                add("seq", place, f"the entry has the number {seq} at this place")
            self._seq = seq

            # 3. previous
            if previous != self._previous and self._previous is not None:
                before = "the entry before" if place else "the genesis of this journal"
                add("previous", place, f"the entry names another hash than that of {before}")

            # 4. time
            if at < self._at:
                add("time", place, f"the entry is {self._at - at} ms older than that before")
            self._at = at

            # 5. body, 6. object and 7. world: of a body that is not the entry's own, no rule is
            #    asked
            usable = False
            body_hash = b"" if content is None else _sha256(content).digest()
            if salt is None and body is None:
                self.report.erased += 1
                self._erased(kind, digest, seq)
            elif content is None:
                self._lost += 1
            elif _sha256(bytes.fromhex(salt) + body_hash).hexdigest() != digest:
                add("body", place, "the body has another digest than the entry says")
                self._lost += 1
            elif value is None:
                self._lost += 1
            elif rule := self._broken_rule(kind, seq, value, body_hash):
                add("object", place, rule)
            else:
                usable = True
            if kind in WORLD_KINDS:
                self._world(seq, value if usable else None)

        self._previous = _sha256(hashed).hexdigest()
        self._tree.add(hashed)
        self._place = place = place + 1
        if place in self._wanted and self._unreadable is None:
            self._roots[place] = self._tree.root()
        if place % 4096 == 0 and self._progress:
            self._progress(place)

    def _erased(self, kind: str, digest: str, seq: int) -> None:
        """Note a body that is gone."""
        if kind in OBJECT_KINDS:
            self._spare += 1
        elif kind in FACT_TYPES and kind != "erasure":
            self._gone[seq] = digest, self._place
            if kind in WORLD_KINDS:
                self._worlds.erased.add(seq)
        else:
            why = f"the body is gone, and that of a {kind} is never erased"
            self.findings.add("body", self._place, why)

    def _world(self, seq: int, body: dict[str, Any] | None) -> None:
        """Check what an entry says of worlds, if its body can be used."""
        if body is None:
            self._worlds.unusable |= {seq} - self._worlds.erased
        elif rule := self._worlds.broken(seq, body, self._line or b"", in_order=not self.findings):
            self.findings.add("world", self._place, rule)

    def _body(self, salt: Any, body: Any) -> tuple[bytes | None, dict[str, Any] | None]:
        """The bytes of a body and its members, as far as salt and body are of use."""
        if type(salt) is str and type(body) is str and _SALT.fullmatch(salt):
            try:
                content = body.encode()
            except UnicodeEncodeError:
                self.findings.add("form", self._place, "the body has a lone surrogate")
                return None, None
            value, wrong = read_body(body)
            if wrong:
                self.findings.add("form", self._place, wrong)
            return content, value
        if salt is None and body is not None:
            self.findings.add("form", self._place, "the body has no salt")
        elif body is None and salt is not None:
            self.findings.add("form", self._place, "the salt has no body")
        elif body is not None:
            self.findings.add("form", self._place, "salt and body are not 32 hex digits and a text")
        return None, None

    def _broken_rule(self, kind: str, seq: int, body: dict[str, Any], digest: bytes) -> str | None:
        """The first rule for objects or facts that is broken."""
        if kind not in OBJECT_KINDS:
            if not _text(body.get("type")) or body["type"] == "MemoryObject":
                return f"the body of a {kind} has no type of its own"
            return self._broken_fact(kind, seq, body) if kind in FACT_TYPES else None
        id, version, supersedes = body.get("id"), body.get("version"), body.get("supersedes")
        if (
            not isinstance(id, str)
            or not isinstance(version, str)
            or not _VERSION.fullmatch(version)
        ):
            self._lost += 1
            return broken_member(body) or "version is not a decimal number from 1, as a string"
        number = int(version)
        before, digest_before, first = self._versions.swap(id, number, digest, self._place)
        gap = number - before - 1
        if wrong := broken_member(body) or unreadable_member(body):
            return wrong
        spare = 0
        if kind == "archive" and body.get("status") == "erased":
            # only a tombstone follows versions that are gone, and before it all of them are
            spare = self._spare
            if before:
                self.findings.add("object", first, "it was erased, and its content is there")
        if gap:
            if gap < 0 or gap > spare + self._lost:
                return f"version {number} follows version {before}"
            self._lost -= max(0, gap - spare)
            self._spare -= min(gap, spare)
        if number > 1:
            if not isinstance(supersedes, str) or not _SUPERSEDES.fullmatch(supersedes):
                return f"version {number} does not say what it supersedes"
            if gap == 0 and supersedes != "sha256:" + digest_before.hex():
                return f"version {number} supersedes another content than that of version {before}"
        return broken_ending(kind, body)

    def _broken_fact(self, kind: str, seq: int, body: dict[str, Any]) -> str | None:
        wrong = broken_fact(kind, body, seq)
        if kind != "erasure" or wrong:
            return wrong
        for number, digest in body["erased"]:
            found, _ = self._gone.pop(number, ("", 0))
            if found != digest:
                wrong = wrong or f"it says that entry {number} was erased, and that is not so"
        return wrong

    def _end(self, members: dict[str, Any]) -> None:
        if members.keys() != _END_LINE:
            self.findings.add("form", None, "the end has other members than type, checkpoint")
        note = members.get("checkpoint")
        try:
            if not isinstance(note, str):
                raise Malformed("its checkpoint is not a string")
            self._checkpoint = parse_checkpoint(note)
        except Malformed as wrong:
            self.findings.add("form", None, f"the end: {wrong}")

    # -- the whole

    def _whole(self) -> None:
        """Check what only the whole export can show."""
        report, add = self.report, self.findings.add
        report.size = self._place
        report.root = self._tree.root() if self._unreadable is None else None

        # 5. body: no fact has gone without an erasure that names it
        for _, place in self._gone.values():
            add("body", place, "the body is gone, and no erasure says why")

        # 6. object: no version has gone without a later one that stayed
        if self._spare and self._unreadable is None and not self.findings:
            add("object", None, f"{self._spare} erased bodies have no tombstone after them")

        # 8. size
        if self._said is not None and self._said != report.size:
            add("size", None, f"{report.size} entries; the header says {self._said}")

        # 9. root
        checkpoint = self._checkpoint
        if checkpoint is not None:
            if report.origin is not None and checkpoint.origin != report.origin:
                add("root", None, f"the checkpoint is of the origin {shown(checkpoint.origin)}")
            if checkpoint.size != report.size:
                add("root", None, f"the checkpoint is of size {checkpoint.size}, not {report.size}")
            elif report.root is None:
                add("root", None, f"entry {self._unreadable} can't be read: there is no root")
            elif checkpoint.root != report.root:
                add("root", None, "the checkpoint is of another root than these entries have")

        # 10. signature
        if checkpoint is not None:
            report.end = standing(checkpoint, self._keys)
            for name in report.end.wrong:
                add("signature", None, f"the signature of {shown(name)} at the end is wrong")
        if self._require_signature and (report.end is None or not report.end.by):
            add("signature", None, "none of the keys that were asked for has signed the checkpoint")

        # 11. anchor
        for anchor in report.anchors:
            anchor.standing = standing(anchor.checkpoint, self._keys)
            anchor.verdict, why = self._verdict(anchor)
            for name in anchor.standing.wrong:
                add("signature", None, f"the signature of {shown(name)} in {anchor.file} is wrong")
            if why:
                add("anchor", None, f"{anchor.file}: {why}")

    def _verdict(self, anchor: Anchor) -> tuple[str, str | None]:
        """What became of an anchor, and what is wrong about it; a failed one is not believed."""
        kept, size = anchor.checkpoint, self.report.size
        if anchor.standing.wrong:
            return "not believed", None
        if self.report.origin is not None and kept.origin != self.report.origin:
            return "other origin", f"it is of another journal, {shown(kept.origin)}"
        if kept.size > size:
            return "rolled back", f"rolled back: the journal had {kept.size} entries, now {size}"
        if kept.size not in self._roots:
            return "unreadable", f"entry {self._unreadable} can't be read: no root at {kept.size}"
        if kept.root != self._roots[kept.size]:
            return "forked", f"forked: the journal had another root at size {kept.size}"
        return "agrees", None


def _quoted(scope: str) -> str | None:
    try:
        return quote(scope, safe="")
    except UnicodeEncodeError:
        return None


def verify(
    stream: IO[bytes],
    *,
    anchors: Sequence[Anchor] = (),
    keys: Sequence[Key] = (),
    require_signature: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Report:
    """Verify an export; damage is in the report, and only the stream itself raises."""
    return Walk(anchors, keys, require_signature=require_signature).read(stream, progress)


# ------------------------------------------------------------------------------------- the rim


def _as_json(report: Report) -> Iterator[str]:
    """The report as one JSON object, piece by piece."""
    anchors = [
        {
            "file": one.file,
            "origin": one.checkpoint.origin,
            "size": one.checkpoint.size,
            "root": base64.b64encode(one.checkpoint.root).decode(),
            "standing": str(one.standing),
            "signed_by": one.standing.by,
            "verdict": one.verdict,
        }
        for one in report.anchors
    ]
    head = {
        "ok": report.ok,
        "origin": report.origin,
        "scope": report.scope,
        "size": report.size,
        "root": report.root and base64.b64encode(report.root).decode(),
        "erased": report.erased,
        "signed_by": report.end.by if report.end else [],
        "anchors": anchors,
    }
    yield json.dumps(head)[:-1] + ', "findings": ['
    for number, finding in enumerate(report.findings):
        yield (", " if number else "") + json.dumps(finding._asdict())
    counts = {name: count for name in CHECKS if (count := report.findings.counts.get(name))}
    yield '], "counts": ' + json.dumps(counts) + "}"


def _signed(report: Report) -> str:
    end = report.end
    if end is None:
        return "there is no checkpoint in the export that could be read"
    if end.wrong:
        return f"the checkpoint in the export is NOT signed by {_names(end.wrong)}: it is wrong"
    if end.by:
        return f"the checkpoint in the export is signed by {_names(end.by)}"
    if end.foreign:
        names = _names(end.foreign)
        return f"the checkpoint in the export says it is signed by {names}: no such key was given"
    return "the checkpoint in the export is not signed: anyone could have written it"


def _names(names: list[str]) -> str:
    return ", ".join(shown(name) for name in names)


def _untold(report: Report) -> Iterator[str]:
    """What this verification can't tell."""
    agreed = [one.checkpoint.size for one in report.anchors if one.verdict == "agrees"]
    signed = bool(report.end and report.end.by and not report.end.wrong)
    if report.anchors and not agreed:
        yield "No checkpoint that was kept elsewhere agrees: this is not what was seen then."
        return
    if not agreed and signed:
        yield "No checkpoint that was kept elsewhere was given. The signature shows that a holder"
        yield "of the key vouched for these entries. Whether the holder rewrote them, or newer ones"
        yield "were cut off, can't be told."
        return
    if not agreed:
        yield "No checkpoint that was kept elsewhere was given: a journal that was rewritten or"
        yield "cut off as a whole can't be told from a true one."
        return
    newer = report.size - max(agreed)
    yield f"The first {max(agreed)} entries are those of the checkpoint that was kept elsewhere."
    if newer:
        worth = "only the signature" if signed else "nothing"
        yield f"For the {newer} newer entries {worth} vouches."
    yield "Whether still newer ones were cut off can't be told: a newer checkpoint could."


def _as_text(report: Report, name: str) -> Iterator[str]:
    """The report for people."""
    erased = f", {report.erased} of them without a body (erased)" if report.erased else ""
    root = base64.b64encode(report.root).decode() if report.root else "not known"
    yield f"export     {shown(name, 200)}"
    yield f"journal    {shown(report.origin, 200) if report.origin else 'not known'}"
    yield f"entries    {report.size}{erased}"
    yield f"root       {root}"
    yield f"signature  {_signed(report)}"
    for one in report.anchors:
        by = f" by {_names(one.standing.by)}" if one.standing.by else ""
        kept = f"{one.file}: size {one.checkpoint.size}, {one.standing}{by}"
        yield f"outside    {kept}: {one.verdict}"
    if not report.anchors:
        yield "outside    no checkpoint was given"
    yield ""
    if report.ok:
        yield "Nothing is wrong."
    else:
        found = len(report.findings)
        yield f"Damage: {found} finding{'s' if found > 1 else ''}. The first of each kind:"
        for check in CHECKS:
            if finding := report.findings.first.get(check):
                where = "" if finding.seq is None else f"entry {finding.seq}: "
                yield f"  {check:<9} {report.findings.counts[check]:>6} x  {where}{finding.why}"
        if found > len(report.findings.first):
            yield "--json lists all of them."
    yield ""
    yield from _untold(report)


def _fail(why: str) -> NoReturn:
    print(f"memoranda-verify: {why}", file=sys.stderr)
    raise SystemExit(2)


def _kept(file: str) -> Anchor:
    try:
        with Path(file).open("rb") as opened:
            note = opened.read(LONGEST_NOTE + 1)
        if len(note) > LONGEST_NOTE:
            raise Malformed("it is too long for a checkpoint")
        return Anchor(shown(file, 200), parse_checkpoint(note.decode()))
    except OSError as wrong:
        _fail(f"can't read the checkpoint {shown(file)}: {wrong.strerror}")
    except UnicodeDecodeError:
        _fail(f"{shown(file)} is no checkpoint: it is not UTF-8")
    except Malformed as wrong:
        _fail(f"{shown(file)} is no checkpoint: {wrong}")


def _known(lines: Sequence[str], ring: str | None) -> list[Key]:
    if lines or ring:
        try:
            import cryptography  # noqa: F401, PLC0415
        except ImportError:
            _fail("checking signatures needs a package: pip install cryptography")
    try:
        keys = [parse_key(line) for line in lines]
    except Malformed as wrong:
        _fail(f"--key: {wrong}")
    try:
        return keys + (parse_ring(Path(ring).read_text("utf-8")) if ring else [])
    except OSError as wrong:
        _fail(f"can't read the keyring {shown(ring)}: {wrong.strerror}")
    except (Malformed, UnicodeDecodeError) as wrong:
        _fail(f"{shown(ring)} is no keyring: {wrong}")


def _meter() -> Callable[[int], None]:
    shown_at = time.monotonic()

    def show(entries: int) -> None:
        nonlocal shown_at
        if (now := time.monotonic()) - shown_at > 0.5:
            shown_at = now
            print(f"\r{entries:,} entries", end="", file=sys.stderr, flush=True)

    return show


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memoranda-verify",
        description="Verify an export of memoranda, with nothing of memoranda.",
        epilog="Exit codes: 0 nothing is wrong; 5 damage was found; 2 it could not be verified.",
    )
    parser.add_argument("export", help="the file, or - for the standard input")
    parser.add_argument(
        "--checkpoint", metavar="FILE", action="append", default=[],
        help="a checkpoint that was kept elsewhere; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--key", metavar="VKEY", action="append", default=[],
        help="a public key, written name+id+key; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--keyring", metavar="FILE", help="a file of public keys, as memoranda writes it",
    )  # fmt: skip
    parser.add_argument(
        "--require-signature", action="store_true",
        help="the checkpoint in the export must be signed by one of the keys",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None,
        help="count entries on the standard error (by default on a terminal)",
    )  # fmt: skip
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = _arguments()
    given = parser.parse_args(arguments)
    if given.require_signature and not (given.key or given.keyring):
        parser.error("--require-signature needs --key or --keyring: whose signature is it to be?")
    keys = _known(given.key, given.keyring)
    anchors = [_kept(file) for file in given.checkpoint]
    wants_progress = sys.stderr.isatty() if given.progress is None else given.progress
    meter = _meter() if wants_progress else None
    walk = Walk(anchors, keys, require_signature=given.require_signature)
    try:
        if given.export == "-":
            report = walk.read(sys.stdin.buffer, meter)
        else:
            with Path(given.export).open("rb", buffering=2**20) as stream:
                report = walk.read(stream, meter)
    except OSError as wrong:
        _fail(f"can't read {shown(given.export)}: {wrong.strerror}")
    finally:
        if wants_progress:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        if given.json:
            for piece in _as_json(report):
                print(piece, end="")
            print()
        else:
            for line in _as_text(report, given.export):
                print(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough; the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if report.ok else DAMAGED


if __name__ == "__main__":
    sys.exit(main())
