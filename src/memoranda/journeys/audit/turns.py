"""What a verification looks at in turns: the items that cycles stored.

1. every item is the one that its cycle stored: its digest, salted, stands in the cycle's fact
2. every item that a fact has the digest of is there: it goes with the fact, or not at all
3. every cycle that landed has its salt, the one that its fact has the digest of, and no other has
   one
4. the index of items has the keywords of every item, and nothing else     (`item_index`)
5. every session is the one that its cycle saved, unless that cycle was erased
6. every recording is the one that its cycle left, and every one that a fact names is there
7. a retry is answered with entries that are there, not before its time, about what it says

Facts and items come in orders of their own and need not fit into memory, so they are compared by
sums (`rows.TagSums`). Only where sums differ are they read again, to say what differs.
"""

from asyncio import to_thread
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

from memoranda.identity import decode, sha256_hex
from memoranda.journeys.audit.attachments import (
    check_item_index,
    check_retries,
    check_sessions,
    keywords_of,
    readable,
)
from memoranda.journeys.turn.facts import TYPE, salted_digest
from memoranda.kernel.errors import InvalidInput, InvalidProof
from memoranda.ledger.attachments import (
    CycleSalt,
    StoredItem,
    StoredRecording,
    StoredRetry,
    StoredSession,
)
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import body_digest, read_entry
from memoranda.ledger.rows import TagSums
from memoranda.ledger.snapshot import ENTRIES, ITEMS, LEFT, SALTS, LedgerSnapshot, StoredTag
from memoranda.ledger.unit import StoredEntry

_KIND_IN_ENTRY: Final = b'"kind":"cycle"'

Landed = tuple[int, Mapping[str, Any]]
"""The fact of a cycle that landed, and the number of its entry."""


class _Claim(NamedTuple):
    """What a fact says of an item: the cycle stored one with this digest."""

    cycle: str
    session: str
    digest: str

    @property
    def row(self) -> StoredTag:
        """As a row that is summed up like those of tags."""
        return StoredTag(self.cycle, 0, f"{self.session} {self.digest}")


def _salt_in(fact: Mapping[str, Any]) -> StoredTag:
    """What a fact says of the salt of its cycle, as a row that is summed up likewise."""
    return StoredTag(fact["cycleId"], 0, str(fact.get("salt")))


def _salt_row(kept: CycleSalt) -> StoredTag:
    return StoredTag(kept.cycle, 0, sha256_hex(kept.salt))


class CycleWalk:
    """Feed it all entries in their order, then `finish` with what is stored."""

    def __init__(self, damages: Damages, key: bytes) -> None:
        """`key` is random, and of one verification: see `TagSums`."""
        self._damages = damages
        self._key = key
        self._claims = TagSums(key)
        self._salts = TagSums(key)
        self._recordings = TagSums(key)

    def feed(self, stored: Sequence[StoredEntry]) -> None:
        for seq, fact in _landed(stored):
            self._salts.add(_salt_in(fact))
            if fact.get("recorded") is True:
                self._recordings.add(StoredTag(fact["cycleId"], 0, str(fact.get("recording"))))
            claims = _claims(fact)
            if claims is None:
                self._damages.add("item", seq, "its items are not digests")
            for claim in claims or ():
                self._claims.add(claim.row)

    async def finish(self, snapshot: LedgerSnapshot) -> None:
        """Compare with what is stored: all items are read once, and again where something differs.

        What a fact can't say of an item that is stored so is no row, and always named.
        """
        stored, keywords, is_any_wrong = TagSums(self._key), TagSums(self._key), False

        def add(items: Sequence[StoredItem]) -> bool:
            claims = [_claim_of(item) for item in items]
            stored.add_all(claim.row for claim in claims if claim is not None)
            for item in items:
                keywords.add_all(keywords_of(item))
            return None in claims

        async with aclosing(snapshot.rows(ITEMS)) as chunks:
            async for items in chunks:
                is_any_wrong |= await to_thread(add, items)
        # 1. and 2.
        buckets = self._claims.differing(stored)
        if buckets or is_any_wrong:
            await self._name_items(snapshot, buckets)
        # 3.
        await self._check_salts(snapshot)
        # 4.
        await check_item_index(snapshot, keywords, TagSums(self._key), self._damages)
        # 5. to 7.
        await self._check_left(snapshot)

    async def _name_items(self, snapshot: LedgerSnapshot, buckets: frozenset[int]) -> None:
        """Say which items differ from the facts; what is in other buckets is not held."""
        wanted: dict[_Claim, int] = {}
        async for seq, fact in _all_landed(snapshot):
            claims = _claims(fact) or ()
            wanted.update((one, seq) for one in claims if self._is_in(one.row, buckets))
        accused: Counter[str | None] = Counter()
        async with aclosing(snapshot.rows(ITEMS)) as items:
            async for some in items:
                for item in some:
                    claim = _claim_of(item)
                    if claim is not None and claim in wanted:
                        del wanted[claim]
                    elif claim is None or self._is_in(claim.row, buckets):
                        self._damages.add("item", None, _wrong(item))
                        accused[item.cycle] += 1
        for claim, seq in wanted.items():
            accused[claim.cycle] -= 1
            if accused[claim.cycle] < 0:  # else it was named by what is in its place
                why = f"the cycle {claim.cycle!r} stored an item in the session {claim.session!r}"
                self._damages.add("item", seq, f"{why} that is not there")

    async def _check_salts(self, snapshot: LedgerSnapshot) -> None:
        stored = TagSums(self._key)
        async with aclosing(snapshot.rows(SALTS)) as chunks:
            async for salts in chunks:
                for kept in salts:
                    stored.add(_salt_row(kept))
        buckets = self._salts.differing(stored)
        if not buckets:
            return
        wanted: dict[str, tuple[int, StoredTag]] = {}
        async for seq, fact in _all_landed(snapshot):
            if self._is_in(row := _salt_in(fact), buckets):
                wanted[fact["cycleId"]] = (seq, row)
        async with aclosing(snapshot.rows(SALTS)) as again:
            async for salts in again:
                for kept in salts:
                    named, row = f"the cycle {kept.cycle!r}", _salt_row(kept)
                    said = wanted.pop(kept.cycle, None)
                    if said is not None:
                        if said[1] != row:
                            why = f"the salt of {named} is another one"
                            self._damages.add("item", said[0], why)
                    elif self._is_in(row, buckets):
                        why = f"{named} has a salt, and no fact that it landed"
                        self._damages.add("item", None, why)
        for cycle, (seq, _) in wanted.items():
            self._damages.add("item", seq, f"the salt of the cycle {cycle!r} is not there")

    async def _check_left(self, snapshot: LedgerSnapshot) -> None:
        stored = TagSums(self._key)
        sessions: list[StoredSession] = []
        retries: list[StoredRetry] = []
        async with aclosing(snapshot.rows(LEFT)) as chunks:
            async for some in chunks:
                for retry in some:
                    match retry:
                        case StoredSession():
                            sessions.append(retry)
                        case StoredRecording():
                            stored.add(_recording_row(retry))
                        case StoredRetry():
                            retries.append(retry)
        await check_sessions(snapshot, sessions, self._damages)
        await check_retries(snapshot, retries, self._damages)
        if self._recordings.differing(stored):
            await self._name_recordings(snapshot)

    async def _name_recordings(self, snapshot: LedgerSnapshot) -> None:
        """Say which recordings differ from the facts; a salt that does was named already."""
        wanted: dict[str, tuple[int, StoredTag, object]] = {}
        async for seq, fact in _all_landed(snapshot):
            if fact.get("recorded") is True:
                row = StoredTag(fact["cycleId"], 0, str(fact.get("recording")))
                wanted[fact["cycleId"]] = (seq, row, fact.get("salt"))
        async with aclosing(snapshot.rows(LEFT)) as chunks:
            async for some in chunks:
                for recording in some:
                    if not isinstance(recording, StoredRecording):
                        continue
                    row, named = (
                        _recording_row(recording),
                        f"the recording of the cycle {recording.cycle!r}",
                    )
                    said = wanted.pop(recording.cycle, None)
                    if said is None:
                        self._damages.add("recording", None, f"{named} is there, and of no fact")
                    elif (
                        said[1] != row and recording.salt and sha256_hex(recording.salt) == said[2]
                    ):
                        why = f"{named} is not what its fact says"
                        self._damages.add("recording", said[0], why)
        for cycle, (seq, *_) in wanted.items():
            why = f"the recording of the cycle {cycle!r} is not there"
            self._damages.add("recording", seq, why)

    def _is_in(self, row: StoredTag, buckets: frozenset[int]) -> bool:
        return any(self._claims.in_buckets([row], buckets))


