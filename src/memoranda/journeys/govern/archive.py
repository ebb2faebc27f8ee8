"""Archiving by rule: many objects, a portion at a time, each with its reason (GOV-FORGET).

A portion is one short transaction, and after it as long is waited as it took: whoever remembers or
recalls meanwhile gets at least every other turn (MEM-MAINT-4). What came to be otherwise since it
was found stays as it is, so doing it twice, or half of it, does no harm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple, Protocol

from memoranda.identity import Frozen, canonical_bytes, decode, sha256
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.find import FilteredReads
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger import lifecycle
from memoranda.ledger.unit import Committed, Current, Draft
from memoranda.records.filter import MemoryFilter
from memoranda.records.table import Note
from memoranda.text import fold

PORTION: Final = 32
"""Objects that are archived in one transaction."""

Tell = Callable[[Sequence[Draft]], Awaitable[None]]
"""Hears of what has landed."""
Decided = Callable[[Mapping[str, Current], str], str | None]
"""The reason why the object of an id is archived, from what is there; None if it stays."""


class ArchivedTable(Protocol):
    """The objects of one scope, as they are archived: `GovernedTable`."""

    @property
    def ledger(self) -> FilteredReads:
        """Where they are found."""
        ...

    @property
    def rulebook(self) -> Rulebook:
        """What is allowed."""
        ...

    async def change(
        self, ids: Sequence[str], note: Note, decide: Callable[..., list[Draft]], /
    ) -> tuple[Committed, list[Draft]]:
        """Run a unit of work on the newest versions of some objects."""
        ...


class Archived(NamedTuple):
    """How many were archived, and what is damaged, and was left alone."""

    archived: int
    damaged: Sequence[EntryDamaged] = ()


async def archive(
    table: ArchivedTable,
    drafts: Drafts,
    note: Note,
    ids: Sequence[str],
    decided: Decided,
    tell: Tell,
    *,
    beside: Mapping[str, str] | None = None,
) -> Archived:
    """Archive what is active, and has a reason; `beside` are ids that are read with each."""
    await table.rulebook.check_forgetting(note.actor, "policy")
    time = asyncio.get_running_loop().time
    count, damaged = 0, list[EntryDamaged]()
    waiting = [ids[first : first + PORTION] for first in range(0, len(ids), PORTION)]
    while waiting:
        some = waiting.pop(0)
        began = time()
        try:
            count += await _archived(table, drafts, note, some, decided, tell, beside or {})
        except EntryDamaged as found:
            if len(some) > 1:
                waiting[:0] = [[id] for id in some]
            else:
                damaged.append(found)
        await asyncio.sleep(time() - began)
    return Archived(count, damaged)


async def _archived(
    table: ArchivedTable,
    drafts: Drafts,
    note: Note,
    ids: Sequence[str],
    decided: Decided,
    tell: Tell,
    beside: Mapping[str, str],
) -> int:
    reads = list(dict.fromkeys([*ids, *(beside[id] for id in ids if id in beside)]))

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        there = {
            current.id: current
            for current in found
            if current is not None and current.status == "active"
        }
        made = []
        for id in ids:
            reason = decided(there, id) if id in there else None
            if reason is not None:
                current = there.pop(id)
                body, nonce = Frozen(current.body), drafts.nonce()
                change = lifecycle.archive(
                    body, reason=reason, cause="policy", at=note.at, nonce=nonce
                )
                made.append(drafts.following(current, change.event_type, change.object))
        return made

    _, written = await table.change(reads, note, decide)
    await tell(written)
    return len(written)


# ------------------------------------------------------------------------------------------------
# Exact duplicates: what says the same of the same, from the same sources. One of them stays: one
# that was approved, or else the first. Nothing is summed up, no statement is made (MEM-MAINT-3).

_OF_ITS_OWN: Final = frozenset(
    {
        *("id", "version", "nonce", "timestamp", "created_ms", "updated_ms", "trust", "reason"),
        *("supersedes", "cause"),
    }
)
"""The members in which two objects differ although they say the same."""


def saying(document: Mapping[str, Any]) -> bytes:
    """A digest of what an object says, of whom, from where: the same for exact duplicates.

    A text counts as it is folded, other data as it is.
    """
    said = {name: value for name, value in document.items() if name not in _OF_ITS_OWN}
    if "format" not in said:
        said["statement"] = fold(said["statement"])
    return sha256(canonical_bytes(said))


async def duplicates(table: ArchivedTable) -> dict[str, str]:
    """The ids of exact duplicates, each with the id of the one that stays."""
    kept: dict[bytes, tuple[str, bool]] = {}
    found: dict[str, str] = {}
    number = 0
    every = MemoryFilter(order_by="entry", order="asc")
    async with aclosing(table.ledger.stream(every)) as objects:
        async for current in objects:
            document = decode(current.body)
            key, is_approved = saying(document), document["trust"] == "approved"
            stays, was_approved = kept.setdefault(key, (current.id, is_approved))
            if is_approved and not was_approved:
                kept[key], (stays, goes) = (current.id, True), (current.id, stays)
                found = {id: current.id if to == goes else to for id, to in found.items()}
            else:
                goes = current.id
            if goes != stays:
                found[goes] = stays
            number += 1
            if number % PORTION == 0:
                await asyncio.sleep(0)
    return found


async def consolidate(table: ArchivedTable, drafts: Drafts, note: Note, tell: Tell) -> Archived:
    """Archive exact duplicates, each with the id of the one that stays as its reason."""
    stays = await duplicates(table)

    def decided(there: Mapping[str, Current], id: str) -> str | None:
        other = there.get(stays[id])
        if other is None or saying(decode(other.body)) != saying(decode(there[id].body)):
            return None
        return f"an exact duplicate of {stays[id]}"

    return await archive(table, drafts, note, list(stays), decided, tell, beside=stays)
