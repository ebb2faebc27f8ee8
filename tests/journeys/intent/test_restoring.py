"""Snapshots come back byte for byte; branches and forks."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import sha256_hex
from memoranda.kernel.errors import InvalidWorld, WorldNotFound
from memoranda.worlds.action import ActionContext
from memoranda.worlds.domain import Domain
from tests.fixtures import Opens
from tests.journeys.intent.counter import COUNTER, Note
from tests.journeys.intent.reading import head, said
from tests.journeys.intent.simulators import Provider

keeping = Domain("keeping", "1")
KEPT: dict[str, bytes] = {}


@keeping.action(input=Note)
def put(ctx: ActionContext[Note]) -> Any:
    """The whole state becomes what it is told."""
    return ctx.input.text


def states(count: int) -> list[Any]:
    """States that change a little, a lot, or not at all."""
    found: list[Any] = []
    for n in range(count):
        state: dict[str, Any] = {
            "n": n,
            "rows": [{"id": k, "value": k * n if k == n % 40 else k} for k in range(40)],
            "text": "x" * (n % 7) * 100,
            "float": n / 3,
            "nested": {"a": {"b": [n % 2, None, True, "ä\u2028😀"]}},
        }
        if n % 10 == 9:
            state = {"small": n}
        if n % 10 == 5:
            state = found[-1]
        found.append(state)
    return found


@pytest.mark.rule("MEM-CONTEXT-1")
async def test_a_hundred_runs_are_restored_byte_for_byte(opens: Opens) -> None:
    provider = Provider()
    runs = []
    async with opens(domain=keeping, provider=provider) as memory:
        for n, state in enumerate(states(100)):
            provider.answer = {"n": n}
            runs.append(await memory.act("put", {"text": state}))
    async with opens(domain=keeping) as memory:
        sealed = {
            one.document["executionKey"]: one.document
            for one in await said(memory, "ExecutionSealed")
        }
        ways = {"full" if "full" in one["snapshot"] else "delta" for one in sealed.values()}
        assert ways == {"full", "delta"}
        for n, (run, state) in enumerate(zip(runs, states(100), strict=True)):
            restored = await memory.worlds.restore(run.execution_key or "")
            wire = restored.to_wire()
            assert wire["data"] == state
            assert wire["input"] == {
                "text": state,
                "$app": {"memoryContext": {"n": n}, "memoryRecallFailed": False},
            }
            del wire["input"]
            kept = sealed[run.execution_key or ""]["snapshot"]["sha256"]
            without_input = type(restored).from_wire(wire)
            assert sha256_hex(without_input.canonical()) == kept
            world = await memory.worlds.restore(run.world or "")
            assert world.data == state
            assert "input" not in world.to_wire()
        assert {one.verdict async for one in memory.worlds.replay_branch()} == {"same"}


async def test_a_world_that_two_runs_reached_is_restored_as_the_first_left_it(
    memory: Memory[Any],
) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.act("nothing")

    world = await memory.worlds.restore(first.world or "")
    own = await memory.worlds.restore(first.execution_key or "")
    assert world.meta == own.meta


# ---------------------------------------------------------------------------- branches


async def test_branches_begin_with_the_initial_state_and_go_their_own_ways(
    memory: Memory[Any],
) -> None:
    main = await memory.act("add", {"by": 1})
    side = await memory.act("add", {"by": 5}, branch="side")

    assert (main.data["count"], side.data["count"]) == (1, 5)
    assert [(one.name, one.world) for one in await memory.worlds.branches()] == [
        ("main", main.world),
        ("side", side.world),
    ]
    assert all(one.schema_hash == COUNTER.schema_hash for one in await memory.worlds.branches())


async def test_a_fork_goes_on_from_a_world_of_another_branch(memory: Memory[Any]) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.act("add", {"by": 1})
    forked = await memory.worlds.branch("what if", at=first.world or "")
    run = await memory.act("add", {"by": 10}, branch="what if")

    assert forked.world == first.world
    assert run.data["count"] == 11
    assert (await memory.worlds.restore(await head(memory))).data["count"] == 2
    assert [one.verdict async for one in memory.worlds.replay_branch("what if")] == ["same"]


async def test_a_fork_of_a_fork_restores_after_long_chains(memory: Memory[Any]) -> None:
    world = (await memory.act("add", {"by": 1})).world
    for n in range(4):
        await memory.worlds.branch(f"fork {n}", at=world or "")
        for _ in range(40):
            world = (await memory.act("add", {"by": 1}, branch=f"fork {n}")).world

    assert (await memory.worlds.restore(world or "")).data["count"] == 161
    assert (await memory.worlds.replay(world or "")).is_same


async def test_a_failed_world_can_be_forked_and_left_behind(memory: Memory[Any]) -> None:
    failed = await memory.act("fail")
    await memory.worlds.branch("after", at=failed.world or "")
    run = await memory.act("add", {"by": 1}, branch="after")

    assert run.status == "completed"
    assert (await memory.worlds.restore(run.world or "")).system.last_error is None


async def test_a_name_is_taken_once(memory: Memory[Any]) -> None:
    run = await memory.act("add", {"by": 1})
    await memory.worlds.branch("side", at=run.world or "")

    for name in ("side", "main"):
        with pytest.raises(InvalidWorld):
            await memory.worlds.branch(name, at=run.world or "")


@pytest.mark.parametrize("name", ["", " ", "\x00", "a\ud800", "x" * 129, None, 7])
async def test_what_can_not_be_a_name_is_refused(memory: Memory[Any], name: Any) -> None:
    with pytest.raises(InvalidWorld):
        await memory.act("add", {"by": 1}, branch=name)
    run = await memory.act("add", {"by": 1})
    with pytest.raises(InvalidWorld):
        await memory.worlds.branch(name, at=run.world or "")


ODD = [
    "a", "a/b", "a/b/c", "A", "ä", "a\u0308", "a ", "%", "a%", "_", "*", "?", "branch/a",
    "execution/a", "a:1", "😀", "\U0010ffff", "\U0010ffff\U0010ffff", "\ufffd", "~", "\x7f",
    "'; DROP TABLE marks; --", "x" * 128, "\n", "\uff4d\uff41\uff49\uff4e", "..", "-",
]  # fmt: skip


async def test_odd_names_stay_apart(opens: Opens) -> None:
    async with opens() as memory:
        names = [name for name in ODD if name.strip()]
        for n, name in enumerate(names):
            await memory.act("add", {"by": n + 1}, branch=name)
        for n, name in enumerate(names):
            await memory.act("add", {"by": n + 1}, branch=name)

        heads = {one.name: one.world for one in await memory.worlds.branches()}
        assert sorted(heads) == sorted(names)
        for n, name in enumerate(names):
            assert (await memory.worlds.restore(heads[name])).data["count"] == 2 * (n + 1)
            assert [one.verdict async for one in memory.worlds.replay_branch(name)] == ["same"] * 2


async def test_a_fork_of_nothing_is_refused(memory: Memory[Any]) -> None:
    with pytest.raises(WorldNotFound):
        await memory.worlds.branch("side", at="0" * 64)


async def test_a_world_that_was_erased_many_times_is_there_when_it_is_reached_again(
    memory: Memory[Any],
) -> None:
    for _ in range(5):
        await memory.act("add", {"by": 1})
        await memory.erase(whole_scope=True, reason="all of it")

    run = await memory.act("add", {"by": 1})

    assert (await memory.worlds.restore(run.world or "")).data["count"] == 1
    assert (await memory.why(run.world or "")).what == "world"
    assert (await memory.worlds.branch("again", at=run.world or "")).world == run.world
