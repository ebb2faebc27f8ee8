"""What every verb of a handle works with: one scope, one actor, one ledger."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakSet

from recollect.journeys.audit.watch import Watch
from recollect.journeys.audit.why import Explainer
from recollect.journeys.govern.conformance import Conformance
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.receipts import Receipt, first_receipts, receipts
from recollect.journeys.govern.remembered import Remembered, remembered
from recollect.journeys.govern.table import FilteredLedger, GovernedTable, Written
from recollect.journeys.intent.app import App
from recollect.journeys.recall.originals import Originals
from recollect.journeys.recall.recaller import Recaller
from recollect.journeys.records.absent import absent
from recollect.journeys.records.codec import DataCodec
from recollect.journeys.records.contents import check_text, new_row
from recollect.journeys.records.store import Records
from recollect.journeys.turn.scope import Turning
from recollect.kernel.actors import ActorRef
from recollect.kernel.clock import Clock
from recollect.kernel.errors import StoreClosed
from recollect.kernel.ids import IdSource
from recollect.kernel.reach import check_writable
from recollect.ledger.unit import Current
from recollect.recall.embedder import Embedder
from recollect.recall.selector import Selector
from recollect.records.model import MemoryRecordInput
from recollect.records.table import NewRow, Note

T = TypeVar("T")


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

    async def _receipts(self, written: Written) -> Sequence[Receipt]:
        committed, drafts = written
        if committed.fresh:
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
        given = MemoryRecordInput[Any](
            id=id, data=data, tags=tags, meta=None if meta is None else dict(meta)
        )
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
