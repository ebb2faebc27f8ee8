"""Verify an export of memoranda, with nothing of memoranda.

This is a second implementation, written from docs/format.md alone: one file that an auditor can
read in an hour and run anywhere. It needs Python 3.11; `--key` needs `cryptography`, nothing else.

    python memoranda_verify.py export.ndjson --checkpoint kept.txt --key NAME+ID+KEY

The walk reads the export once, line by line. Each line is checked in this order:

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
what is stored, so that one edit isn't reported a million times. Read `Walk` first: what it asks
stands above it, in the order of the checks.
"""

import argparse
import base64
import copy
import hashlib
import json
import math
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn
from urllib.parse import quote

CHECKS = ("form", "seq", "previous", "time", "body", "object", "world", "size", "root",
          "signature", "anchor")  # fmt: skip
LONGEST_LINE = 64 * 2**20
DAMAGED = 5  # the exit code, as of `memoranda verify`
DEEPEST_BODY = 128
MOST_SIGNATURES = 100
LARGEST_INTEGER = 2**53 - 1  # what a double holds exactly
LONGEST_NOTE = 2**20
DEEPEST_SNAPSHOT = 64
LARGEST_SNAPSHOT = 16 * 2**20
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
    "cycle": ("Cycle", "CycleRecall"),
    "learning": ("Learned", "NothingLearned"),
    "job": ("JobRun",),
}
WORLD_KINDS = frozenset({"world", "execution"})
OTHER_KINDS = frozenset({"policy_change", "conformance_break", "checkpoint", "maintenance"})
KINDS = OBJECT_KINDS | FACT_TYPES.keys() | OTHER_KINDS
STATEMENT_TYPES = (
    "SourceStatement", "UserProvidedStatement", "SystemGeneratedStatement", "DerivedStatement",
    "ConsolidatedStatement",
)  # fmt: skip
VERDICT_TYPES = ("Factual", "Inference", "False", "Unanswered")
ENDINGS = {"invalidate": ("invalidated", "superseded"), "archive": ("archived", "erased")}

# ------------------------------------------------------------------------------- 1. form: JSON


class Malformed(ValueError):
    """A text that is not of the form that it must have; the message says why."""


def require(holds: object, why: str) -> None:
    """Raise Malformed unless something holds."""
    if not holds:
        raise Malformed(why)


def shown(text: object, most: int = 80) -> str:
    """What came out of a file, fit for a terminal: short, and without control characters."""
    found = text if isinstance(text, str) else repr(text)
    cut = found if len(found) <= most else found[: most - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def _number(digits: str) -> int | float:
    """A number as JSON means it: a double, which holds integers up to 2^53-1 exactly."""
    if len(digits) <= 17 and digits.lstrip("-").isdigit() and abs(int(digits)) <= LARGEST_INTEGER:
        return int(digits)
    double = float(digits)
    require(math.isfinite(double), f"{shown(digits, 24)} is no number that a double holds")
    return double


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise Malformed(f"the key {shown(twice)!r} stands twice")
    return found


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_number, parse_int=_number, parse_constant=_number
)


def parse(text: str) -> Any:
    """Read JSON of which no two parsers could think differently; raise Malformed."""
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as wrong:
        raise Malformed(f"not JSON: {wrong}") from None
    except RecursionError:
        raise Malformed("nested too deeply") from None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _string(text: str) -> str:
    """RFC 8785, 3.2.2.2: only what must be escaped is, in the shortest way, as Python does."""
    require(not _SURROGATE.search(text), "a lone surrogate has no UTF-8 form")
    return json.dumps(text, ensure_ascii=False)


def _double(value: float) -> str:
    """RFC 8785, 3.2.2.3: as ECMAScript writes a number. Python finds the same shortest digits."""
    if value == 0:
        return "0"
    number = Decimal(repr(value)).normalize()
    sign, digits, exponent = number.as_tuple()
    point = len(digits) + int(exponent)  # how many digits stand before the decimal point
    if -6 < point <= 21:
        return f"{number:f}"
    first, *rest = map(str, digits)
    tail = "." + "".join(rest) if rest else ""
    return f"{'-' * sign}{first}{tail}e{point - 1:+d}"


def canonical(value: Any, room: int = DEEPEST_BODY) -> str:
    """RFC 8785: the one text of a value that `parse` gave."""
    match value:
        case str():
            return _string(value)
        case float():
            return _double(value)
        case bool() | int() | None:
            return json.dumps(value)
    require(room, f"nested deeper than {DEEPEST_BODY}")
    if type(value) is list:
        return "[" + ",".join(canonical(item, room - 1) for item in value) + "]"
    ordered = sorted(value, key=_utf16)
    return "{" + ",".join(f"{_string(k)}:{canonical(value[k], room - 1)}" for k in ordered) + "}"


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def read_json(text: str) -> tuple[Any, str | None]:
    """The value of canonical JSON, as far as it has one, and what is wrong with its form."""
    try:
        value = parse(text)
        return value, None if canonical(value) == text else "it is not canonical"
    except Malformed as wrong:
        return None, str(wrong)


def read_body(text: str) -> tuple[dict[str, Any] | None, str | None]:
    """A body's members, as far as it has any, and what is wrong with its form."""
    value, wrong = read_json(text)
    if type(value) is dict:
        return value, wrong and f"the body: {wrong}"
    return None, f"the body: {wrong or 'it is not an object'}"


# ---------------------------------------------------------------------- 1. form: lines and entries


