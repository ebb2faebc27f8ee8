"""A client of governed memory that does a bit of everything, and keeps a history."""

import asyncio
from collections.abc import Sequence
from typing import Any

from memoranda import Memory, MemoryRecordInput
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import MemorandaError, StoreFailed
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.history import Answer, Call, History, Verb

_VERBS: tuple[Verb, ...] = ("remember", "create", "remember_many", "update", "forget")
_WEIGHTS = (5, 3, 1, 4, 1)
_MANY = (2, 3, 3, 5, 5, 9, 9, 70)
_SIZES = (0, 40, 400, 6_000)


class Client:
    """Makes calls on one handle; several lanes of one client call at the same time."""

    def __init__(self, name: str, memory: Memory[Any], chance: Random, history: History) -> None:
        self._name = name
        self._memory = memory
        self._chance = chance
        self._history = history
        self._made = 0

    async def run(self, calls: int | None = None, *, lanes: int = 1, shared: str = "") -> None:
        """Make this many calls in each lane, or go on until the process ends."""
        await asyncio.gather(*(self._lane(calls, shared) for _ in range(lanes)))

    async def _lane(self, calls: int | None, shared: str) -> None:
        own: list[str] = []
        while calls is None or calls > 0:
            await perform(self._memory, self.next_call(own, shared), self._history, own)
            calls = None if calls is None else calls - 1

    def next_call(self, own: list[str], shared: str = "") -> Call:
        """Some call, on what this lane has made, or on the record that everybody changes."""
        chance = self._chance
        self._made += 1
        mark = f"{self._name}-{self._made}"
        (verb,) = chance.choices(_VERBS, _WEIGHTS)
        if verb == "remember_many":
            return Call(mark, verb, entries=chance.choice(_MANY))
        if verb == "update" and shared and chance.random() < 0.3:
            return Call(mark, verb, shared)
        if verb in {"update", "forget"} and own:
            place = chance.randrange(len(own))
            return Call(mark, verb, own.pop(place) if verb == "forget" else own[place])
        verb = verb if verb in {"remember", "create"} else "remember"
        return Call(mark, verb, size=chance.choice(_SIZES))


async def perform(
    memory: Memory[Any], call: Call, history: History, own: list[str] | None = None
) -> Exception | None:
    """Make a call and note what came of it; the error that it raised, if it did."""
    history.asks(call)
    try:
        answers = await made(memory, call)
    except StoreFailed as failed:
        return failed  # its outcome is unknown, and says so
    except MemorandaError as refused:
        history.refused(call.mark, refused.code)
        return refused
    history.told(call.mark, answers)
    if own is not None and call.verb in {"remember", "create"}:
        own.append(answers[0].id)
    return None


async def made(memory: Memory[Any], call: Call) -> list[Answer]:
    """Make a call, also again: the same call is the same request."""
    if call.verb == "create":
        record = MemoryRecordInput[Any](data=_data(call), tags=["c"])
        id = await memory.records.create(record, reason=call.mark, idempotency_key=call.key)
        return [Answer(id)]
    receipts = await _receipts(memory, call)
    return [Answer(r.id, r.version, r.seq, r.entry_hash) for r in receipts]


async def _receipts(memory: Memory[Any], call: Call) -> Sequence[Receipt]:
    if call.verb == "remember_many":
        items = [{"mark": call.mark, "number": number} for number in range(call.entries)]
        return await memory.remember_many(items, tags=["m"], reason=call.mark)
    noted: dict[str, Any] = {"reason": call.mark, "idempotency_key": call.mark}
    match call.verb:
        case "update":
            return [await memory.update(call.target, {"last": call.mark}, **noted)]
        case "forget":
            receipt = await memory.forget(call.target, **noted)
            return [] if receipt is None else [receipt]
        case _:
            tags = ["t", call.mark]
            return [await memory.remember(_data(call), tags=tags, **noted)]


def _data(call: Call) -> dict[str, str]:
    return {"mark": call.mark, "text": "가나 word " * (call.size // 10)}
