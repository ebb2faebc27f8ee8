"""LangGraph's long-term memory: `BaseStore` over one scope."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypedDict

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from memoranda import Memory, MemoryFilter
from memoranda.app.crossing import Crossing
from memoranda.errors import RecordNotFound
from memoranda.integrations.langgraph import items
from memoranda.integrations.langgraph.items import Lifetime
from memoranda.selectors import Selector
from memoranda.types import BlockingMemory, Clock, SystemClock

REFRESHED: Final = "it was read, and so stays longer"
OVER: Final = "its time to live is over"


class RecalledItem(SearchItem):
    """What a search with a query found: also why, how sure, and the trace of the recall."""

    __slots__ = ("confidence", "reason", "trace_id", "verified")

    def __init__(
        self, *, reason: str, confidence: float, verified: bool, trace_id: str, **item: Any
    ) -> None:
        super().__init__(**item)
        self.reason = reason
        self.confidence = confidence
        self.verified = verified
        self.trace_id = trace_id


class Wrote(TypedDict, total=False):
    """What is said of an item besides its value."""

    tags: Sequence[str]
    meta: Mapping[str, Any] | None
    expires: int | None
    indexed: bool
    embed: Sequence[str]


class MemorandaStore(BaseStore):
    """A store for graphs and agents, whose every write is an entry and every search a recall.

    ::

        async with memoranda.open("memory.db", scope="support", actor="agent:support") as memory:
            graph = builder.compile(store=MemorandaStore(memory))

    Given a blocking handle (`open_sync`, `connect_sync`), the methods without await are used. Who
    acts is the handle's actor. A search with a `query` is a recall, which leaves a trace, and finds
    what fits it; one without is a look-up, the newest first. A delete invalidates: history keeps it
    until `erase`. `selector` is who selects for a query, as in `Memory.recall`. `fields` are
    the paths of what is embedded where a put names none, as in LangGraph's `IndexConfig`. `ttl` is
    LangGraph's own configuration; what is past its time is not returned, and `sweep_ttl` deletes
    it.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory[Any] | BlockingMemory[Any],
        *,
        selector: str | Selector = "context",
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        reason: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._crossing: Final = Crossing(memory)
        self._memory: Final = self._crossing.memory
        self._selector: Final = selector
        self._fields: Final = fields
        self._reason: Final = reason
        self._clock: Final = clock or SystemClock()

    # ------------------------------------------------------------------------ LangGraph's

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: reads see what was before, and all writes are one transaction."""
        return self._crossing.wait(self._run(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, to be awaited."""
        return await self._crossing.here(self._run(list(ops)))

    def sweep_ttl(self) -> int:
        """Delete what is past its time to live; how many items that were."""
        return self._crossing.wait(self._sweep())

    async def asweep_ttl(self) -> int:
        """The same, to be awaited."""
        return await self._crossing.here(self._sweep())

    # ------------------------------------------------------------------------------- ours

    async def _run(self, ops: Sequence[Op]) -> list[Result]:
        for op in ops:
            validate_op_namespace(op)
        now = self._clock.now_ms()
        refreshed: dict[str, Lifetime] = {}
        results = [await self._read(op, now, refreshed) for op in ops]
        puts = {
            items.id_of(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)
        }  # of several for one key the last counts
        if puts:
            await self._write(puts, now)
        await self._refresh({id: life for id, life in refreshed.items() if id not in puts}, now)
        return results

    async def _read(self, op: Op, now: int, refreshed: dict[str, Lifetime]) -> Result:
        match op:
            case GetOp():
                return await self._get(op, now, refreshed)
            case SearchOp():
                return await self._search(op, now, refreshed)
            case ListNamespacesOp():
                tags = await self._memory.records.tags(items.ROOT)
                found = items.matching(
                    [items.namespace_of(tag) for tag in tags],
                    op.match_conditions or (),
                    op.max_depth,
                )
                return found[op.offset : op.offset + op.limit]
            case PutOp():
                return None
        raise ValueError(f"Unknown operation type: {type(op)}")

    async def _get(self, op: GetOp, now: int, refreshed: dict[str, Lifetime]) -> Item | None:
        found = await self._memory.records.get(items.id_of(op.namespace, op.key))
        if found is None or _is_over(found.meta, now):
            return None
        if op.refresh_ttl:
            _note(found.id, found.meta, now, refreshed)
        return items.item(found.id, found.data, found.meta, found.created_at, found.updated_at)

    async def _search(
        self, op: SearchOp, now: int, refreshed: dict[str, Lifetime]
    ) -> list[SearchItem]:
        try:
            asked: dict[str, Any] = {"where": items.where(op.filter)}
        except items.Nothing:
            return []
        asked["id_prefix"] = items.ids_below(op.namespace_prefix)
        if op.query and op.query.strip():
            return await self._recall(op, asked, now, refreshed)
        most = op.offset + op.limit
        found = await self._memory.list(order_by="updated", limit=most, **asked)
        shown = []
        for one in found[op.offset :]:
            if op.refresh_ttl:
                _note(one.id, one.meta, now, refreshed)
            made = items.item_of(one.id, one.data, one.meta, one.created_at, one.updated_at)
            shown.append(SearchItem(**made))
        return shown

    async def _recall(
        self, op: SearchOp, asked: dict[str, Any], now: int, refreshed: dict[str, Lifetime]
    ) -> list[SearchItem]:
        recalled = await self._memory.recall(
            op.query or "", top_k=op.limit, offset=op.offset, selector=self._selector, **asked
        )
        ids = [one.id for one in recalled.items]
        times = {one.id: one for one in await self._memory.list(ids=ids)} if ids else {}
        shown: list[SearchItem] = []
        for one in recalled.items:
            if op.refresh_ttl:
                _note(one.id, one.meta, now, refreshed)
            updated = times[one.id].updated_at if one.id in times else one.created_at
            made = items.item_of(one.id, one.data, one.meta, one.created_at, updated)
            shown.append(
                RecalledItem(
                    **made,
                    score=one.confidence if one.score is None else one.score,
                    reason=one.reason,
                    confidence=one.confidence,
                    verified=one.verified,
                    trace_id=recalled.trace_id,
                )
            )
        return shown

    async def _write(self, puts: Mapping[str, PutOp], now: int) -> None:
        if len(puts) == 1:
            ((id, op),) = puts.items()
            if op.value is None:
                await self._memory.forget(id, reason=self._reason or "deleted by caller")
            else:
                await self._memory.put(
                    id, dict(op.value), reason=self._reason, **self._about(op, now)
                )
            return
        async with self._memory.batch() as batch:
            for id, op in puts.items():
                if op.value is None:
                    batch.forget(id, reason=self._reason or "deleted by caller")
                else:
                    batch.put(id, dict(op.value), reason=self._reason, **self._about(op, now))

    def _about(self, op: PutOp, now: int) -> Wrote:
        """What is said of an item: its namespace, how long it lives, what it is found by."""
        said: Wrote = {"tags": [items.tag_of(op.namespace)]}
        if (life := Lifetime.of(op.ttl)) is not None:
            ends = life.end(now)
            said["expires"] = ends
            said["meta"] = {items.LIFE: life.ms, items.EXPIRES: ends}
        if op.index is False:
            said["indexed"] = False
        elif (fields := self._fields if op.index is None else op.index) is not None:
            said["embed"] = items.paths(fields)
        return said

    async def _refresh(self, refreshed: Mapping[str, Lifetime], now: int) -> None:
        """Let what was read live on: a write for each, if less than its time to live is left."""
        if not refreshed:
            return
        found = await self._memory.list(ids=list(refreshed))
        with suppress(RecordNotFound):  # whoever deleted one meanwhile leaves nothing to refresh
            async with self._memory.batch(reason=REFRESHED) as batch:
                for one in found:
                    ends = refreshed[one.id].end(now)
                    written = one.meta.get(items.UPDATED, one.updated_at)
                    meta = {**one.meta, items.EXPIRES: ends, items.UPDATED: written}
                    batch.update(one.id, {}, expected_version=one.version, meta=meta, expires=ends)

    async def _sweep(self) -> int:
        over = MemoryFilter(
            id_prefix=items.ROOT, where={items.UNTIL: {"$lte": self._clock.now_ms()}}
        )
        return await self._memory.records.forget_where(over, reason=OVER)


def _is_over(meta: Mapping[str, Any] | None, now: int) -> bool:
    return meta is not None and meta.get(items.EXPIRES, now + 1) <= now


def _note(
    id: str, meta: Mapping[str, Any] | None, now: int, refreshed: dict[str, Lifetime]
) -> None:
    """Note an item whose end is to be moved, because it was read."""
    if meta and items.LIFE in meta and meta[items.EXPIRES] < now + meta[items.LIFE]:
        refreshed[id] = Lifetime(meta[items.LIFE])