def read_lines(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The lines with their line feeds; None for one that is too long."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(2**20)
        yield None


def read_line(line: bytes | None) -> dict[str, Any]:
    """The members of a line of an export; raise Malformed."""
    if line is None:
        raise Malformed(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        members = parse(line.decode())
    except UnicodeDecodeError:
        raise Malformed("the line is not UTF-8") from None
    except Malformed as wrong:
        raise Malformed(f"the line: {wrong}") from None
    require(type(members) is dict, "the line is not an object")
    return dict(members)


Entry = tuple[int, str, str, str, int]
"""Of an entry, what the walk compares: at, body_digest, kind, previous_entry_hash and seq."""

_HASH = re.compile(r"[0-9a-f]{64}")
_SALT = re.compile(r"[0-9a-f]{32}")


def _matches(pattern: re.Pattern[str], value: Any) -> bool:
    return type(value) is str and pattern.fullmatch(value) is not None


def _is_whole(number: Any) -> bool:
    return type(number) is int and number >= 0


def read_entry(text: str) -> tuple[Entry | None, str | None]:
    """An entry's members, as far as they can be used, and what is wrong with its form."""
    try:
        members = parse(text)
        named = type(members) is dict and sorted(members) == list(MEMBERS)
        require(named, f"it has other members than {', '.join(MEMBERS)}")
        actor, at, digest, kind, previous, seq, v = (members[name] for name in MEMBERS)
        require(_is_whole(at), "at is not a whole number from 0")
        require(_is_whole(seq), "seq is not a whole number from 0")
        require(_matches(_HASH, digest), "body_digest is not 64 hex digits")
        require(_matches(_HASH, previous), "previous_entry_hash is not 64 hex digits")
        require(type(kind) is str and kind in KINDS, f"{shown(kind)!r} is no kind")
        require(type(v) is int and v == 1, "v is not 1")
        entry = at, digest, kind, previous, seq
        if type(actor) is not str or not all(actor.partition(":")):
            return entry, "the entry: actor is not kind:id"
        return entry, None if canonical(members) == text else "the entry is not canonical"
    except Malformed as wrong:
        return None, f"the entry: {wrong}"


# ---------------------------------------------------------------------------------- 9. root: tree

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
        *left, node = self._peaks or [_sha256().digest()]
        for peak in reversed(left):
            node = _sha256(b"\x01" + peak + node).digest()
        return node


# ------------------------------------------------------------------------------ 6. object: objects

_VERSION = re.compile(r"[1-9][0-9]{0,14}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{3})?Z"
)
_SUPERSEDES = re.compile(r"sha256:[0-9a-f]{64}")


def _text(value: Any) -> bool:
    return type(value) is str and value != ""


def _are_named(values: Any, by: str) -> bool:
    return type(values) is list and all(type(v) is dict and _text(v.get(by)) for v in values)


def _is_time(value: Any) -> bool:
    """RFC 3339 in UTC, in whole seconds or milliseconds, of a day that there is."""
    try:
        return _matches(_TIME, value) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def _decoded(text: str, what: str) -> bytes:
    """Base64 in its one form: no other letters, no loose bits at the end."""
    try:
        found = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        raise Malformed(f"{what} is not base64") from None
    require(base64.b64encode(found).decode() == text, f"{what} is not base64 in its one form")
    return found


def require_members(body: dict[str, Any]) -> None:
    """Rule 1 for objects: the members that seed 003 demands."""
    get = body.get
    bounded = _text(get("temporal_scope")) or {"valid_from", "valid_to"} <= body.keys()
    require(get("type") == "MemoryObject", "type is not MemoryObject")
    for name in ("id", "statement", "timestamp"):
        require(_text(get(name)), f"{name} is missing or not a text")
    for name, types in (("statement_type", STATEMENT_TYPES), ("verdict_type", VERDICT_TYPES)):
        require(get(name) in types, f"{name} is missing or not one of seed 003")
    sources = get("source_refs")
    require(type(sources) is list, "source_refs is missing or not an array")
    require(_are_named(sources, "uri"), "source_refs do not name uris")
    require("applicability_scope" in body, "applicability_scope is missing")
    require(bounded, "it says neither valid_from and valid_to nor temporal_scope")
    require("integrity_hash" not in body, "it has an integrity_hash")


def require_readable(body: dict[str, Any]) -> None:
    """Rule 7 for objects: what one is found by can be read."""
    for name in ("timestamp", "valid_from", "valid_to", "expires", "said_at"):
        require(body.get(name) is None or _is_time(body[name]), f"{name} is not a time")
    for name, usual in (("created_ms", 0), ("updated_ms", 0), ("indexed", True)):
        require(type(body.get(name, usual)) is type(usual), f"{name} is not of its type")
    for name in ("subject", "thread", "in_thread", "speaker", "media_type"):
        require(body.get(name) is None or _text(body[name]), f"{name} is not a text")
    lists = [[] if body.get(name) is None else body[name] for name in ("tags", "embed", "inputs")]
    for texts in lists[:2]:
        require(type(texts) is list and all(map(_text, texts)), "tags or embed are not texts")
    require(_are_named(lists[2], "id"), "inputs do not name ids")
    form = body.get("format", "text")
    require(form in ("text", "json", "bytes"), "format is neither text, json nor bytes")
    if form == "json":
        require(not read_json(body["statement"])[1], "the statement is not canonical JSON")
    if form == "bytes":
        data, media_type = body.get("data"), body.get("media_type")
        require(type(data) is str, "data is missing or not a text")
        require(_text(media_type), "media_type is missing or not a text")
        held = _decoded(str(data), "data")
        stated = f"{media_type}, {len(held)} bytes, sha256 {_sha256(held).hexdigest()}"
        require(body["statement"] == stated, "the statement does not describe the bytes")


# -------------------------------------------------------------------------------- 6. object: facts


def _is_before(number: Any, seq: int) -> bool:
    return _is_whole(number) and bool(number < seq)


def _pairs(value: Any) -> bool:
    """Whether it is an array of arrays of two, each once."""
    if type(value) is not list or not all(type(one) is list and len(one) == 2 for one in value):
        return False
    return len(set(map(canonical, value))) == len(value)


def require_fact(kind: str, body: dict[str, Any], seq: int) -> None:
    """Rules 1 and 2 for facts, as far as they ask for no other entry."""
    type_, unmarks, erased = body["type"], body.get("unmarks", []), body.get("erased")
    require(type_ in FACT_TYPES[kind], f"{shown(type_)!r} is no type of a {kind}")
    for name in ("marks", "inputs"):
        names = body.get(name, [])
        named = type(names) is list and all(map(_text, names)) and len(set(names)) == len(names)
        require(named, f"{name} are not names, each once")
    paired = ("output" in body) == bool(body.get("inputs")) and _text(body.get("output", "-"))
    require(paired, "inputs and output are not there together")
    past = _pairs(unmarks) and all(_text(name) and _is_before(at, seq) for name, at in unmarks)
    require(past, "unmarks are not marks of entries before it, each once")
    if kind == "erasure":
        explained = _text(body.get("reason")) and body["reason"].strip()
        require(explained and _text(body.get("cause")), "it has no reason or cause")
        require(erased and _pairs(erased), "an erasure does not say what was erased")
        for number, digest in erased or ():
            before = _is_before(number, seq) and _matches(_HASH, digest)
            require(before, "what was erased are not entries before it, with their digests")


# -------------------------------------------------------------------------------------- 7. world

_NO_FIT = "the changes do not fit the snapshot before"
_KEEPERS = {"ExecutionSealed": "world", "Branch": "head"}
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _hex(text: str) -> str:
    return _sha256(text.encode()).hexdigest()


def require_world(body: dict[str, Any]) -> None:
    """Rule 1 for worlds: the id of a World follows from its hashes."""
    world = body["world"] if type(body.get("world")) is dict else {}
    schema, snapshot, id = (world.get(name) for name in ("schemaHash", "snapshotHash", "worldId"))
    named = all(type(one) is str for one in (schema, snapshot, id))
    require(named, "the world has no worldId, schemaHash and snapshotHash")
    require(id == _hex(f"{schema}:{snapshot}"), "the id of the world is not that of its hashes")


def _is_change(change: Any) -> bool:
    if type(change) is not list or len(change) < 2 or type(change[1]) is not list:
        return False
    verb, path, *rest = change
    if not all(type(step) is str or _is_whole(step) for step in path):
        return False
    if verb == "splice":
        return len(rest) == 3 and all(map(_is_whole, rest[:2])) and type(rest[2]) is list
    return (verb, len(rest)) in (("set", 1), ("unset", 0))


def require_kept(snapshot: Any, seq: int) -> None:
    """Rule 2 for worlds: a snapshot is kept whole, or by changes."""
    members = snapshot.keys() if type(snapshot) is dict else ()
    either = members in ({"sha256", "full"}, {"sha256", "on", "changes"})
    require(either, "the snapshot is kept neither whole nor by changes")
    require(_matches(_HASH, snapshot["sha256"]), "the snapshot has no sha256")
    if "on" in snapshot:
        on, changes = snapshot["on"], snapshot["changes"]
        before = on and type(on) is list and all(_is_before(one, seq) for one in on)
        ordered = before and on == sorted(set(on))
        require(ordered, "the snapshot does not rest on entries before it, in their order")
        formed = type(changes) is list and all(map(_is_change, changes))
        require(formed, "the changes are no changes")


def applied(value: Any, changes: list[Any]) -> Any:
    """A value after changes of the right form; the value itself stays as it is."""
    holder: Any = {"": copy.deepcopy(value)}  # so that the value itself has a place, too
    for verb, path, *rest in copy.deepcopy(changes):
        way: list[Any] = ["", *path]
        target, last = holder, way.pop()
        try:
            for step in way:
                target = target[step]
            is_new = verb == "set" and type(target) is dict and type(last) is str
            there: Any = None if is_new else target[last]
            if verb == "splice":
                index, count, items = rest
                require(type(there) is list and index + count <= len(there), _NO_FIT)
                there[index : index + count] = items
            elif verb == "set":
                target[last] = rest[0]
            else:
                require(type(target) is dict and path, _NO_FIT)
                del target[last]
        except (LookupError, TypeError):
            raise Malformed(_NO_FIT) from None
    return holder[""]


def _system_input(system: Any) -> dict[str, Any]:
    """What of the system state is part of a snapshot's hash; raise Malformed."""
    require(type(system) is dict and "lastError" in system, "there is no system with a lastError")
    errors, pending = system.get("errors"), system.get("pendingRequirements")
    require(type(errors) is list and type(pending) is list, "errors or requirements are no arrays")
    signatures = []
    for error in errors:
        source: Any = error.get("source") if type(error) is dict else None
        placed = type(source) is dict and {"actionId", "nodePath"} <= source.keys()
        require(placed, "an error has no source with actionId and nodePath")
        require("code" in error, "an error has no code")
        place = {"actionId": source["actionId"], "nodePath": source["nodePath"]}
        signatures.append({"code": error["code"], "source": place})
    ids = [one.get("id") if type(one) is dict else None for one in pending]
    require(all(type(id) is str for id in ids), "a pending requirement has no id")
    failed = system["lastError"] is not None or pending
    digest = _hex(canonical({"pendingIds": sorted(ids, key=_utf16)}))
    return {
        "errors": sorted(signatures, key=lambda one: _hex(canonical(one))),
        "pendingDigest": digest if ids else "empty",
        "terminalStatus": "failed" if failed else "completed",
    }


def require_hashes(value: Any, digest: str, schema_hash: str, world: str) -> None:
    """Rules 3 and 4 for worlds: a snapshot has the sha256, and gives the world, that it says."""
    require(type(value) is dict, "the snapshot is not an object")
    text = canonical(value, DEEPEST_SNAPSHOT)
    fits = len(text.encode()) <= LARGEST_SNAPSHOT and not _NUL.search(text)
    require(fits, "the snapshot is too large, or has U+0000 in it")
    require(_hex(text) == digest, "the snapshot has another sha256 than is written with it")
    data = {} if value.get("data") is None else value["data"]
    if type(data) is dict:
        data = {name: member for name, member in data.items() if not name.startswith("$")}
    hashed = _hex(canonical({"data": data, "system": _system_input(value.get("system"))}))
    require(world == _hex(f"{schema_hash}:{hashed}"), "the snapshot is not that of its world")


class Worlds:
    """The rules for worlds, and what the entries so far keep of snapshots."""

    def __init__(self) -> None:
        self._kept: dict[int, bytes] = {}  # compressed: there may be many
        self.erased: set[int] = set()
        self.unusable: set[int] = set()  # those of which something was said

    def require_rules(self, seq: int, body: dict[str, Any], *, in_order: bool) -> None:
        """Raise Malformed for the first rule that a world, a branch or an execution breaks.

        `in_order` says that nothing was found so far: else what is missing is no news.
        """
        if body["type"] == "World":
            require_world(body)
        if body["type"] not in _KEEPERS:
            return
        # 2. it is kept in one of two ways
        names = ("snapshot", "schemaHash", _KEEPERS[body["type"]])
        kept, schema_hash, world = (body.get(name) for name in names)
        require(type(schema_hash) is str and type(world) is str, "it names no schema or no world")
        require_kept(kept, seq)
        snapshot: dict[str, Any] = dict(kept or {})
        on = snapshot.get("on", [])
        if not self.unusable.isdisjoint(on):
            self.unusable.add(seq)
            return
        # 5. what it rests on was not erased without it
        require(self.erased.isdisjoint(on), "what the snapshot rests on was erased, and it was not")
        # 3. it can be restored, and 4. is that of its world
        restored = self._restored(snapshot, on)
        if restored is None:
            self.unusable.add(seq)
            require(not in_order, "the snapshot rests on an entry that keeps none")
            return
        require_hashes(restored, snapshot["sha256"], str(schema_hash), str(world))
        if seq not in self.unusable:
            self._kept.setdefault(seq, zlib.compress(json.dumps(snapshot).encode()))

    def _restored(self, snapshot: dict[str, Any], on: list[int]) -> Any:
        """What a snapshot is; None if something that it rests on isn't there."""
        kept = [parse(zlib.decompress(self._kept[one]).decode()) for one in on if one in self._kept]
        first, *others = [*kept, snapshot]
        if len(kept) < len(on) or "full" not in first or any("full" in other for other in others):
            return None
        value = first["full"]
        for other in others:
            value = applied(value, other["changes"])
        return value


# ------------------------------------------------------------------ 9. to 11. checkpoints and keys


class Key(NamedTuple):
    """A public Ed25519 key, or a signature that says to be of one: name, id, and the bytes."""

    name: str
    key_id: bytes
    data: bytes

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}"


class Checkpoint(NamedTuple):
    """A C2SP tlog-checkpoint."""

    origin: str
    size: int
    root: bytes
    text: bytes
    signatures: tuple[Key, ...]


_SIZE = re.compile(r"0|[1-9][0-9]{0,15}")
_KEY_NAME = re.compile(r"[^+\s]+")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f]")