def _recording_row(recording: StoredRecording) -> StoredTag:
    digest = (
        "" if recording.salt is None else salted_digest(recording.salt, sha256_hex(recording.body))
    )
    return StoredTag(recording.cycle, 0, digest)


# --------------------------------------------------------------------------------- facts


def _landed(stored: Sequence[StoredEntry]) -> Iterator[Landed]:
    """The facts of cycles that landed; what is damaged is passed over, the walk has said so."""
    for seq, raw, salt, body in stored:
        if _KIND_IN_ENTRY not in raw or salt is None or body is None:
            continue
        if isinstance(body, Unreadable):
            continue
        try:
            entry, fact = read_entry(raw), decode(body)
        except (InvalidProof, InvalidInput):
            continue
        if entry.kind != "cycle" or body_digest(salt, body) != entry.body_digest:
            continue
        match fact:
            case {"type": str(own), "outcome": "completed", "cycleId": str()} if own == TYPE:
                yield seq, fact


async def _all_landed(snapshot: LedgerSnapshot) -> AsyncGenerator[Landed, None]:
    async with aclosing(snapshot.rows(ENTRIES)) as entries:
        async for chunk in entries:
            for landed in _landed(chunk):
                yield landed


def _claims(fact: Mapping[str, Any]) -> list[_Claim] | None:
    """What a fact says of items; None if that can't be read."""
    match fact:
        case {"sessionRef": str(session), "items": list(digests)}:
            if all(isinstance(digest, str) for digest in digests):
                return [_Claim(fact["cycleId"], session, digest) for digest in digests]
    return None


# --------------------------------------------------------------------------------- items


def _claim_of(item: StoredItem) -> _Claim | None:
    """What a fact must say of an item; None if none can."""
    session, _, body, cycle, salt = item
    if body is None or cycle is None or salt is None or isinstance(body, Unreadable):
        return None
    return _Claim(cycle, session, salted_digest(salt, sha256_hex(body)))


def _wrong(item: StoredItem) -> str:
    named = f"the item {item.id!r} of the session {item.session!r}"
    by = f"the cycle {item.cycle!r}"
    if item.body is None:
        return f"{named}, which {by} stored, is not there"
    if readable(item) is None:
        return f"{named} can't be read"
    if item.cycle is None:
        return f"{named} is there, and no cycle stored it"
    if item.salt is None:
        return f"{named} can't be compared: {by} has no salt"
    return f"{named} is not what the fact of {by} says"
