"""What every verb of a handle works with: one scope, one actor, one ledger."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar
from weakref import WeakSet

from memoranda.journeys.audit.watch import Watch
from memoranda.journeys.audit.why import Explainer
from memoranda.journeys.govern.conformance import Conformance, damage_of
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.receipts import Receipt, first_receipts, receipts
from memoranda.journeys.govern.remembered import Remembered, remembered
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable, Written
from memoranda.journeys.govern.telling import Telling
from memoranda.journeys.intent.app import App
from memoranda.journeys.recall.originals import Originals
from memoranda.journeys.recall.recaller import Recaller
from memoranda.journeys.records.absent import absent
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import check_not_blank, check_text, new_row
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.scope import Turning
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import MemorandaError, StoreClosed
from memoranda.kernel.ids import IdSource
from memoranda.kernel.reach import check_writable
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder
from memoranda.recall.selector import Selector
from memoranda.records.model import MemoryRecordInput
from memoranda.records.table import NewRow, Note

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


class Handle(Generic[T]):
    """A handle on one scope, without its verbs."""

    def __init__(
        self,
        *,
        scope: str,
        actor: ActorRef,
        records: Records[T],
        ledger: FilteredLedger,
        table: GovernedTable,
        drafts: Drafts,
        codec: DataCodec[T],
        clock: Clock,
        ids: IdSource,
        conformance: Conformance,
        app: App,
        explainer: Explainer,
        recaller: Recaller[T],
        originals: Originals[T],
        turning: Turning,
        telling: Telling[T],
        selectors: Mapping[str, Selector] | None = None,
        embedder: Embedder | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.scope = scope
        self.actor = actor
        self.records = records
        self._ledger = ledger
        self._table = table
        self._drafts = drafts
        self._codec = codec
        self._clock = clock
        self._ids = ids
        self._conformance = conformance
        self._watch = watch
        self.app = app
        self._explainer = explainer
        self._recaller = recaller
        self._originals = originals
        self._turning = turning
        self._telling = telling
        self._taken: WeakSet[Closable] = WeakSet()
        """What goes on by itself as long as the handle is open."""
        self._selectors = selectors
        self._embedder = embedder

    async def close(self) -> None:
        """Refuse everything from now on with StoreClosed, and make the last checkpoint."""
        await self.app.close()
        self.records.close()
        for one in self._taken:
            one.close()
        self._ledger = self._table = self._conformance = absent(StoreClosed)
        self.app = self._explainer = absent(StoreClosed)
        self._recaller = self._originals = self._turning = absent(StoreClosed)
        if self._watch is not None:
            await self._watch.close()

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
        return await first_receipts(self._ledger, committed)

    def _shown(self, current: Current) -> Remembered[T]:
        return remembered(current, self._codec)

    def _new_row(
        self,
        data: T,
        id: str | None,
        tags: Sequence[str] | None,
        meta: Mapping[str, Any] | None,
        now: int,
    ) -> NewRow:
        check_not_blank("$.data", data)
        members: Any = dict(meta) if isinstance(meta, Mapping) else meta
        given = MemoryRecordInput[Any](id=id, data=data, tags=tags, meta=members)
        return new_row(given, self._codec, self._ids, now)

    def _note(self, reason: str | None) -> Note:
        check_writable()
        if reason is not None:
            check_text("reason", reason)
        return Note(str(self.actor), self._clock.now_ms(), reason)

    def _reasoned(self, reason: str) -> Note:
        """A note for an act that needs a reason; without one, the verb itself refuses."""
        check_writable()
        return Note(str(self.actor), self._clock.now_ms(), reason)