def parse_checkpoint(note: str) -> Checkpoint:
    """Read a checkpoint, signed or not; raise Malformed."""
    head, blank, tail = note.partition("\n\n")
    require(blank, "no empty line follows the text of the checkpoint")
    plain = not _CONTROL.search(note) and not _SURROGATE.search(note)
    require(plain, "the checkpoint has a character that no note may have")
    lines = head.split("\n")
    require(len(lines) >= 3 and all(lines), "the checkpoint has no origin, size and root")
    origin, size, root, *_ = lines
    counted = _SIZE.fullmatch(size) and int(size) <= LARGEST_INTEGER
    require(counted, "the size of the checkpoint is not a plain decimal number")
    hashed = _decoded(root, "the root of the checkpoint")
    require(len(hashed) == 32, "the root of the checkpoint has not 32 bytes")
    *signed, rest = tail.split("\n")
    require(not rest and len(signed) <= MOST_SIGNATURES, "it does not end with signature lines")
    signatures = tuple(map(_signature, signed))
    return Checkpoint(origin, int(size), hashed, head.encode() + b"\n", signatures)


def _signature(line: str) -> Key:
    dash, name, encoded, *more = [*line.split(" "), "", ""]
    require(
        dash == "—" and _KEY_NAME.fullmatch(name) and more == ["", ""], "a line is no signature"
    )
    signed = _decoded(encoded, "a signature")
    require(len(signed) > 4, "a signature has no bytes")
    return Key(name, signed[:4], signed[4:])


