"""Hooks hear of what happened, and nothing they do reaches the store or the caller.

MEM-HOOK-1, MEM-HOOK-2, MEM-HOOK-3.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memoranda.kernel.errors import InvalidPatch, RecordExists, RecordNotFound
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import Capability, HookFailure, MemoryHooks, MemoryUpdate
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    OpenHooked,
    Store,
    everything,
    ids_of,
    kept,
    record,
)

Heard = list[tuple[Any, ...]]

PATIENCE = 120.0
"""Seconds after which a call that should go on has hung: a failure, not a suite that stands."""


class Broken(Exception):
    """What the failing hooks raise."""


def every(hook: Callable[..., Any], **more: Any) -> MemoryHooks[Any]:
    """Hooks that are all this function."""
    return MemoryHooks(on_created=hook, on_updated=hook, on_deleted=hook, on_queried=hook, **more)


def listening(heard: Heard, *, sync: bool = False) -> MemoryHooks[Any]:
    """Hooks that write down what they hear, plain functions or async ones."""

    def hears(name: str) -> Callable[..., Any]:
        def plain(*values: Any) -> None:
            heard.append((name, *values))

        async def coroutine(*values: Any) -> None:
            await asyncio.sleep(0)
            heard.append((name, *values))

        return plain if sync else coroutine

    hooks: dict[str, Any] = {
        f"on_{name}": hears(name) for name in ("created", "updated", "deleted", "queried")
    }
    return MemoryHooks(**hooks)


def raises(error: BaseException) -> Callable[..., None]:
    """A hook that raises this, whatever it hears."""

    def hook(*_: Any) -> None:
        raise error

    return hook


def raises_later(error: BaseException) -> Callable[..., Awaitable[None]]:
    """The same as an async function."""

    async def hook(*_: Any) -> None:
        await asyncio.sleep(0)
        raise error

    return hook


async def never_ends(*_: object) -> None:
    """A hook beyond any time limit."""
    await asyncio.Event().wait()


async def is_cancelled_inside(*_: object) -> None:
    """A hook that waits for a task of its own, which is cancelled."""
    task = asyncio.ensure_future(asyncio.Event().wait())
    task.cancel()
    await task


async def each_operation(store: Store) -> StoredMemoryRecord[Any]:
    """Create, update, query, delete, each of which must do its work; the record as it was."""
    id = await store.create(record({"n": 1}, id="one"))
    await store.update(id, {"n": 2})
    [found] = await store.query(MemoryFilter())
    await store.delete(id)
    assert id == "one"
    assert found.data == {"n": 2}
    assert await store.get(id) is None
    return found


# ------------------------------------------------------------------------------ hearing


@contract("MEM-HOOK-1")
@pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
async def test_hooks_hear_of_each_operation(open_hooked: OpenHooked, sync: bool) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard, sync=sync)) as store:
        given = record({"n": 1}, id="one", created_at=1, updated_at=2, tags=["x"], meta={"m": 1})
        await store.create(given)
        await store.update("one", {"m": 2})
        updated = await kept(store, "one")
        await store.query(MemoryFilter(tags=("x",)))
        await store.delete("one")

    assert heard == [
        ("created", StoredMemoryRecord("one", {"n": 1}, 1, 2, ("x",), {"m": 1})),
        ("updated", "one", {"n": 1}, {"n": 1, "m": 2}),
        ("queried", MemoryFilter(tags=("x",)), [updated]),
        ("deleted", "one", updated),
    ]


@contract("MEM-HOOK-1")
async def test_every_hook_is_optional(open_hooked: OpenHooked) -> None:
    async with open_hooked(MemoryHooks()) as store:
        await each_operation(store)


@contract("MEM-HOOK-1")
async def test_hooks_hear_of_nothing_that_did_not_happen(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        await store.create(record({}, id="one"))
        heard.clear()
        with pytest.raises(RecordExists):
            await store.create(record(id="one"))
        with pytest.raises(RecordNotFound):
            await store.update("nowhere", {})
        with pytest.raises(InvalidPatch):
            await store.update("one", "no object")
        await store.delete("nowhere")
        await store.get("one")

    assert heard == []


@contract("MEM-HOOK-1")
async def test_an_empty_result_is_heard_of_too(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        assert await store.query(MemoryFilter(limit=0)) == []

    assert heard == [("queried", MemoryFilter(limit=0), [])]


@contract("MEM-HOOK-1")
async def test_hooks_belong_to_the_handle_that_they_were_given(
    open_hooked: OpenHooked, twin: Store
) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)):
        await each_operation(twin)

    assert heard == []


@contract("MEM-HOOK-1", Capability.CREATE_MANY, Capability.UPDATE_MANY, Capability.DELETE_MANY)
async def test_hooks_hear_of_each_record_of_a_batch(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        await store.create_many([record({"n": 1}, id="a"), record({"n": 2}, id="b")])
        await store.update_many([MemoryUpdate(id, {"n": n}) for id, n in (("b", 3), ("b", 4))])
        await store.delete_many(["a", "nowhere"])

    assert [values for name, *values in heard if name == "updated"] == [
        ["b", {"n": 2}, {"n": 3}],
        ["b", {"n": 3}, {"n": 4}],
    ]
    assert [values[0].id for name, *values in heard if name == "created"] == ["a", "b"]
    assert [values[0] for name, *values in heard if name == "deleted"] == ["a"]


@contract("MEM-HOOK-1", Capability.CLEAR)
async def test_hooks_hear_of_each_record_that_is_cleared(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        for id in ("a", "b"):
            await store.create(record({"of": id}, id=id))
        heard.clear()
        await store.clear()
        await store.clear()

    assert sorted((name, id, was.data) for name, id, was in heard) == [
        ("deleted", "a", {"of": "a"}),
        ("deleted", "b", {"of": "b"}),
    ]


@contract("MEM-HOOK-1", Capability.CREATE_MANY)
async def test_hooks_hear_of_nothing_when_a_batch_fails(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        with pytest.raises(RecordExists):
            await store.create_many([record(id="a"), record(id="b"), record(id="a")])

    assert heard == []


@contract("MEM-HOOK-1", Capability.VERSIONED)
async def test_hooks_hear_of_a_retried_call_once(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        for _ in range(2):
            await store.create(record({}, id="one"), idempotency_key="create")
        for _ in range(2):
            await store.update("one", {"n": 1}, idempotency_key="update")
        for _ in range(2):
            await store.delete("one", idempotency_key="delete")

    assert [name for name, *_ in heard] == ["created", "updated", "deleted"]


# ------------------------------------------------------------------------------ failing


class Panic(BaseException):
    """Not an Exception: what code in another language may raise when it breaks."""


FAILING: dict[str, tuple[Callable[..., Any], type[BaseException]]] = {
    "a plain hook raises": (raises(Broken()), Broken),
    "an async hook raises": (raises_later(Broken()), Broken),
    "a plain hook panics": (raises(Panic()), Panic),
    "an async hook panics": (raises_later(Panic()), Panic),
    "a plain hook raises what ends generators": (raises(GeneratorExit()), GeneratorExit),
    "an async hook raises what ends generators": (raises_later(GeneratorExit()), GeneratorExit),
    "it is cancelled inside": (is_cancelled_inside, asyncio.CancelledError),
    "it never ends": (never_ends, TimeoutError),
}


@contract("MEM-HOOK-2")
@pytest.mark.parametrize(("hook", "error"), FAILING.values(), ids=FAILING.keys())
async def test_a_hook_that_fails_fails_no_operation_and_is_reported(
    open_hooked: OpenHooked, hook: Callable[..., Any], error: type[BaseException]
) -> None:
    failures: list[HookFailure] = []

    async def on_failure(failure: HookFailure) -> None:
        failures.append(failure)

    limit = 0.01 if hook is never_ends else PATIENCE
    hooks = every(hook, on_failure=on_failure, time_limit=limit)
    async with asyncio.timeout(PATIENCE), open_hooked(hooks) as store:
        await each_operation(store)

    assert [failure.record_id for failure in failures] == ["one", "one", None, "one"]
    assert [type(failure.error) for failure in failures] == [error] * 4
    assert all(isinstance(failure.hook, str) and failure.hook for failure in failures)


@contract("MEM-HOOK-2")
async def test_a_failing_hook_fails_no_operation_when_nobody_watches(
    open_hooked: OpenHooked,
) -> None:
    async with open_hooked(every(raises(Broken()))) as store:
        await each_operation(store)


@contract("MEM-HOOK-2")
async def test_a_failing_on_failure_fails_no_operation(open_hooked: OpenHooked) -> None:
    failures: list[HookFailure] = []

    def on_failure(failure: HookFailure) -> None:
        failures.append(failure)
        raise Broken

    async with open_hooked(every(raises(Broken()), on_failure=on_failure)) as store:
        await each_operation(store)

    assert len(failures) == 4


@contract("MEM-HOOK-2", Capability.CREATE_MANY)
async def test_a_failing_hook_of_one_record_does_not_silence_the_others(
    open_hooked: OpenHooked,
) -> None:
    heard: list[str] = []
    failures: list[HookFailure] = []

    def on_created(created: StoredMemoryRecord[Any]) -> None:
        if created.id == "a":
            raise Broken
        heard.append(created.id)

    async with open_hooked(MemoryHooks(on_created=on_created, on_failure=failures.append)) as store:
        assert await store.create_many([record(id="a"), record(id="b")]) == ["a", "b"]

    assert heard == ["b"]
    assert [failure.record_id for failure in failures] == ["a"]


@contract("MEM-HOOK-2", "MEM-HOOK-3")
async def test_a_hook_that_blocks_holds_up_nobody_and_is_left_when_its_time_is_over(
    open_hooked: OpenHooked,
) -> None:
    failures: list[HookFailure] = []
    may_end = threading.Event()

    async def on_failure(failure: HookFailure) -> None:
        failures.append(failure)

    def blocks(*_: object) -> None:
        may_end.wait(PATIENCE)

    hooks: MemoryHooks[Any] = MemoryHooks(on_created=blocks, on_failure=on_failure, time_limit=0.05)
    try:
        async with open_hooked(hooks) as store:
            creating = asyncio.ensure_future(store.create(record(id="one")))
            for _ in range(5):  # the loop goes on meanwhile
                await asyncio.sleep(0)
            assert await creating == "one"
            assert not may_end.is_set()
    finally:
        may_end.set()

    assert [type(failure.error) for failure in failures] == [TimeoutError]


@contract("MEM-HOOK-2")
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()], ids=["interrupt", "exit"])
async def test_what_ends_the_process_goes_through_a_hook(
    open_hooked: OpenHooked, error: BaseException
) -> None:
    async with open_hooked(every(raises_later(error))) as store:
        with pytest.raises(type(error)):
            await store.create(record({}, id="one"))
        assert (await kept(store, "one")).data == {}


# ---------------------------------------------------------------------------- isolation


@contract("MEM-HOOK-2", "MEM-HOOK-3")
async def test_a_hook_that_changes_what_it_gets_changes_nothing_else(
    open_hooked: OpenHooked, twin: Store
) -> None:
    def on_created(created: StoredMemoryRecord[Any]) -> None:
        created.data["list"].append("by on_created")

    def on_updated(_id: str, before: Any, after: Any) -> None:
        before["list"].append("by on_updated")
        after["list"].append("by on_updated")

    def on_queried(_filter: MemoryFilter, results: list[StoredMemoryRecord[Any]]) -> None:
        results[0].data["list"].append("by on_queried")
        results.clear()

    given: dict[str, Any] = {"list": [1]}
    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=on_created, on_updated=on_updated, on_queried=on_queried
    )
    async with open_hooked(hooks) as store:
        id = await store.create(record(given))
        assert (await kept(twin, id)).data == {"list": [1]}
        patch: dict[str, Any] = {"list": [2]}
        await store.update(id, patch)
        assert (await kept(twin, id)).data == {"list": [2]}
        [found] = await store.query(MemoryFilter())

    assert found.data == {"list": [2]}
    assert given == {"list": [1]}
    assert patch == {"list": [2]}
    assert await everything(twin) == {id: found}


@contract("MEM-HOOK-3")
async def test_a_hook_runs_after_the_write_has_landed(open_hooked: OpenHooked, twin: Store) -> None:
    seen: list[object] = []

    async def on_created(created: StoredMemoryRecord[Any]) -> None:
        seen.append(await twin.get(created.id) == created)

    async def on_updated(id: str, _before: Any, after: Any) -> None:
        seen.append((await kept(twin, id)).data == after)

    async def on_deleted(id: str, _record: StoredMemoryRecord[Any]) -> None:
        seen.append(await twin.get(id) is None)

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=on_created, on_updated=on_updated, on_deleted=on_deleted, time_limit=PATIENCE
    )
    async with asyncio.timeout(PATIENCE), open_hooked(hooks) as store:
        await each_operation(store)

    assert seen == [True, True, True]


@contract("MEM-HOOK-3")
async def test_a_hook_may_use_the_store_that_called_it(open_hooked: OpenHooked) -> None:
    handle: list[Store] = []
    failures: list[HookFailure] = []

    async def on_created(created: StoredMemoryRecord[Any]) -> None:
        if created.id == "one":
            [store] = handle
            await store.create(record(id="by the hook"))
            await store.update("one", {"n": 2})

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=on_created, on_failure=failures.append, time_limit=PATIENCE
    )
    async with asyncio.timeout(PATIENCE), open_hooked(hooks) as store:
        handle.append(store)
        await store.create(record({"n": 1}, id="one"))
        assert (await kept(store, "one")).data == {"n": 2}
        assert await store.get("by the hook") is not None

    assert failures == []


@contract("MEM-HOOK-3")
async def test_a_hook_that_waits_holds_up_no_other_call(open_hooked: OpenHooked) -> None:
    second_is_there = asyncio.Event()
    failures: list[HookFailure] = []

    async def on_created(created: StoredMemoryRecord[Any]) -> None:
        if created.id == "first":
            await second_is_there.wait()
        else:
            second_is_there.set()

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=on_created, on_failure=failures.append, time_limit=PATIENCE
    )
    async with asyncio.timeout(PATIENCE), open_hooked(hooks) as store:
        first = asyncio.ensure_future(store.create(record(id="first")))
        second = asyncio.ensure_future(store.create(record(id="second")))
        assert list(await asyncio.gather(first, second)) == ["first", "second"]

    assert failures == []


@contract("MEM-HOOK-3")
async def test_hooks_of_calls_at_once_each_hear_of_their_own(open_hooked: OpenHooked) -> None:
    heard: Heard = []

    async with open_hooked(listening(heard)) as store:
        calls: list[Awaitable[str]] = [store.create(record(n, id=str(n))) for n in range(64)]
        await asyncio.gather(*calls)

    assert sorted(int(created.id) for _, created in heard) == list(range(64))
    assert all(created.data == int(created.id) for _, created in heard)


@contract("MEM-HOOK-2", "MEM-HOOK-3")
async def test_cancelling_the_caller_in_a_hook_cancels_the_caller_not_the_write(
    open_hooked: OpenHooked, twin: Store
) -> None:
    in_hook = asyncio.Event()
    failures: list[HookFailure] = []

    async def on_created(_: StoredMemoryRecord[Any]) -> None:
        in_hook.set()
        await asyncio.Event().wait()

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=on_created, on_failure=failures.append, time_limit=PATIENCE
    )
    async with asyncio.timeout(PATIENCE), open_hooked(hooks) as store:
        call = asyncio.ensure_future(store.create(record("whole", id="one")))
        await in_hook.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ids_of(await store.query(MemoryFilter())) == ["one"]

    assert failures == []
    assert (await kept(twin, "one")).data == "whole"
