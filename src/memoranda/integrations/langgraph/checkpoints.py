"""LangGraph's checkpoints: `BaseCheckpointSaver` over one scope.

A checkpoint is one record of opaque bytes, exactly as LangGraph's serializer makes them; so is each
write that is pending on it. Their ids are paths: ``checkpoint:thread/namespace/id`` and
``write:thread/namespace/id/task/index``. Nothing of them is searched. The subject is the thread, so
that one erasure takes all of it.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from memoranda import Memory, MemoryFilter
from memoranda.app.crossing import Crossing
from memoranda.errors import RecordExists
from memoranda.integrations.langgraph.places import CHECKPOINT, WRITE, Place, escaped
from memoranda.types import BlockingMemory, Remembered

MEDIA_TYPE: Final = "application/vnd.langgraph"
AT_ONCE: Final = 100
DELETED: Final = "the thread was deleted"
TRIES: Final = 3


class MemorandaSaver(BaseCheckpointSaver[Any]):
    """A checkpointer whose every checkpoint is an entry of a journal.

    ::

        async with memoranda.open("memory.db", scope="support/threads") as memory:
            graph = builder.compile(checkpointer=MemorandaSaver(memory))

    Given a blocking handle (`open_sync`, `connect_sync`), the methods without await are used. Give
    it a scope of its own, so that what is remembered stands beside it. To delete a thread
    invalidates it: history keeps its bytes, and ``erase=True`` removes them for good.
    """

    def __init__(
        self,
        memory: Memory[Any] | BlockingMemory[Any],
        *,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._crossing: Final = Crossing(memory)
        self._memory: Final = self._crossing.memory

    # ------------------------------------------------------------------------------ reading

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that a config names, or the newest of its thread and namespace."""
        return await self._crossing.here(self._get_tuple(config))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The same, for code that does not await."""
        return self._crossing.wait(self._get_tuple(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """The checkpoints that are asked for, the newest first."""
        ids = await self._crossing.here(self._ids(config, filter, before))
        left = len(ids) if limit is None else limit
        for some in _chunks(ids):
            if left <= 0:
                return
            asked = some if filter else some[:left]
            for one in await self._crossing.here(self._loaded(asked, filter)):
                if left <= 0:
                    return
                left -= 1
                yield one

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """The same, for code that does not await."""
        found = self.alist(config, filter=filter, before=before, limit=limit)

        async def gathered() -> Sequence[CheckpointTuple]:
            return [one async for one in found]

        yield from self._crossing.wait(gathered())

    async def _get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        place = Place.of(config)
        if not place.id:
            ids = await self._memory.records.ids(MemoryFilter(id_prefix=CHECKPOINT + place.path))
            if not ids:
                return None
            place = max(map(Place.in_id, ids), key=lambda found: found.id)
        found = await self._memory.get(CHECKPOINT + place.path)
        return None if found is None else await self._tuple(found)

    async def _ids(
        self,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
    ) -> Sequence[str]:
        """The ids of what may be asked for, the newest first; metadata is narrowed, not judged."""
        prefix = CHECKPOINT
        if config is not None:
            named = config["configurable"]
            prefix += escaped(str(named["thread_id"])) + "/"
            if named.get("checkpoint_ns") is not None:
                prefix += escaped(named["checkpoint_ns"]) + "/"
        where = {
            "meta.metadata." + name.replace("\\", "\\\\").replace(".", "\\."): value
            for name, value in (filter or {}).items()
            if isinstance(value, str | bool)
        }
        found = await self._memory.records.ids(MemoryFilter(id_prefix=prefix, where=where or None))
        only = None if config is None else get_checkpoint_id(config)
        end = None if before is None else get_checkpoint_id(before)
        places = (
            place
            for place in map(Place.in_id, found)
            if (not only or place.id == only) and (not end or place.id < end)
        )
        newest = sorted(places, key=lambda place: place.id, reverse=True)
        return [CHECKPOINT + place.path for place in newest]

    async def _loaded(
        self, ids: Sequence[str], filter: Mapping[str, Any] | None
    ) -> Sequence[CheckpointTuple]:
        """The checkpoints with these ids, in their order, whose metadata fit."""
        found = {one.id: one for one in await self._memory.list(ids=ids)} if ids else {}
        loaded = []
        for one in (found[id] for id in ids if id in found):
            shown = await self._tuple(one)
            metadata: Mapping[str, Any] = shown.metadata
            if all(metadata.get(name) == value for name, value in (filter or {}).items()):
                loaded.append(shown)
        return loaded

    async def _tuple(self, found: Remembered[Any]) -> CheckpointTuple:
        place = Place.in_id(found.id)
        checkpoint, metadata = self._value(found)
        parent = found.meta.get("parent")
        return CheckpointTuple(
            place.config,
            checkpoint,
            metadata,
            place._replace(id=parent).config if isinstance(parent, str) else None,
            [self._write(one) for one in await self._writes(place)],
        )

    async def _writes(self, place: Place) -> Sequence[Remembered[Any]]:
        """What is pending on a checkpoint, in the order in which a run applies it."""
        found = await self._memory.list(id_prefix=f"{WRITE}{place.path}/")
        return sorted(found, key=_applied)

    def _write(self, found: Remembered[Any]) -> PendingWrite:
        return str(found.meta["task"]), str(found.meta["channel"]), self._value(found)

    def _value(self, found: Remembered[Any]) -> Any:
        return self.serde.loads_typed((str(found.meta["type"]), found.data))

    # ------------------------------------------------------------------------------ writing

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - all of it is kept with each checkpoint
    ) -> RunnableConfig:
        """Store a checkpoint as it is; the config that names it."""
        return await self._crossing.here(self._put(config, checkpoint, metadata))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - all of it is kept with each checkpoint
    ) -> RunnableConfig:
        """The same, for code that does not await."""
        return self._crossing.wait(self._put(config, checkpoint, metadata))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote: what stands already stays, but errors and interrupts."""
        await self._crossing.here(self._put_writes(config, writes, task_id, task_path))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """The same, for code that does not await."""
        self._crossing.wait(self._put_writes(config, writes, task_id, task_path))

    async def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> RunnableConfig:
        place = Place.of(config)
        now = place._replace(id=checkpoint["id"])
        known: dict[str, Any] = dict(get_checkpoint_metadata(config, metadata))
        kind, body = self.serde.dumps_typed([checkpoint, known])
        tags = [_thread(place.thread)]
        if isinstance(known.get("run_id"), str):
            tags.append(_run(known["run_id"]))
        meta = {
            "type": kind,
            "parent": place.id or None,
            "metadata": {
                name: value for name, value in known.items() if isinstance(value, str | bool)
            },
        }
        await self._memory.put(
            CHECKPOINT + now.path, body, media_type=MEDIA_TYPE, tags=tags, meta=meta,
            subject=_thread(place.thread),
        )  # fmt: skip
        return now.config

    async def _put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task: str,
        path: str,
    ) -> None:
        """Store writes, in one transaction; again where another one stored some meanwhile."""
        place = Place.of(config)
        new: dict[str, dict[str, Any]] = {}
        for index, (channel, value) in enumerate(writes):
            number = WRITES_IDX_MAP.get(channel, index)
            kind, body = self.serde.dumps_typed(value)
            new[f"{WRITE}{place.path}/{escaped(task)}/{number}"] = {
                "data": body,
                "meta": {
                    "type": kind, "task": task, "channel": channel, "path": path, "index": number,
                },
            }  # fmt: skip
        for attempt in range(TRIES):
            there = set(await self._memory.records.ids(MemoryFilter(ids=tuple(new))))
            try:
                await self._store(place.thread, new, there)
            except RecordExists:
                if attempt == TRIES - 1:
                    raise
            else:
                return

    async def _store(
        self, thread: str, new: Mapping[str, Mapping[str, Any]], there: set[str]
    ) -> None:
        said: dict[str, Any] = {
            "media_type": MEDIA_TYPE, "tags": [_thread(thread)], "subject": _thread(thread)
        }  # fmt: skip
        async with self._memory.batch() as batch:
            for id, one in new.items():
                if one["meta"]["index"] < 0:
                    batch.put(id, one["data"], meta=one["meta"], **said)
                elif id not in there:
                    batch.remember(one["data"], id=id, meta=one["meta"], **said)

    # ----------------------------------------------------------------------------- deleting

    async def adelete_thread(self, thread_id: str, *, erase: bool = False) -> None:
        """Delete a thread: invalidated, and kept in its history; or erased for good."""
        await self._crossing.here(self._delete_thread(str(thread_id), erase=erase))

    def delete_thread(self, thread_id: str, *, erase: bool = False) -> None:
        """The same, for code that does not await."""
        self._crossing.wait(self._delete_thread(str(thread_id), erase=erase))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints of these runs, and what was pending on them."""
        await self._crossing.here(self._delete_for_runs(run_ids))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """The same, for code that does not await."""
        self._crossing.wait(self._delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints and writes of a thread into another, in one transaction."""
        await self._crossing.here(self._copy_thread(source_thread_id, target_thread_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """The same, for code that does not await."""
        self._crossing.wait(self._copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete all but the newest checkpoint of each namespace, and what that one rests on."""
        await self._crossing.here(self._prune(thread_ids, strategy))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """The same, for code that does not await."""
        self._crossing.wait(self._prune(thread_ids, strategy))

    async def _delete_thread(self, thread: str, *, erase: bool) -> None:
        await self._memory.records.forget_where(
            MemoryFilter(tags=(_thread(thread),)), reason=DELETED
        )
        if erase:
            await self._memory.erase(subject=_thread(thread), reason=DELETED)

    async def _delete_for_runs(self, runs: Sequence[str]) -> None:
        found: set[str] = set()
        for run in runs:
            found.update(await self._memory.records.ids(MemoryFilter(tags=(_run(run),))))
        await self._delete(map(Place.in_id, found), "the run was deleted")

    async def _delete(self, places: Iterable[Place], reason: str) -> None:
        """Delete checkpoints with what is pending on them, in one transaction."""
        ids = []
        for place in places:
            ids.append(CHECKPOINT + place.path)
            pending = MemoryFilter(id_prefix=f"{WRITE}{place.path}/")
            ids += await self._memory.records.ids(pending)
        await self._memory.records.delete_many(ids, reason=reason)

    async def _copy_thread(self, source: str, target: str) -> None:
        found = await self._memory.list(tags=[_thread(source)], order_by="entry", order="asc")
        async with self._memory.batch(reason=f"copied from the thread {source}") as batch:
            for one in found:
                kind, _, path = one.id.partition(":")
                rest = path.partition("/")[2]
                kept = [tag for tag in one.tags if tag != _thread(source)]
                batch.put(
                    f"{kind}:{escaped(target)}/{rest}", one.data, media_type=one.media_type,
                    tags=[_thread(target), *kept], meta=one.meta, subject=_thread(target),
                )  # fmt: skip

    async def _prune(self, threads: Sequence[str], strategy: str) -> None:
        if strategy not in ("keep_latest", "delete"):
            raise ValueError(f"Unknown prune strategy: {strategy!r}; keep_latest or delete")
        for thread in map(str, threads):
            prefix = f"{CHECKPOINT}{escaped(thread)}/"
            ids = await self._memory.records.ids(MemoryFilter(id_prefix=prefix))
            places = sorted(map(Place.in_id, ids), key=lambda place: place.id)
            heads = {place.namespace: place for place in places}
            kept: set[Place] = set()
            for head in heads.values() if strategy == "keep_latest" else ():
                kept.update(await self._rests_on(head))
            await self._delete([one for one in places if one not in kept], "the thread was pruned")

    async def _rests_on(self, head: Place) -> set[Place]:
        """A checkpoint, and those before it that its delta channels are made from.

        Such a channel stands in full in some ancestor only; from there on its writes are added up.
        """
        kept: set[Place] = set()
        place: Place | None = head
        missing: set[str] | None = None
        while place is not None and (missing is None or missing):
            found = await self._memory.get(CHECKPOINT + place.path)
            if found is None:
                break
            kept.add(place)
            checkpoint, metadata = self._value(found)
            if missing is None:
                missing = set(metadata.get("counters_since_delta_snapshot") or ())
            missing -= set(checkpoint["channel_values"])
            parent = found.meta.get("parent")
            place = place._replace(id=parent) if isinstance(parent, str) else None
        return kept


def _thread(thread: str) -> str:
    return f"thread:{thread}"


def _run(run: str) -> str:
    return f"run:{run}"


def _applied(found: Remembered[Any]) -> tuple[str, str, int]:
    meta: Mapping[str, Any] = found.meta
    return meta["path"], meta["task"], meta["index"]


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