def parse_key(line: str) -> Key:
    """Read a public key, written name+id+key as the signed notes of Go do; raise Malformed."""
    name, key_id, encoded = [*line.strip().split("+", 2), "", ""][:3]
    formed = _KEY_NAME.fullmatch(name) and re.fullmatch(r"[0-9a-fA-F]{8}", key_id)
    require(formed, "a key is written name+id+key, the id as 8 hex digits")
    key = _decoded(encoded, "the key")
    require(key[:1] == b"\x01" and len(key) == 33, "the key is not an Ed25519 key (33 bytes)")
    same = _sha256(name.encode() + b"\n" + key).digest()[:4] == bytes.fromhex(key_id)
    require(same, "the key has another id than it says: a letter of it was lost or changed")
    return Key(name, bytes.fromhex(key_id), key[1:])


def parse_ring(text: str) -> list[Key]:
    """Read a ring of public keys, each on a line with the times of its use; raise Malformed."""
    *lines, rest = text.split("\n")
    begins = not rest and lines[:1] == ["memoranda/keyring/1"]
    require(begins, "it is not lines of text that begin with memoranda/keyring/1")
    fields = [line.split(" ") for line in lines[1:]]
    require(all(len(found) == 3 for found in fields), "a line is not: key, since, until")
    return [parse_key(key) for key, _, _ in fields]


