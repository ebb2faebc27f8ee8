"""The names of mem0 over one scope: a script runs after changing its import.

::

    from memoranda.integrations.mem0 import Memory      # was: from mem0 import Memory

    memory = Memory()
    memory.add("I live in Seoul", user_id="min")
    memory.search("where does Min live?", filters={"user_id": "min"})

Nothing of mem0 is imported. What is added goes through `learn`: nothing that is known is changed or
removed by it. What differs is listed in docs/integrations/mem0.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from types import TracebackType
from typing import Any, Final, Self
from warnings import warn

import memoranda
from memoranda import Memo, MemoryFilter
from memoranda.app.crossing import Crossing
from memoranda.app.moving_in import ARRIVED
from memoranda.types import AnyExtractor, BlockingDatabase, BlockingMemory, Event, Remembered

WHO: Final = ("user_id", "agent_id", "run_id")
MARK: Final = "mem0"
"""The tag of all that was added under these names."""
DELETED: Final = "deleted by caller"

_OPERATORS: Final = {
    "eq": "$eq", "ne": "$ne", "in": "$in", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte",
}  # fmt: skip
_UNSET: Final = object()

Given = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]
Results = dict[str, Any]


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
        who = _who(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not who:
            raise ValueError("At least one of 'user_id', 'agent_id', or 'run_id' must be provided.")
        given = _messages(messages)
        tags, subject = [MARK, *_tags(who)], next(iter(who.values()))
        meta = {**(metadata or {}), **who}
        thread = "mem0:" + "/".join(f"{name}={value}" for name, value in who.items())
        if infer and expiration_date is None:
            came = await self._memory.learn(
                given, extractor=self._extractor, thread=thread, subject=subject,
                tags=tags, meta=meta,
            )  # fmt: skip
            return {
                "results": [_added(one.id, one.text) for one in came.learned],
                "seen_again": [{"id": one.id, "memory": one.text} for one in came.seen_again],
                "proposed": [
                    {"proposal_id": one.proposal_id, "memory": one.text, "denies": one.denies}
                    for one in came.proposed
                ],
            }
        if infer:
            raise ValueError("expiration_date needs infer=False: facts that are learned have none")
        memos = [Memo(one["content"], meta=meta | _said_by(one), **_speaker(one)) for one in given]
        receipts = await self._memory.remember_many(
            memos, tags=tags, subject=subject, thread=thread, expires=_end(expiration_date)
        )
        results = [_added(one.id, memo.data) for one, memo in zip(receipts, memos, strict=True)]
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
        rerank: bool = False,
    ) -> Results:
        """Recall what answers a query; the trace of the recall is named beside the results.

        `threshold` is a confidence. `rerank` is accepted and changes nothing: all is ranked.
        """
        if show_expired:
            raise ValueError("a search shows what is current; get_all takes show_expired")
        narrowed = _narrowed(filters, _who(user_id=user_id, agent_id=agent_id, run_id=run_id))
        found = await self._memory.recall(
            query, top_k=top_k if limit is None else limit, min_confidence=threshold, **narrowed
        )
        ids = [one.id for one in found.items]
        times = {one.id: one for one in await self._memory.list(ids=ids)} if ids else {}
        return {
            "results": [
                _shown(times[one.id]) | {"score": one.confidence, "reason": one.reason}
                for one in found.items
                if one.id in times
            ],
            "trace_id": found.trace_id,
        }

    async def get(self, memory_id: str) -> Results | None:
        """One memory; None if it is not there, or not any more."""
        found = await self._memory.get(memory_id)
        return None if found is None else _shown(found)

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
        narrowed = _narrowed(filters, _who(user_id=user_id, agent_id=agent_id, run_id=run_id))
        found = await self._memory.list(
            limit=top_k if limit is None else limit,
            include=("expired",) if show_expired else (),
            **narrowed,
        )
        return {"results": [_shown(one) for one in found]}

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None | object = _UNSET,
        data: str | None = None,
    ) -> Results:
        """Make the next version of a memory, with other text, other metadata, or both."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        found = await self._memory.get(memory_id, include=("expired",))
        if found is None:
            raise _not_found(memory_id)
        about: dict[str, Any] = {}
        if metadata is not None:
            new = {name: value for name, value in metadata.items() if name not in WHO}
            about["meta"] = {**found.meta, **new}
        if "updated_at" in found.meta:  # it came from elsewhere, and changes here
            about["meta"] = {**about.get("meta", found.meta)}
            del about["meta"]["updated_at"]
        if expiration_date is not _UNSET:
            about["expires"] = _end(expiration_date)
        changed = found.data if text is None else text
        await self._memory.update(memory_id, changed, expected_version=found.version, **about)
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> Results:
        """Forget a memory: history keeps it."""
        if await self._memory.forget(memory_id, reason=DELETED) is None:
            raise _not_found(memory_id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> Results:
        """Forget all memories of a user, an agent, a run; ValueError unless one is named."""
        who = _who(user_id=user_id, agent_id=agent_id, run_id=run_id)
        if not who:
            raise ValueError(
                "At least one filter is required to delete all memories. If you want to delete all"
                " memories, use the `reset()` method."
            )
        theirs = MemoryFilter(tags=(MARK, *_tags(who)))
        await self._memory.records.forget_where(theirs, reason=DELETED)
        return {"message": "Memories deleted successfully!"}

    async def history(self, memory_id: str) -> list[Results]:
        """What became of a memory: each step with the text before and after it."""
        events = await self._memory.history(memory_id)
        return list(_steps(memory_id, events))

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


# ----------------------------------------------------------------------------- what is given


def _who(**given: object) -> dict[str, str]:
    """The ids that were given, as texts."""
    found = {}
    for name, value in given.items():
        if value is None:
            continue
        text = str(value).strip()
        if not text or len(text.split()) > 1:
            raise ValueError(f"{name} must be a text that is not empty and has no spaces in it")
        found[name] = text
    return found


def _tags(who: Mapping[str, str]) -> list[str]:
    return [f"{name}:{value}" for name, value in who.items()]


def _messages(given: Given) -> list[dict[str, Any]]:
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if isinstance(given, Mapping):
        return [dict(given)]
    if not isinstance(given, Sequence):
        raise ValueError("messages must be str, dict, or list[dict]")  # noqa: TRY004 - as mem0 does
    return [dict(one) for one in given]


def _said_by(message: Mapping[str, Any]) -> dict[str, Any]:
    named = {"role": message.get("role"), "actor_id": message.get("name")}
    return {name: value for name, value in named.items() if value is not None}


def _speaker(message: Mapping[str, Any]) -> dict[str, Any]:
    name = message.get("name") or message.get("role")
    return {"speaker": name} if name else {}


def _end(given: object) -> datetime | None:
    """The end of the last day on which a memory is shown."""
    if given is None:
        return None
    try:
        day = given if isinstance(given, date) else date.fromisoformat(str(given))
    except ValueError:
        raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from None
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return midnight + timedelta(days=1)


def _narrowed(filters: Mapping[str, Any] | None, who: Mapping[str, str]) -> dict[str, Any]:
    """Filters of mem0 as those of `list` and `recall`; ValueError for what has no such form."""
    where: dict[str, dict[str, Any]] = {}
    named = dict(who)
    for key, wanted in _flat(filters or {}):
        if key in WHO and isinstance(wanted, str | int):
            named |= _who(**{key: wanted})
            continue
        path = "meta." + key.replace("\\", "\\\\").replace(".", "\\.")
        conditions = wanted if isinstance(wanted, Mapping) else {"eq": wanted}
        for operator, operand in conditions.items():
            if operator == "eq" and operand == "*":
                where.setdefault(path, {})["$exists"] = True
            elif operator in _OPERATORS:
                where.setdefault(path, {})[_OPERATORS[operator]] = operand
            else:
                raise ValueError(f"memoranda has no filter {operator!r}; see docs/filters.md")
    if not named:
        raise ValueError(
            "filters must contain at least one of: user_id, agent_id, run_id. "
            "Example: filters={'user_id': 'u1'}"
        )
    return {"tags": [MARK, *_tags(named)], "where": where or None}


def _flat(filters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, wanted in filters.items():
        if key == "AND":
            for one in wanted:
                yield from _flat(one)
        elif key in ("OR", "NOT"):
            raise ValueError(f"memoranda has no filter {key}: all conditions hold together")
        else:
            yield key, wanted


# ------------------------------------------------------------------------------ what is shown


def _added(id: str, text: object) -> Results:
    return {"id": id, "memory": text, "event": "ADD"}


def _not_found(id: str) -> ValueError:
    return ValueError(f"Memory with id {id} not found")


def _shown(found: Remembered[Any]) -> Results:
    """A memory as mem0 shows it."""
    meta: dict[str, Any] = dict(found.meta)
    meta.pop(ARRIVED, None)
    created, updated = meta.pop("created_at", found.created_at), meta.pop("updated_at", None)
    promoted = {
        name: meta.pop(name) for name in (*WHO, "actor_id", "role") if meta.get(name) is not None
    }
    shown: Results = {
        "id": found.id,
        "memory": found.data,
        "hash": found.hash,
        "created_at": _iso(created),
        "updated_at": _iso(found.updated_at if updated is None else updated),
        **promoted,
    }
    if found.expires_at is not None:
        last = datetime.fromtimestamp(found.expires_at / 1000, UTC) - timedelta(milliseconds=1)
        shown["expiration_date"] = last.date().isoformat()
    if meta:
        shown["metadata"] = meta
    return shown


def _steps(id: str, events: Iterable[Event[Any]]) -> Iterator[Results]:
    old: object = None
    first: int | None = None
    for event in events:
        said = event.remembered
        is_gone = said is None or said.status != "active"
        new = None if is_gone or said is None else said.data
        first = event.at if first is None else first
        kind = "DELETE" if is_gone else "ADD" if old is None else "UPDATE"
        meta: Mapping[str, Any] = {} if said is None else said.meta
        yield {
            "id": f"{id}@{event.version}",
            "memory_id": id,
            "old_memory": old,
            "new_memory": new,
            "event": kind,
            "created_at": _iso(first),
            "updated_at": _iso(event.at),
            "is_deleted": is_gone,
            "actor_id": meta.get("actor_id"),
            "role": meta.get("role"),
            "actor": event.actor,
            "reason": event.reason,
        }
        old = new


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()
