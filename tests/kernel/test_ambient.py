"""From where memory can be reached, and what of it was noted."""

import asyncio
from collections.abc import Callable
from contextvars import Context

import pytest

from memoranda.kernel.ambient import (
    Ambient,
    ambient,
    change_ambient,
    check_reach,
    check_writable,
    observed,
    out_of_reach,
    reached,
    surrounded,
)
from memoranda.kernel.errors import MemoryOutOfReach


def test_memory_can_be_reached_as_a_rule() -> None:
    check_reach()
    reached(["a"])


@pytest.mark.parametrize("reach", [check_reach, lambda: reached(["a"]), lambda: reached([])])
def test_memory_out_of_reach_says_from_where_it_was_tried(reach: Callable[[], None]) -> None:
    with out_of_reach("a projection"), pytest.raises(MemoryOutOfReach) as caught:
        reach()

    assert caught.value.code == "input.memory_out_of_reach"
    assert caught.value.who == "a projection"


def test_what_is_read_is_noted_once_in_order() -> None:
    with observed() as seen:
        reached(["b", "a"])
        reached(["a", "c"])

    reached(["later"])

    assert seen.ids == ("b", "a", "c")


def test_blocks_end_with_what_held_before_even_when_they_raise() -> None:
    with observed() as outer:
        with pytest.raises(ZeroDivisionError), out_of_reach("an action"):
            _ = 1 / 0
        reached(["a"])
        with observed() as inner:
            reached(["b"])
        reached(["c"])

    assert outer.ids == ("a", "c")
    assert inner.ids == ("b",)


def test_the_innermost_block_is_named() -> None:
    with out_of_reach("a replay"):
        with out_of_reach("an action"), pytest.raises(MemoryOutOfReach) as within:
            check_reach()
        with pytest.raises(MemoryOutOfReach) as after:
            check_reach()

    assert (within.value.who, after.value.who) == ("an action", "a replay")


async def test_a_block_reaches_the_tasks_that_are_started_in_it_and_no_others() -> None:
    inside, outside = asyncio.Event(), asyncio.Event()

    async def elsewhere() -> None:
        await inside.wait()
        check_reach()
        outside.set()

    async def child() -> None:
        with pytest.raises(MemoryOutOfReach):
            check_reach()

    other = asyncio.create_task(elsewhere())
    with out_of_reach("an action"):
        inside.set()
        await outside.wait()
        await asyncio.gather(child(), asyncio.to_thread(lambda: asyncio.run(child())))
    await other


async def test_what_tasks_read_in_a_block_is_noted_there() -> None:
    async def reading(name: str) -> None:
        await asyncio.sleep(0)
        reached([name])

    with observed() as seen:
        await asyncio.gather(reading("a"), reading("b"))

    assert sorted(seen.ids) == ["a", "b"]


def test_a_block_gives_back_what_it_changed_and_nothing_else() -> None:
    def work() -> None:
        with surrounded(phases=("a phase",)) as around:
            change_ambient(recalls="what was recalled in it")

        assert around == Ambient()
        assert ambient() == Ambient(recalls="what was recalled in it")

    Context().run(work)  # whatever ran before in this process


def test_nothing_is_noted_where_memory_can_not_be_read() -> None:
    with out_of_reach("an action"), observed() as seen, pytest.raises(MemoryOutOfReach):
        reached(["a"])

    assert seen.ids == ()


def test_an_effect_may_write_and_an_action_may_not() -> None:
    with out_of_reach("an effect"):
        check_writable()
    with out_of_reach("an action"), pytest.raises(MemoryOutOfReach) as caught:
        check_writable()

    assert caught.value.code == "input.memory_out_of_reach"
