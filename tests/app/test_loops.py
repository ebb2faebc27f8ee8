"""A handle belongs to the event loop that its database was opened in: others are refused."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import memoranda
from memoranda import MemoryFilter
from memoranda.errors import WrongLoop
from tests.app.sample import SAMPLE, Call, Known, bound, come_to, opened
from tests.patience import PATIENCE


async def elsewhere(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run in a loop of its own, in a thread of its own."""

    async def patiently() -> None:
        async with asyncio.timeout(PATIENCE):
            await work()

    await asyncio.to_thread(lambda: asyncio.run(patiently()))


async def refuses(memory: Any, call: Call) -> None:
    with pytest.raises(WrongLoop) as caught:
        await come_to(bound(memory, call.name)(*call.given(Known()), **call.named(Known())))
    assert caught.value.code == "store.wrong_loop", call.name


@pytest.mark.parametrize("kind", ["used", "unused"])
async def test_every_verb_is_refused_in_another_loop_and_nothing_is_damaged(
    place: str, kind: str
) -> None:
    async with opened(place) as memory:
        if kind == "used":
            await memory.remember("something", id="tea")
        before = (await memory.journal.head()).size

        async def others() -> None:
            for call in SAMPLE:
                await refuses(memory, call)

        await elsewhere(others)

        assert (await memory.journal.head()).size == before
        await memory.remember("the handle works as before", id="after")
        assert (await memory.verify()).is_sound


async def test_handles_that_another_loop_makes_are_refused_too(place: str) -> None:
    async with memoranda.connect(place) as db:

        async def others() -> None:
            fresh = db.scope("new", actor="agent:a")
            for call in SAMPLE:
                await refuses(fresh, call)
            for using in (db.scopes(), db.exists("s"), db.close()):
                with pytest.raises(WrongLoop):
                    await using
            with pytest.raises(WrongLoop):
                await db

        await elsewhere(others)

        await db.scope("new", actor="agent:a").remember("here it works")
        assert await db.scopes() == ["new"]


async def test_what_runs_already_is_refused_where_it_is_carried_on_elsewhere(place: str) -> None:
    async with opened(place) as memory:
        await memory.remember_many([f"number {n}" for n in range(300)])
        await memory.act("add", {"by": 1})
        await memory.act("add", {"by": 1})
        tail, branch = memory.journal.tail(0), memory.worlds.replay_branch()
        await anext(tail)
        await anext(branch)
        batch = memory.batch()
        await batch.__aenter__()
        batch.put("x", 1)

        async def others() -> None:
            with pytest.raises(WrongLoop):
                _ = [entry async for entry in tail]
            with pytest.raises(WrongLoop):
                await anext(branch)
            with pytest.raises(WrongLoop):
                await batch.__aexit__(None, None, None)

        await elsewhere(others)

        assert await memory.get("x") is None
        assert (await memory.verify()).is_sound


async def test_many_threads_that_meddle_do_no_harm(place: str) -> None:
    async with opened(place) as memory:

        async def meddling() -> None:
            for _ in range(20):
                with pytest.raises(WrongLoop):
                    await memory.remember("from another thread")
                with pytest.raises(WrongLoop):
                    await memory.records.query(MemoryFilter())

        others = [asyncio.ensure_future(elsewhere(meddling)) for _ in range(3)]
        written = [await memory.remember(f"number {n}") for n in range(30)]
        await asyncio.gather(*others)

        assert len(await memory.list()) == len(written) == 30
        assert (await memory.verify()).is_sound


def test_a_second_loop_of_the_same_thread_is_another_loop(place: str) -> None:
    handles: list[memoranda.Memory[Any]] = []

    async def first() -> None:
        handles.append(await memoranda.open(place, scope="s"))
        await handles[0].remember("something")

    loop = asyncio.new_event_loop()
    loop.run_until_complete(first())

    async def second() -> None:
        for call in SAMPLE:
            await refuses(handles[0], call)

    asyncio.run(second())
    loop.run_until_complete(handles[0].close())
    loop.close()
