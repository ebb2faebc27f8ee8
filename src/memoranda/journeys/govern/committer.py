"""Commits what one actor writes, and answers with receipts; the hooks hear of what has landed."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.about import About, Memo, said_of_new
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.govern.objects import (
    Earlier,
    Receipt,
    earlier_writes,
    receipt_of,
    receipts,
)
from memoranda.journeys.govern.table import GovernedTable, UnitOutcome
from memoranda.journeys.govern.writes import Write, Writer
from memoranda.journeys.records.codec import DataCodec, read
from memoranda.journeys.records.contents import Request, batch, check_batch, check_text, retry_key
from memoranda.journeys.records.notify import HookName, notify
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_writable
from memoranda.kernel.clock import Clock
from memoranda.ledger.unit import Current, Draft
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import MemoryHooks
from memoranda.records.table import Note

T = TypeVar("T")


class Telling(Generic[T]):
    """Tells the hooks of one handle of changes that have landed."""

    def __init__(self, hooks: MemoryHooks[T] | None, codec: DataCodec[T]) -> None:
        self._hooks = hooks
        self._codec = codec
        self.is_heard: Final = hooks is not None

    async def tell(self, drafts: Sequence[Draft]) -> None:
        """Call the hook of each change of a record, in their order."""
        if self._hooks is None:
            return
        for draft in drafts:
            if draft.version is None:
                continue
            name, values = self._told(draft.replaces, Current(*draft.version, draft.body))
            if name is not None and getattr(self._hooks, name) is not None:
                await notify(self._hooks, name, draft.version.id, values)

    def _told(
        self, before: Current | None, after: Current
    ) -> tuple[HookName | None, Callable[[], Sequence[object]]]:
        """Which hook hears of a change, and what: a record is there while it is active."""
        if before is None or before.status != "active":
            is_there = after.status == "active"
            return ("on_created" if is_there else None), lambda: (self._record(after),)
        if after.status != "active":
            return "on_deleted", lambda: (before.id, self._record(before))
        return "on_updated", lambda: (
            before.id,
            self._record(before).data,
            self._record(after).data,
        )

    def _record(self, current: Current) -> StoredMemoryRecord[T]:
        content = content_of(decode(current.body))
        return StoredMemoryRecord(
            current.id,
            read(self._codec, content.value),
            current.created_at,
            current.updated_at,
            content.tags,
            content.meta_value,
        )


class Committer(Generic[T]):
    """Runs the writes of one actor, each request in one transaction."""

    def __init__(
        self, table: GovernedTable, telling: Telling[T], actor: ActorRef, clock: Clock
    ) -> None:
        self._table = table
        self._telling = telling
        self.actor: Final = str(actor)
        self._clock = clock

    async def run(
        self, writes: Sequence[Write], key: str | None, *request: Any
    ) -> list[Receipt | None]:
        """Run writes in one transaction; a receipt for each, None where nothing was to forget.

        A retry with the same key, of the same request, is given the first receipts.
        """
        note = self.note(None)
        for write in writes:
            if write.check is not None:
                await write.check(self._table.rulebook, note.actor)
        retry = None
        if key is not None:
            asked: Request = request or writes[0].request
            retry = retry_key(key, *asked)
        committed, made = await self._table.run(writes, note, retry)
        if not committed.fresh:
            return _first(writes, await earlier_writes(self._table.ledger, committed))
        if self._telling.is_heard:
            await self._telling.tell([draft for draft in made if draft is not None])
        places = iter(committed.places)
        return [None if draft is None else receipt_of(next(places), draft) for draft in made]

    async def one(self, write: Write, key: str | None) -> Receipt:
        """Run a write that leaves an entry, or raises."""
        (receipt,) = await self.run([write], key)
        assert receipt is not None  # noqa: S101 - only forgetting may find nothing
        return receipt

    async def remember_many(
        self,
        writer: Writer[T],
        data: Sequence[T | Memo[T] | bytes],
        about: About,
        reason: str | None,
        key: str | None,
    ) -> list[Receipt]:
        """Remember all of these, or none; what a memo says of itself comes before `about`."""
        check_batch(data)
        if not data:
            return []
        shared = said_of_new(about)

        def write(memo: Any) -> Write:
            if not isinstance(memo, Memo):
                return writer.remember(memo, None, shared, reason)
            said = said_of_new({**about, **memo.about}) if memo.about else shared
            return writer.remember(memo.data, memo.id, said, reason)

        writes = batch(data, write)
        requests = tuple(write.request for write in writes) if key is not None else ()
        written = await self.run(writes, key, "remember_many", requests)
        return [receipt for receipt in written if receipt is not None]

    async def receipts(self, written: UnitOutcome) -> Sequence[Receipt]:
        """The receipts of what was written through the table itself."""
        committed, drafts = written
        if committed.fresh:
            await self._telling.tell(drafts)
            return receipts(committed, drafts)
        return [write.receipt() for write in await earlier_writes(self._table.ledger, committed)]

    def note(self, reason: str | None) -> Note:
        check_writable()
        if reason is not None:
            check_text("reason", reason)
        return Note(self.actor, self._clock.now_ms(), reason)

    def note_unchecked(self, reason: str) -> Note:
        """The same for an act that refuses by itself what is no reason."""
        check_writable()
        return Note(self.actor, self._clock.now_ms(), reason)


def _first(writes: Sequence[Write], earlier: Sequence[Earlier]) -> list[Receipt | None]:
    """The first receipts of writes that were made earlier: each has left one entry, or none."""
    left = iter(earlier)
    following = next(left, None)
    found: list[Receipt | None] = []
    for write in writes:
        is_its_own = following is not None and (
            not write.forgets or (following.kind == "invalidate" and following.id == write.id)
        )
        if following is None or not is_its_own:
            found.append(None)
            continue
        found.append(following.receipt(creates=write.creates))
        following = next(left, None)
    return found