class Standing:
    """Who signed a checkpoint, who did not though the name says so, and who is unknown."""

    def __init__(self, checkpoint: Checkpoint, keys: Sequence[Key]) -> None:
        self.by, self.wrong, self.foreign = list[str](), list[str](), list[str]()
        for one in checkpoint.signatures:
            known = [key for key in keys if (key.name, key.key_id) == (one.name, one.key_id)]
            hold = all(self._holds(key, one.data, checkpoint.text) for key in known)
            (self.foreign if not known else self.by if hold else self.wrong).append(str(one))

    def _holds(self, key: Key, signature: bytes, text: bytes) -> bool:
        # Here and not above: whoever gives no key needs no package.
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415

        try:
            ed25519.Ed25519PublicKey.from_public_bytes(key.data).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True

    def __str__(self) -> str:
        if self.wrong:
            return "failed"
        return "signed" if self.by else "foreign" if self.foreign else "unsigned"


# --------------------------------------------------------------------------------------- report


class Finding(NamedTuple):
    """One thing that is wrong; `seq` is the place of the entry, None for what is of no entry."""

    check: str
    seq: int | None
    why: str


@dataclass
class Anchor:
    """A checkpoint that was kept elsewhere, and what became of it."""

    file: str
    checkpoint: Checkpoint
    standing: Standing = field(init=False)
    verdict: str = ""


@dataclass
class Report:
    """What the walk saw."""

    anchors: list[Anchor]
    findings: list[Finding] = field(default_factory=list)
    origin: str | None = None
    scope: str | None = None
    size: int = 0
    root: bytes | None = None
    erased: int = 0
    end: Standing | None = None

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.findings


# ----------------------------------------------------------------------------------------- walk

_ORIGIN = re.compile(r"memoranda/[0-9a-f]{32}/([A-Za-z0-9\-._~%]+)")


