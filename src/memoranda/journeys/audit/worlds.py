"""What a verification looks at in worlds: their hashes are made anew from what is kept.

1. a world's id is the hash of its schema and its snapshot's hash            (WORLD-ID)
2. what is kept of a snapshot has its form, and what it rests on was not erased without it
3. the snapshot is restored from that, and has the digest that is written with it
4. its hash, with the schema, is the world that its execution, or its branch, says it reached

A snapshot that rests on an entry whose own body is damaged is not looked at: that was said.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from memoranda.identity import decode
from memoranda.journeys.intent import documents
from memoranda.journeys.intent.chronicle import Kept, restored
from memoranda.kernel.errors import InvalidInput, InvalidProof, WorldErased
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import Entry, body_digest, read_entry
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import StoredEntry
from memoranda.worlds.snapshot import snapshot_hash, world_id

_KINDS: Final = frozenset({"world", "execution"})
_KINDS_IN_ENTRIES: Final = (b'"kind":"world"', b'"kind":"execution"')
_KEEPS: Final = {documents.SEALED: "world", documents.BRANCH: "head"}
"""The types that keep a snapshot, each with the member that names its world."""
_WHOLE: Final = frozenset({"sha256", "full"})
_BY_CHANGES: Final = frozenset({"sha256", "on", "changes"})
_DIGEST: Final = re.compile("[0-9a-f]{64}")
_REMEMBERED: Final = 8
"""How many snapshots are held, so that the next on a branch is made from the one before."""


class WorldWalk:
    """Feed it all entries in their order; damage is reported, never raised."""

    def __init__(self, ledger: Ledger, damages: Damages) -> None:
        self._ledger = ledger
        self._damages = damages
        self._recent: dict[int, Kept] = {}
        self._gone: set[int] = set()
        self._unsound: set[int] = set()
        """Those that can't be rested on, which is said of themselves."""

    async def feed(self, stored: Sequence[StoredEntry]) -> None:
        for entry in stored:
            if any(kind in entry.entry for kind in _KINDS_IN_ENTRIES):
                await self._check(entry)

    async def _check(self, stored: StoredEntry) -> None:
        try:
            entry = read_entry(stored.entry)
        except InvalidProof:
            self._unsound.add(stored.seq)
            return
        if entry.kind not in _KINDS:
            return
        if stored.body is None:
            self._gone.add(stored.seq)
            return
        document = _document(stored, entry)
        if document is None:
            self._unsound.add(stored.seq)
            return
        try:
            # 1.
            if document.get("type") == documents.WORLD:
                _check_world(document)
            elif document.get("type") in _KEEPS:
                await self._check_kept(stored.seq, document)
        except WorldErased:
            self._unsound.add(stored.seq)  # it was erased while this runs
        except (InvalidInput, LookupError, TypeError, AttributeError) as wrong:
            self._damages.add("world", stored.seq, getattr(wrong, "why", str(wrong)))
            self._unsound.add(stored.seq)

    async def _check_kept(self, seq: int, document: Mapping[str, Any]) -> None:
        # 2.
        schema_hash, world = document.get("schemaHash"), document.get(_KEEPS[document["type"]])
        if not (isinstance(schema_hash, str) and isinstance(world, str)):
            raise InvalidProof("it does not name a schema and a world")
        snapshot = document.get("snapshot", {})
        check_kept_form(snapshot, seq)
        on = snapshot.get("on", ())
        if not self._unsound.isdisjoint(on):
            self._unsound.add(seq)
            return
        if not self._gone.isdisjoint(on):
            raise InvalidProof("what its snapshot rests on was erased, and it was not")
        # 3.
        before = self._recent.get(on[-1]) if on else None
        kept = await restored(self._ledger, seq, snapshot, before=before)
        # 4.
        if world_id(schema_hash, snapshot_hash(kept.parts)) != world:
            raise InvalidProof("its snapshot is not that of the world it names")
        self._recent[seq] = kept
        if len(self._recent) > _REMEMBERED:
            del self._recent[next(iter(self._recent))]


def _document(stored: StoredEntry, entry: Entry) -> dict[str, Any] | None:
    """What a body says; None if it is damaged, which the walk along the journal says."""
    salt, body = stored.salt, stored.body
    if salt is None or body is None or isinstance(body, Unreadable):
        return None
    if body_digest(salt, body) != entry.body_digest:
        return None
    try:
        document = decode(body)
    except InvalidInput:
        return None
    return document if isinstance(document, dict) else None


def _check_world(document: Mapping[str, Any]) -> None:
    match document.get("world"):
        case {"schemaHash": str(schema), "snapshotHash": str(snapshot), "worldId": str(world)}:
            if world == world_id(schema, snapshot):
                return
    raise InvalidProof("its id is not the hash of its schema and snapshot")


# -------------------------------------------------------------------------------- form


def check_kept_form(snapshot: Any, seq: int) -> None:
    """Refuse with InvalidProof what can't be how an entry keeps a snapshot."""
    if not isinstance(snapshot, dict) or snapshot.keys() not in (_WHOLE, _BY_CHANGES):
        raise InvalidProof("its snapshot is kept neither whole nor by changes")
    digest = snapshot["sha256"]
    if not (isinstance(digest, str) and _DIGEST.fullmatch(digest)):
        raise InvalidProof("its snapshot has no digest")
    if "full" in snapshot:
        return
    on, changes = snapshot["on"], snapshot["changes"]
    if not (isinstance(on, list) and on and all(type(value) is int for value in on)):
        raise InvalidProof("what its snapshot rests on are not entries")
    if not all(value < other for value, other in pairwise([-1, *on, seq])):
        raise InvalidProof("what its snapshot rests on are not entries before it, in their order")
    if not (isinstance(changes, list) and all(map(_is_change, changes))):
        raise InvalidProof("the changes of its snapshot are not changes")


def _is_change(change: object) -> bool:
    match change:
        case ["set", list(path), _] | ["unset", list(path)]:
            pass
        case ["splice", list(path), index, count, list()]:
            if not (_is_whole(index) and _is_whole(count)):
                return False
        case _:
            return False
    return all(isinstance(step, str) or _is_whole(step) for step in path)


def _is_whole(number: object) -> bool:
    return type(number) is int and number >= 0
