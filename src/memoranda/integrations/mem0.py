"""The names of mem0 over one scope: a script runs after changing its import.

::

    from memoranda.integrations.mem0 import Memory      # was: from mem0 import Memory

    memory = Memory()
    memory.add("I live in Seoul", user_id="min")
    memory.search("where does Min live?", filters={"user_id": "min"})

Nothing of mem0 is imported. What is added goes through `learn`: nothing that is known is changed or
removed by it. What differs is listed in docs/integrations/mem0.md.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from types import TracebackType
from typing import Any, Final, Self
from warnings import warn

import memoranda
from memoranda import Memo, MemoryFilter
from memoranda.app.crossing import Crossing
from memoranda.app.surfaces import Include
from memoranda.integrations.mem0_forms import (
    MARK,
    WHO,
    Given,
    Results,
    added,
    end_of,
    messages_of,
    narrowed,
    not_found,
    said_by,
    shown,
    speaker_of,
    steps,
    tags_of,
    who_of,
)
from memoranda.types import AnyExtractor, BlockingDatabase, BlockingMemory

EXPIRED: Final[Sequence[Include]] = ("expired",)
DELETED: Final = "deleted by caller"

_UNSET: Final = object()


class _Verbs:
    """mem0's verbs, to be awaited in the loop of the handle."""

    def __init__(self, memory: memoranda.Memory[Any], extractor: AnyExtractor | None) -> None:
        self._memory: Final = memory
        self._extractor: Final = extractor

    async def add(
        self,
        messages: Given,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
    ) -> Results:
        """Learn facts from messages, or with ``infer=False`` keep each message as it is.

        What is known already, and what waits for a human because it denies something known, is said
        beside the results.
        """
        who = who_of(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not who:
            raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        given = messages_of(messages)
        tags, subject = [MARK, *tags_of(who)], next(iter(who.values()))
        meta = {**(metadata or {}), **who}
        thread = "mem0:" + "/".join(f"{name}={value}" for name, value in who.items())
        if infer and expiration_date is None:
            came = await self._memory.learn(
                given, extractor=self._extractor, thread=thread, subject=subject,
                tags=tags, meta=meta,
            )  # fmt: skip
            return {
                "results": [added(one.id, one.text) for one in came.learned],
                "seen_again": [{"id": one.id, "memory": one.text} for one in came.seen_again],
                "proposed": [
                    {"proposal_id": one.proposal_id, "memory": one.text, "denies": one.denies}
                    for one in came.proposed
                ],
            }
        if infer:
            raise ValueError("expiration_date needs infer=False: facts that are learned have none")
        memos = [Memo(one["content"], meta=meta | said_by(one), **speaker_of(one)) for one in given]
        receipts = await self._memory.remember_many(
            memos, tags=tags, subject=subject, thread=thread, expires=end_of(expiration_date)
        )
        results = [added(one.id, memo.data) for one, memo in zip(receipts, memos, strict=True)]
        return {"results": results}

    async def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        limit: int | None = None,
        threshold: float = 0.0,
        show_expired: bool = False,
        rerank: bool = False,  # noqa: ARG002 - all is ranked
    ) -> Results:
        """Recall what answers a query; the trace of the recall is named beside the results.

        `threshold` is a confidence. `rerank` is accepted and changes nothing: all is ranked.
        """
        if show_expired:
            raise ValueError("a search shows what is current; get_all takes show_expired")
        asked = narrowed(filters, who_of(user_id=user_id, agent_id=agent_id, run_id=run_id))
        found = await self._memory.recall(
            query, top_k=top_k if limit is None else limit, min_confidence=threshold, **asked
        )
        ids = [one.id for one in found.items]
        times = {one.id: one for one in await self._memory.list(ids=ids)} if ids else {}
        return {
            "results": [
                shown(times[one.id]) | {"score": one.confidence, "reason": one.reason}
                for one in found.items
                if one.id in times
            ],
            "trace_id": found.trace_id,
        }

    async def get(self, memory_id: str) -> Results | None:
        """One memory; None if it is not there, or not any more."""
        found = await self._memory.get(memory_id)
        return None if found is None else shown(found)

    async def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        limit: int | None = None,
        show_expired: bool = False,
    ) -> Results:
        """What there is, the newest first."""
        asked = narrowed(filters, who_of(user_id=user_id, agent_id=agent_id, run_id=run_id))
        found = await self._memory.list(
            limit=top_k if limit is None else limit,
            include=EXPIRED if show_expired else (),
            **asked,
        )
        return {"results": [shown(one) for one in found]}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: object = _UNSET,
        data: str | None = None,
    ) -> Results:
        """Make the next version of a memory, with other text, other metadata, or both."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        found = await self._memory.get(memory_id, include=EXPIRED)
        if found is None:
            raise not_found(memory_id)
        about: dict[str, Any] = {}
        if metadata is not None:
            new = {name: value for name, value in metadata.items() if name not in WHO}
            about["meta"] = {**found.meta, **new}
        if "updated_at" in found.meta:  # it came from elsewhere, and changes here
            about["meta"] = {**about.get("meta", found.meta)}
            del about["meta"]["updated_at"]
        if expiration_date is not _UNSET:
            about["expires"] = end_of(expiration_date)
        changed = found.data if text is None else text
        await self._memory.update(memory_id, changed, expected_version=found.version, **about)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> Results:
        """Forget a memory: history keeps it."""
        if await self._memory.forget(memory_id, reason=DELETED) is None:
            raise not_found(memory_id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Results:
        """Forget all memories of a user, an agent, a run; ValueError unless one is named."""
        who = who_of(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not who:
            raise ValueError(
                "At least one filter is required to delete all memories. If you want to delete all"
                " memories, use the `reset()` method."
            )
        theirs = MemoryFilter(tags=(MARK, *tags_of(who)))
        await self._memory.records.forget_where(theirs, reason=DELETED)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Results]:
        """What became of a memory: each step with the text before and after it."""
        events = await self._memory.history(memory_id)
        return list(steps(memory_id, events))

    async def reset(self) -> None:
        """Forget all that was added under these names in this scope."""
        every = MemoryFilter(tags=(MARK,))
        await self._memory.records.forget_where(every, reason="reset")


class _Opened:
    """A handle that was given, or a database that is opened for it."""

    def __init__(
        self,
        memory: memoranda.Memory[Any] | BlockingMemory[Any] | None = None,
        *,
        extractor: AnyExtractor | None = None,
        url: str | None = None,
        scope: str | None = None,
        actor: str = "agent:mem0",
    ) -> None:
        self._database: BlockingDatabase | None = None
        if memory is None:
            self._database = memoranda.connect_sync(url)
            memory = self._database.scope(scope, actor=actor)
        self._crossing: Final = Crossing(memory)
        self._verbs: Final = _Verbs(self._crossing.memory, extractor)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any]) -> Self:
        """As mem0 is configured: what belongs to memoranda stands under ``memoranda``.

        That is ``url``, ``scope`` and ``actor``; the other members name parts of mem0, and a
        warning says that they are not used.
        """
        own = dict(config_dict.get("memoranda") or {})
        if unused := sorted(config_dict.keys() - {"memoranda", "version"}):
            warn(f"memoranda does not use {', '.join(unused)} of the configuration", stacklevel=2)
        return cls(**own)

    def close(self) -> None:
        """Close the database, if none was given."""
        if self._database is not None:
            self._database.close()


class Mem0Memory(_Opened):
    """mem0's `Memory`: without arguments, on MEMORANDA_DATABASE_URL and MEMORANDA_SCOPE.

    Or on a handle: ``Memory(db.scope("support", actor="agent:support"))``. With an `extractor`, a
    model finds the facts, else rules do (`Memory.learn`).
    """

    def add(self, messages: Given, **said: Any) -> Results:
        return self._crossing.wait(self._verbs.add(messages, **said))

    def search(self, query: str, **asked: Any) -> Results:
        return self._crossing.wait(self._verbs.search(query, **asked))

    def get(self, memory_id: str) -> Results | None:
        return self._crossing.wait(self._verbs.get(memory_id))

    def get_all(self, **asked: Any) -> Results:
        return self._crossing.wait(self._verbs.get_all(**asked))

    def update(self, memory_id: str, text: str | None = None, **said: Any) -> Results:
        return self._crossing.wait(self._verbs.update(memory_id, text, **said))

    def delete(self, memory_id: str) -> Results:
        return self._crossing.wait(self._verbs.delete(memory_id))

    def delete_all(self, **who: str | None) -> Results:
        return self._crossing.wait(self._verbs.delete_all(**who))

    def history(self, memory_id: str) -> list[Results]:
        return self._crossing.wait(self._verbs.history(memory_id))

    def reset(self) -> None:
        self._crossing.wait(self._verbs.reset())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncMem0Memory(_Opened):
    """mem0's `AsyncMemory`: the same verbs, to be awaited."""

    async def add(self, messages: Given, **said: Any) -> Results:
        return await self._crossing.here(self._verbs.add(messages, **said))

    async def search(self, query: str, **asked: Any) -> Results:
        return await self._crossing.here(self._verbs.search(query, **asked))

    async def get(self, memory_id: str) -> Results | None:
        return await self._crossing.here(self._verbs.get(memory_id))

    async def get_all(self, **asked: Any) -> Results:
        return await self._crossing.here(self._verbs.get_all(**asked))

    async def update(self, memory_id: str, text: str | None = None, **said: Any) -> Results:
        return await self._crossing.here(self._verbs.update(memory_id, text, **said))

    async def delete(self, memory_id: str) -> Results:
        return await self._crossing.here(self._verbs.delete(memory_id))

    async def delete_all(self, **who: str | None) -> Results:
        return await self._crossing.here(self._verbs.delete_all(**who))

    async def history(self, memory_id: str) -> list[Results]:
        return await self._crossing.here(self._verbs.history(memory_id))

    async def reset(self) -> None:
        await self._crossing.here(self._verbs.reset())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


Memory = Mem0Memory
AsyncMemory = AsyncMem0Memory