class Walk:
    """One walk over one export."""

    def __init__(self, report: Report, keys: Sequence[Key]) -> None:
        self.report = report
        self._keys = keys
        self._tree = Tree()
        self._wanted = {anchor.checkpoint.size for anchor in report.anchors}
        self._roots: dict[int, bytes] = {0: self._tree.root()}
        self._said: int | None = None  # the size that the header says
        self._place = 0
        self._unreadable: int | None = None  # the first place without an entry: no root from there
        self._previous: str | None = None  # None: not known, nothing can be compared
        self._seq = -1
        self._right = -1  # the last number that was right,
        self._shift = 0  # and how far it was from its place
        self._at = 0
        self._versions: dict[str, tuple[int, bytes, int]] = {}  # newest, its digest, first place
        self._spare = 0  # erased bodies of objects that no gap of versions has used up
        self._gone: dict[int, tuple[str, int]] = {}  # erased facts that no erasure has named yet
        self._worlds = Worlds()
        self._lost = 0  # bodies that are there, but of no use
        self._checkpoint: Checkpoint | None = None

    def _add(self, check: str, seq: int | None, why: object) -> None:
        self.report.findings.append(Finding(check, seq, str(why)))

    def read(self, stream: IO[bytes], *, require_signature: bool) -> Report:
        """Walk over an export from its header to its end."""
        pending: Malformed | None = None  # a line that can't be read: an entry, or the end
        ended, is_empty, has_feed, after = False, False, True, 0
        for number, line in enumerate(read_lines(stream)):
            if ended:
                after += 1
                continue
            has_feed = line is None or line.endswith(b"\n")
            if number == 0 and self._header(line):
                continue
            if pending:
                self._no_entry(pending)
                pending = None
            was_empty, is_empty = is_empty, line is not None and not line.strip()
            if is_empty:
                if not was_empty:  # a million of them are one finding
                    self._add("form", self._place, "a line is empty, or several are")
                continue
            try:
                members = read_line(line)
                ended = "entry" not in members
                if not ended:
                    self._entry(members)
                else:
                    is_end = members.get("type") == "end"
                    require(is_end, "the line is neither an entry nor the end")
                    self._end(members)
            except Malformed as wrong:
                pending, ended = wrong, False
        if pending and self._said == self._place:
            self._add("form", None, f"the end: {pending}")
            ended = True
        elif pending:
            self._no_entry(pending)
        if not ended:
            self._add("form", None, "the export has no end: it was cut off")
        elif after:
            self._add("form", None, f"{after} lines follow the end")
        elif not has_feed and not pending:
            self._add("form", None, "the last line does not end with a line feed")
        self._whole(require_signature=require_signature)
        return self.report

    def _header(self, line: bytes | None) -> bool:
        """Whether the first line was a header, however damaged."""
        try:
            header = read_line(line)
        except Malformed as wrong:
            self._add("form", None, f"the header: {wrong}")
            return True
        if "entry" in header or header.get("type") == "end":
            self._add("form", None, "the export has no header")
            return False
        names = ("origin", "scope", "size", "type", "v")
        origin, scope, size, kind, v = (header.get(name) for name in names)
        found = _ORIGIN.fullmatch(origin) if isinstance(origin, str) else None
        scoped = isinstance(scope, str) and not _SURROGATE.search(scope)
        fits = bool(found and scoped and quote(str(scope), "") == found[1])
        exported = kind == "memoranda-export" and type(v) is int and v == 1
        for holds, why in (
            (header.keys() == {*names}, "it has other members than its five"),
            (exported, "it is not that of a memoranda-export of version 1"),
            (found, "the origin is not of the form of one"),
            (fits or not found, "the scope is not that of the origin"),
            (_is_whole(size), "the size is not a whole number from 0"),
        ):
            if not holds:
                self._add("form", None, f"the header: {why}")
        if found:
            self.report.origin, self.report.scope = origin, scope if fits else None
            self._previous = _hex(f"memoranda/journal/1\n{origin}")
        self._said = size if _is_whole(size) else None
        return True

    def _no_entry(self, wrong: Malformed) -> None:
        """Pass over a line in which there is no entry to be read."""
        self._add("form", self._place, str(wrong))
        if self._unreadable is None:
            self._unreadable = self._place
        self._previous = None
        self._lost += 1
        self._place += 1

    def _entry(self, members: dict[str, Any]) -> None:
        """Check an entry and its body, in the order of the checks, and let chain and tree grow."""
        # 1. form
        text, salt, body = members["entry"], members.get("salt"), members.get("body")
        if not isinstance(text, str) or _SURROGATE.search(text):
            raise Malformed("the entry is not a string, or has a lone surrogate")
        place, add, hashed = self._place, self._add, text.encode()
        if members.keys() != {"entry", "salt", "body"}:
            add("form", place, "the line has other members than its three")
        entry, wrong = read_entry(text)
        if wrong:
            add("form", place, wrong)
        content, value = self._body(salt, body)
        if entry is None:
            self._lost += 1
        else:
            at, _, _, previous, seq = entry
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
            # 5. body, 6. object and 7. world
            self._content(entry, salt, body, content, value)
        self._previous = _sha256(hashed).hexdigest()
        self._tree.add(hashed)
        self._place = place = place + 1
        if place in self._wanted and self._unreadable is None:
            self._roots[place] = self._tree.root()

    def _content(self, entry: Entry, salt: Any, body: Any, content: Any, value: Any) -> None:
        """Check what an entry is about; of a body that is not its own, no rule is asked."""
        _, digest, kind, _, seq = entry
        place, worlds, usable = self._place, self._worlds, None
        body_hash = _sha256(content or b"").digest()
        if salt is None and body is None:
            self.report.erased += 1
            if kind in OBJECT_KINDS:
                self._spare += 1
            elif kind in FACT_TYPES and kind != "erasure":
                self._gone[seq] = digest, place
                worlds.erased |= {seq} if kind in WORLD_KINDS else set()
            else:
                self._add("body", place, f"the body is gone, and that of a {kind} is never erased")
        elif content is not None and _sha256(bytes.fromhex(salt) + body_hash).hexdigest() != digest:
            self._add("body", place, "the body has another digest than the entry says")
            self._lost += 1
        elif value is None:
            self._lost += 1
        else:
            try:
                self._require_rules(kind, seq, value, body_hash)
                usable = value
            except Malformed as wrong:
                self._add("object", place, wrong)
        if kind in WORLD_KINDS and usable is None:
            worlds.unusable |= {seq} - worlds.erased
        elif kind in WORLD_KINDS and usable is not None:
            try:
                worlds.require_rules(seq, usable, in_order=self.report.ok)
            except (Malformed, RecursionError) as wrong:
                self._add("world", place, wrong)
                worlds.unusable.add(seq)

    def _body(self, salt: Any, body: Any) -> tuple[bytes | None, dict[str, Any] | None]:
        """The bytes of a body and its members, as far as salt and body are of use."""
        if salt is None and body is None:
            return None, None
        try:
            require(salt is not None, "the body has no salt")
            require(body is not None, "the salt has no body")
            require(type(body) is str and _matches(_SALT, salt), "salt or body is malformed")
            require(not _SURROGATE.search(body), "the body has a lone surrogate")
        except Malformed as wrong:
            self._add("form", self._place, wrong)
            return None, None
        value, unfit = read_body(body)
        if unfit:
            self._add("form", self._place, unfit)
        return body.encode(), value

    def _require_rules(self, kind: str, seq: int, body: dict[str, Any], digest: bytes) -> None:
        """Raise Malformed for the first rule for objects or facts that is broken."""
        if kind not in OBJECT_KINDS:
            typed = _text(body.get("type")) and body["type"] != "MemoryObject"
            require(typed, f"the body of a {kind} has no type of its own")
            if kind in FACT_TYPES:
                require_fact(kind, body, seq)
            if kind == "erasure":
                gone = {number: self._gone.pop(number, ("", 0))[0] for number, _ in body["erased"]}
                for number, erased in body["erased"]:
                    wrong = f"it says that entry {number} was erased, and that is not so"
                    require(gone[number] == erased, wrong)
            return
        id, version, supersedes = body.get("id"), body.get("version"), body.get("supersedes")
        if not isinstance(id, str) or not _matches(_VERSION, version):
            self._lost += 1
            require_members(body)
            raise Malformed("version is not a decimal number from 1, as a string")
        number = int(str(version))
        before, digest_before, first = self._versions.get(id, (0, b"", self._place))
        self._versions[id] = number, digest, first
        gap = number - before - 1
        require_members(body)
        require_readable(body)
        spare = 0
        if kind == "archive" and body.get("status") == "erased":
            # only a tombstone follows versions that are gone, and before it all of them are
            spare = self._spare
            if before:
                self._add("object", first, "it was erased, and its content is there")
        require(0 <= gap <= spare + self._lost, f"version {number} follows version {before}")
        self._lost -= max(0, gap - spare)
        self._spare -= min(gap, spare)
        if number > 1:
            require(_matches(_SUPERSEDES, supersedes), f"version {number} supersedes nothing")
            same = gap > 0 or supersedes == "sha256:" + digest_before.hex()
            require(same, f"version {number} supersedes another content than version {before} has")
        # rules 4 and 5: a reason for what ends an object, and the status that fits
        if kind not in ENDINGS:
            require("status" not in body, "its status is not active, which is said by no status")
            return
        status, reason = body.get("status"), body.get("reason")
        require(_text(reason) and str(reason).strip(), f"{kind} without a reason")
        require(status in ENDINGS[kind], f"{kind} leads to the status {shown(status)}")

    def _end(self, members: dict[str, Any]) -> None:
        if members.keys() != {"type", "checkpoint"}:
            self._add("form", None, "the end has other members than type, checkpoint")
        try:
            note = members.get("checkpoint")
            require(type(note) is str, "its checkpoint is not a string")
            self._checkpoint = parse_checkpoint(str(note))
        except Malformed as wrong:
            self._add("form", None, f"the end: {wrong}")

    def _whole(self, *, require_signature: bool) -> None:
        """Check what only the whole export can show."""
        report, add = self.report, self._add
        report.size = self._place
        report.root = self._tree.root() if self._unreadable is None else None
        # 5. body: no fact has gone without an erasure that names it
        for _, place in self._gone.values():
            add("body", place, "the body is gone, and no erasure says why")
        # 6. object: no version has gone without a later one that stayed
        if self._spare and self._unreadable is None and report.ok:
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
            report.end = Standing(checkpoint, self._keys)
            for name in report.end.wrong:
                add("signature", None, f"the signature of {shown(name)} at the end is wrong")
        if require_signature and not (report.end and report.end.by):
            add("signature", None, "none of the keys that were asked for has signed the checkpoint")
        # 11. anchor
        for anchor in report.anchors:
            anchor.standing = Standing(anchor.checkpoint, self._keys)
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


