"""What every verb of a handle works with: one scope, one actor, one ledger."""

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from memoranda.journeys.audit.why import Explainer
from memoranda.journeys.govern.conformance import Conformance, damage_of
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.receipts import (
    Earlier,
    Receipt,
    earlier_writes,
    receipt_of,
    receipts,
)
from memoranda.journeys.govern.remembered import Remembered, remembered
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable, Written
from memoranda.journeys.govern.telling import Telling
from memoranda.journeys.govern.writes import Write, Writer
from memoranda.journeys.intent.app import App
from memoranda.journeys.recall.originals import Originals
from memoranda.journeys.recall.recaller import Recaller
from memoranda.journeys.records.absent import absent
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import Request, check_text, retry_key
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.scope import Turning
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import MemorandaError, StoreClosed
from memoranda.kernel.ids import IdSource
from memoranda.kernel.reach import check_writable
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder
from memoranda.records.table import Note

T = TypeVar("T")
R = TypeVar("R")
H = TypeVar("H", bound="Handle[Any]")
P = ParamSpec("P")

Verb = Callable[Concatenate[H, P], Coroutine[Any, Any, R]]


def noted(verb: Verb[H, P, R]) -> Verb[H, P, R]:
    """A verb of a handle: damage that it fails of is logged as a break (GOV-BREAK)."""

    @wraps(verb)
    async def noting(self: H, /, *given: P.args, **named: P.kwargs) -> R:
        try:
            return await verb(self, *given, **named)
        except MemorandaError as failed:
            if damage_of(failed) is not None:
                await self._conformance.note(failed)
            raise

    return noting


class Closable(Protocol):
    """What a handle closes with itself."""

    def close(self) -> None:
        """Refuse everything from now on with StoreClosed."""
        ...


class Parts(Protocol[T]):
    """What some verbs of a handle work with; each is made when it is first asked for."""

    @property
    def records(self) -> Records[T]:
        """The memory store of the handle."""
        ...

    @property
    def app(self) -> App:
        """Runs intents on the scope's worlds."""
        ...

    @property
    def explainer(self) -> Explainer:
        """Says why."""
        ...

    @property
    def recaller(self) -> Recaller[T]:
        """Selects memory."""
        ...

    @property
    def originals(self) -> Originals[T]:
        """Loads what references lead to."""
        ...

    @property
    def turning(self) -> Turning:
        """What turns are taken in."""
        ...

    async def close(self) -> None:
        """Wait for what runs in the background, and refuse everything from now on."""
        ...


class Handle(Generic[T]):
    """A handle on one scope, without its verbs."""

    def __init__(
        self,
        *,
        scope: str,
        actor: ActorRef,
        ledger: FilteredLedger,
        table: GovernedTable,
        drafts: Drafts,
        codec: DataCodec[T],
        clock: Clock,
        ids: IdSource,
        conformance: Conformance,
        telling: Telling[T],
        parts: Parts[T],
        embedder: Embedder | None = None,
    ) -> None:
        self.scope = scope
        self.actor = actor
        self._ledger = ledger
        self._table = table
        self._drafts = drafts
        self._codec = codec
        self._clock = clock
        self._ids = ids
        self._conformance = conformance
        self._parts = parts
        self._telling = telling
        self._writer = Writer(drafts, codec, ids)
        self._taken: WeakSet[Closable] = WeakSet()
        """What goes on by itself as long as the handle is open."""
        self._embedder = embedder

    async def close(self) -> None:
        """Refuse everything from now on with StoreClosed."""
        await self._parts.close()
        for one in self._taken:
            one.close()
        self._ledger = self._table = self._conformance = self._parts = absent(StoreClosed)

    @property
    def records(self) -> Records[T]:
        """The memory store of the handle."""
        return self._parts.records

    @property
    def app(self) -> App:
        """Runs intents on the scope's worlds."""
        return self._parts.app

    @property
    def _explainer(self) -> Explainer:
        return self._parts.explainer

    @property
    def _recaller(self) -> Recaller[T]:
        return self._parts.recaller

    @property
    def _originals(self) -> Originals[T]:
        return self._parts.originals

    @property
    def _turning(self) -> Turning:
        return self._parts.turning

    @property
    def journal_ledger(self) -> FilteredLedger:
        """The ledger, for whoever reads the journal itself."""
        return self._ledger

    @property
    def _rulebook(self) -> Rulebook:
        """What the policies allow; a table that is not governed has none."""
        return self._table.rulebook

    async def _receipts(self, written: Written) -> Sequence[Receipt]:
        """What a verb has written: its hooks hear of it, and whoever wrote gets receipts."""
        committed, drafts = written
        if committed.fresh:
            await self._telling.tell(drafts)
            return receipts(committed, drafts)
        return [one.receipt() for one in await earlier_writes(self._ledger, committed)]

    async def _run(
        self, writes: Sequence[Write], key: str | None, *request: Any
    ) -> list[Receipt | None]:
        """Run writes in one transaction; a receipt for each, None where nothing was to forget.

        A retry with the same key, of the same request, is given the first receipts.
        """
        note = self._note(None)
        for write in writes:
            if write.check is not None:
                await write.check(self._rulebook, note.actor)
        asked: Request = request or writes[0].request
        committed, made = await self._table.run(writes, note, retry_key(key, *asked))
        if not committed.fresh:
            return _first(writes, await earlier_writes(self._ledger, committed))
        await self._telling.tell([draft for draft in made if draft is not None])
        places = iter(committed.places)
        return [None if draft is None else receipt_of(next(places), draft) for draft in made]

    async def _one(self, write: Write, key: str | None) -> Receipt:
        """Run a write that leaves an entry, or raises."""
        (receipt,) = await self._run([write], key)
        assert receipt is not None  # noqa: S101 - only forgetting may find nothing
        return receipt

    def _shown(self, current: Current) -> Remembered[T]:
        return remembered(current, self._codec)

    def _note(self, reason: str | None) -> Note:
        check_writable()
        if reason is not None:
            check_text("reason", reason)
        return Note(str(self.actor), self._clock.now_ms(), reason)

    def _reasoned(self, reason: str) -> Note:
        """A note for an act that needs a reason; without one, the verb itself refuses."""
        check_writable()
        return Note(str(self.actor), self._clock.now_ms(), reason)


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
