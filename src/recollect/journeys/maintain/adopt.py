"""Records from before there was a journal: each becomes an object, with an entry of its own.

A record keeps its id, its times, its tags and its meta. Its history was never kept and can't be
made up: it is version 1 now, and the reason says which one it was, and why it was written.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from recollect.identity import canonical_bytes, decode
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.facts import NO_FACTS
from recollect.kernel.randomness import Randomness
from recollect.ledger.checkpoint import scope_origin
from recollect.ledger.unit import Current, Draft, Ledger, Unit
from recollect.records.table import Encoded, NewRow, Note

PORTION = 500
ACTOR = "system:recollect"


class PlainRow(NamedTuple):
    """A record as it was stored; its body is canonical JSON of data, meta and tags."""

    id: str
    version: int
    created_at: int
    updated_at: int
    actor: str
    reason: str | None
    body: bytes


class PlainDatabase(Protocol):
    """A database that may hold such records."""

    async def plain_scopes(self) -> list[str]:
        """The scopes that still have some."""
        ...

    async def plain_rows(self, scope: str, limit: int) -> list[tuple[Any, ...]]:
        """The fields of some of them."""
        ...

    async def forget_plain(self, scope: str, ids: Sequence[str]) -> None:
        """Let go of those that were adopted."""
        ...

    async def ledger(self, scope: str, origin: str, now: int) -> Ledger:
        """The ledger of a scope."""
        ...


async def adopt_plain(database: PlainDatabase, randomness: Randomness, now: int) -> int:
    """Adopt all of them; how many. It may be broken off at any time, and goes on at the next."""
    adopted = 0
    for scope in await database.plain_scopes():
        origin = scope_origin(randomness.take(16).hex(), scope)
        ledger = await database.ledger(scope, origin, now)
        drafts = Drafts(scope, randomness)
        while found_rows := await database.plain_rows(scope, PORTION):
            rows = [PlainRow._make(row) for row in found_rows]
            ids = [row.id for row in rows]
            decide = partial(_decided, rows, drafts, now)
            await ledger.commit(Unit(ACTOR, now, decide, ids))
            await database.forget_plain(scope, ids)
            adopted += len(rows)
    return adopted


def _decided(
    rows: Sequence[PlainRow], drafts: Drafts, now: int, found: Sequence[Current | None]
) -> list[Draft]:
    pairs = zip(rows, found, strict=True)
    return [_adopted(row, drafts, now) for row, known in pairs if known is None]


def _adopted(row: PlainRow, drafts: Drafts, now: int) -> Draft:
    content: dict[str, Any] = decode(row.body)
    tags, meta = content.get("tags"), content.get("meta")
    encoded = Encoded(
        canonical_bytes(content["data"]),
        None if tags is None else tuple(tags),
        None if meta is None else canonical_bytes(meta),
    )
    new = NewRow(row.id, row.created_at, row.updated_at, encoded, is_minted=False)
    reason = f"stored before there was a journal, by {row.actor}, as version {row.version}"
    if row.reason is not None:
        reason += f": {row.reason}"
    return drafts.created(new, Note(row.actor, now, reason), NO_FACTS)