def verify(
    stream: IO[bytes],
    *,
    anchors: Sequence[Anchor] = (),
    keys: Sequence[Key] = (),
    require_signature: bool = False,
) -> Report:
    """Verify an export; damage is in the report, and only the stream itself raises."""
    return Walk(Report(list(anchors)), keys).read(stream, require_signature=require_signature)


# ------------------------------------------------------------------------------------ the command


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _as_json(report: Report) -> str:
    counts = Counter(finding.check for finding in report.findings)
    anchors = [
        {
            "file": one.file, "origin": one.checkpoint.origin, "size": one.checkpoint.size,
            "root": _base64(one.checkpoint.root), "standing": str(one.standing),
            "signed_by": one.standing.by, "verdict": one.verdict,
        }
        for one in report.anchors
    ]  # fmt: skip
    members = {
        "ok": report.ok, "origin": report.origin, "scope": report.scope, "size": report.size,
        "root": _base64(report.root), "erased": report.erased,
        "signed_by": report.end.by if report.end else [],
        "anchors": anchors,
        "findings": [finding._asdict() for finding in report.findings],
        "counts": {name: counts[name] for name in CHECKS if counts[name]},
    }  # fmt: skip
    return json.dumps(members)


def _signed(end: Standing | None) -> str:
    if end is None:
        return "there is no checkpoint in the export that could be read"
    by, wrong, foreign = (", ".join(map(shown, n)) for n in (end.by, end.wrong, end.foreign))
    said = {
        "failed": f"is NOT signed by {wrong}: it is wrong",
        "signed": f"is signed by {by}",
        "foreign": f"says it is signed by {foreign}: no such key was given",
        "unsigned": "is not signed: anyone could have written it",
    }
    return f"the checkpoint in the export {said[str(end)]}"


_NOT_AGREED = "No checkpoint that was kept elsewhere agrees: this is not what was seen then."
_ONLY_SIGNED = """\
No checkpoint that was kept elsewhere was given. The signature shows that a holder
of the key vouched for these entries. Whether the holder rewrote them, or newer ones
were cut off, can't be told."""
_ALONE = """\
No checkpoint that was kept elsewhere was given: a journal that was rewritten or
cut off as a whole can't be told from a true one."""
_AGREED = """\
The first {agreed} entries are those of the checkpoint that was kept elsewhere.{newer}
Whether still newer ones were cut off can't be told: a newer checkpoint could."""


def _untold(report: Report) -> str:
    """What this verification can't tell."""
    agreed = max((a.checkpoint.size for a in report.anchors if a.verdict == "agrees"), default=None)
    signed = str(report.end) == "signed"
    if agreed is None:
        return _NOT_AGREED if report.anchors else _ONLY_SIGNED if signed else _ALONE
    worth, count = "only the signature" if signed else "nothing", report.size - agreed
    newer = f"\nFor the {count} newer entries {worth} vouches." if count else ""
    return _AGREED.format(agreed=agreed, newer=newer)


def _as_text(report: Report, name: str) -> Iterator[str]:
    """The report for people."""
    erased = f", {report.erased} of them without a body (erased)" if report.erased else ""
    yield f"export     {shown(name, 200)}"
    yield f"journal    {shown(report.origin or 'not known', 200)}"
    yield f"entries    {report.size}{erased}"
    yield f"root       {_base64(report.root) or 'not known'}"
    yield f"signature  {_signed(report.end)}"
    for one in report.anchors:
        by = f" by {', '.join(map(shown, one.standing.by))}" if one.standing.by else ""
        kept = f"{one.file}: size {one.checkpoint.size}, {one.standing}{by}"
        yield f"outside    {kept}: {one.verdict}"
    if not report.anchors:
        yield "outside    no checkpoint was given"
    found = len(report.findings)
    if report.ok:
        yield "\nNothing is wrong."
    else:
        yield f"\nDamage: {found} finding{'s' if found > 1 else ''}. The first of each kind:"
    counts = Counter(finding.check for finding in report.findings)
    for check in sorted(counts, key=CHECKS.index):
        finding = next(one for one in report.findings if one.check == check)
        where = "" if finding.seq is None else f"entry {finding.seq}: "
        yield f"  {check:<9} {counts[check]:>6} x  {where}{finding.why}"
    if found > len(counts):
        yield "--json lists all of them."
    yield f"\n{_untold(report)}"


def _fail(why: str) -> NoReturn:
    print(f"memoranda-verify: {why}", file=sys.stderr)
    raise SystemExit(2)


def _read(file: str, what: str, read: Callable[[str], Any]) -> Any:
    """What a file holds; the command ends where that is not what it should be."""
    try:
        with Path(file).open("rb") as opened:
            text = opened.read(LONGEST_NOTE + 1)
        require(len(text) <= LONGEST_NOTE, "it is too long")
        return read(text.decode())
    except OSError as wrong:
        _fail(f"can't read the {what} {shown(file)}: {wrong.strerror}")
    except (UnicodeDecodeError, Malformed) as wrong:
        _fail(f"{shown(file)} is no {what}: {shown(str(wrong), 200)}")


def _known(lines: Sequence[str], ring: str | None) -> list[Key]:
    try:
        if lines or ring:
            import cryptography  # noqa: F401, PLC0415
        keys = [parse_key(line) for line in lines]
    except ImportError:
        _fail("checking signatures needs a package: pip install cryptography")
    except Malformed as wrong:
        _fail(f"--key: {wrong}")
    return keys + (_read(ring, "keyring", parse_ring) if ring else [])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="memoranda-verify",
        description="Verify an export of memoranda, with nothing of memoranda.",
        epilog="Exit codes: 0 nothing is wrong; 5 damage was found; 2 it could not be verified.",
    )
    add, many = parser.add_argument, dict[str, Any](action="append", default=[])
    add("export", help="the file, or - for the standard input")
    add("--checkpoint", metavar="FILE", help="one that was kept elsewhere; may be repeated", **many)
    add("--key", metavar="VKEY", help="a public key, written name+id+key; may be repeated", **many)
    add("--keyring", metavar="FILE", help="a file of public keys, as memoranda writes it")
    add("--require-signature", action="store_true", help="its checkpoint must be signed by a key")
    add("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args(arguments)
    if given.require_signature and not (given.key or given.keyring):
        parser.error("--require-signature needs --key or --keyring: whose signature is it to be?")
    keys = _known(given.key, given.keyring)
    anchors = [
        Anchor(shown(file, 200), _read(file, "checkpoint", parse_checkpoint))
        for file in given.checkpoint
    ]
    try:
        stream = sys.stdin.buffer if given.export == "-" else Path(given.export).open("rb")  # noqa: SIM115
        with stream:
            signed = given.require_signature
            report = verify(stream, anchors=anchors, keys=keys, require_signature=signed)
    except OSError as wrong:
        _fail(f"can't read {shown(given.export)}: {wrong.strerror}")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        for line in [_as_json(report)] if given.json else _as_text(report, given.export):
            print(line.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has seen enough; the exit code still tells
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if report.ok else DAMAGED


if __name__ == "__main__":
    sys.exit(main())
