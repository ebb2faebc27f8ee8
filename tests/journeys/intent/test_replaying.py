"""Replay: from what was recorded, with nothing else, or the first difference."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.intent.branches import of_host
from memoranda.kernel.errors import CapabilityMissing, MemoryOutOfReach, WorldNotFound
from memoranda.recall.frame import (
    get_memory_context_for_replay,
    get_memory_recall_failed_for_replay,
)
from memoranda.records.filter import MemoryFilter
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import HostExecutionResult
from tests.fixtures import Opens
from tests.journeys.intent.changing import (
    adds_more,
    changed,
    one_effect_less,
    one_effect_more,
    other_arguments,
    raises,
)
from tests.journeys.intent.counter import OUTSIDE, By, State
from tests.journeys.intent.reading import counts
from tests.journeys.intent.simulators import BrokenProvider, Provider
from tests.patience import PATIENCE


async def history(memory: Memory[Any]) -> list[str]:
    """A run of every kind, their keys."""
    runs = [
        await memory.act("add", {"by": 2}),
        await memory.act("learn"),
        await memory.act("dice"),
        await memory.act("work", {"steps": 3}),
        await memory.act("ask", {"text": "why?"}),
        await memory.act("fail"),
        await memory.act("nothing"),
    ]
    return [run.execution_key or "" for run in runs]


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be connected to from here on."""

    def refused(*_: Any) -> None:
        raise AssertionError("a replay opens no connection")

    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_a_replay_asks_neither_store_nor_provider_nor_network(
    opens: Opens, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        for n in range(5):
            await memory.remember({"n": n}, id=f"m{n}")

        async def recalled(_: Any) -> Any:
            return [one.data async for one in memory.records.stream(MemoryFilter())]

        provider.answer = recalled
        keys = await history(memory)
    OUTSIDE.calls.clear()
    broken = BrokenProvider()
    async with opens(provider=broken) as memory:
        await memory.records.clear()
        assert await memory.records.query(MemoryFilter()) == []
        if url.startswith("sqlite"):
            no_network(monkeypatch)
        before = await counts(memory)

        verdicts = [(await memory.worlds.replay(key)).verdict for key in keys]
        on_branch = [one.verdict async for one in memory.worlds.replay_branch()]

        assert verdicts == ["same"] * 7
        assert on_branch == ["same"] * 6
        assert broken.queries == []
        assert OUTSIDE.calls == []
        assert await counts(memory) == before


ELSEWHERE = """
import asyncio, locale, sys
import memoranda
from memoranda.records.filter import MemoryFilter
from tests.journeys.intent.counter import COUNTER

class Broken:
    async def recall(self, query): raise AssertionError("a replay asks nobody")
    async def remember(self, experience): raise AssertionError("nor tells anybody")

async def main(url, scope):
    app = memoranda.App(domain=COUNTER, provider=Broken())
    async with memoranda.open(url, scope=scope, app=app) as memory:
        verdicts = [one.verdict async for one in memory.worlds.replay_branch()]
        head = (await memory.worlds.branches())[0].world
        print(verdicts, (await memory.worlds.restore(head)).canonical().hex())

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_a_replay_elsewhere_is_the_same(opens: Opens, url: str, scope: str) -> None:
    async with opens(provider=Provider({"ä": [1, 2.5, None]})) as memory:
        await history(memory)
        head = (await memory.worlds.branches())[0].world
        expected = f"{['same'] * 6} {(await memory.worlds.restore(head)).canonical().hex()}"

    said = []
    for seed, zone, language in [("0", "Asia/Seoul", "C"), ("4711", "America/Caracas", "de_DE")]:
        ran = subprocess.run(  # noqa: ASYNC221, S603 - our own script
            [sys.executable, "-W", "error", "-c", ELSEWHERE, url, scope],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language, "PYTHONPATH": "."},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        said.append(ran.stdout.strip() or ran.stderr)
    assert said == [expected, expected]


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_what_was_frozen_is_read_from_the_snapshot_alone(opens: Opens) -> None:
    async with opens(provider=Provider({"tea": "green"})) as memory:
        run = await memory.act("nothing")
        snapshot = await memory.worlds.restore(run.execution_key or "")
        world = await memory.worlds.restore(run.world or "")

    assert get_memory_context_for_replay(snapshot) == {"tea": "green"}
    assert get_memory_recall_failed_for_replay(snapshot) is False
    assert get_memory_context_for_replay(world) is None


async def test_a_world_is_replayed_by_the_first_run_that_reached_it(memory: Memory[Any]) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.act("nothing")

    replay = await memory.worlds.replay(first.world or "")
    assert replay.execution_key == first.execution_key
    assert replay.is_same


async def test_a_conflict_was_never_run_and_says_so(opens: Opens) -> None:
    async with opens() as memory:
        late = await memory.worlds.propose("add", {"by": 1})
        await memory.act("add", {"by": 2})
        (run,) = await memory.worlds.resume()

        assert run.proposal_id == late.proposal_id
        replay = await memory.worlds.replay(run.execution_key or "")
        assert replay.verdict == "not run"


@pytest.mark.rule("MEM-CONTEXT-2")
@pytest.mark.parametrize(
    ("behaviour", "action", "what", "where"),
    [
        ({"add": adds_more}, "add", "field", "$.data.count"),
        ({"add": raises}, "add", "field", "$.data.count"),
        ({"work": other_arguments}, "work", "arguments", "effect 1 (double), arguments"),
        ({"work": one_effect_less}, "work", "effect", "effect 2 (double), effect"),
        ({"work": one_effect_more}, "work", "effect", "effect 4 (thanks), effect"),
    ],
    ids=["state", "raises", "arguments", "less", "more"],
)
async def test_a_replay_names_the_first_difference(
    opens: Opens, behaviour: Any, action: str, what: str, where: str
) -> None:
    async with opens() as memory:
        await memory.act("nothing")
        await memory.act("add", {"by": 2})
        await memory.act("work", {"steps": 3})
    async with opens(domain=changed(behaviour)) as memory:
        replays = [one async for one in memory.worlds.replay_branch()]

    differing = [one for one in replays if one.verdict == "differs"]
    (only,) = differing
    assert only.action == action
    assert only.difference is not None
    assert (only.difference.what, only.difference.where) == (what, where)
    assert only.difference.expected != only.difference.found
    assert [one.verdict for one in replays if one not in differing] == ["same", "same"]


async def test_a_host_that_raises_only_now_differs(opens: Opens) -> None:
    class Fragile:
        broken = False

        def within(self, _: Any) -> "Fragile":
            return self

        async def execute(self, _key: str, base: Any, *_: Any) -> HostExecutionResult:
            if self.broken:
                raise RuntimeError("not any more")
            return HostExecutionResult(outcome="completed", terminal_snapshot=base)

    host = Fragile()
    async with opens(domain=of_host(host, "schema-1", {})) as memory:
        run = await memory.act("anything")
        assert (await memory.worlds.replay(run.execution_key or "")).is_same
        host.broken = True
        replay = await memory.worlds.replay(run.execution_key or "")

    assert replay.verdict == "differs"
    assert replay.why == "host.raised: RuntimeError: not any more"


async def test_a_host_without_surroundings_can_not_be_replayed(opens: Opens) -> None:
    class Opaque:
        async def execute(self, _key: str, base: Any, *_: Any) -> HostExecutionResult:
            return HostExecutionResult(outcome="completed", terminal_snapshot=base)

    async with opens(domain=of_host(Opaque(), "schema-1", {})) as memory:
        run = await memory.act("anything")
        with pytest.raises(CapabilityMissing):
            await memory.worlds.replay(run.execution_key or "")


async def test_a_branch_that_is_not_there_can_not_be_replayed(memory: Memory[Any]) -> None:
    with pytest.raises(WorldNotFound):
        [one async for one in memory.worlds.replay_branch("nowhere")]


class WiderState(State):
    """The next version of the state."""

    owner: str = "nobody"


async def test_an_old_branch_goes_on_under_a_newer_schema(opens: Opens) -> None:
    async with opens() as memory:
        old = await memory.act("add", {"by": 2})
    newer = Domain("counter", "2", state=WiderState)

    @newer.action(input=By)
    def add(ctx: ActionContext[By]) -> list[Patch]:
        return [Set("count", ctx.state["count"] + ctx.input.by), Set("owner", "somebody")]

    async with opens(domain=newer) as memory:
        run = await memory.act("add", {"by": 3})
        assert run.data == {"count": 5, "notes": [], "owner": "somebody"}
        snapshot = await memory.worlds.restore(run.world or "")
        assert snapshot.meta.schema_hash == newer.schema_hash
        assert (await memory.worlds.replay(run.execution_key or "")).is_same
        assert (await memory.worlds.restore(old.world or "")).meta.schema_hash != newer.schema_hash


async def test_a_state_that_a_newer_schema_refuses_fails_the_run(opens: Opens) -> None:
    async with opens() as memory:
        await memory.act("add", {"by": 2})

    class Narrow(State):
        must: str

    newer = Domain("counter", "3", state=Narrow, initial=Narrow(must="be there"))

    @newer.action(input=By)
    def add(ctx: ActionContext[By]) -> Patch:
        return Set("count", ctx.state["count"] + ctx.input.by)

    async with opens(domain=newer) as memory:
        run = await memory.act("add", {"by": 3})
        assert run.error is not None
        assert run.error["code"] == "state.invalid"


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_memory_is_out_of_reach_in_a_replay(opens: Opens) -> None:
    async with opens() as memory:
        await memory.remember("green", id="tea")

        async def peek(_: ActionContext[By]) -> Patch:
            return Set("notes", [str(await memory.get("tea"))])

        await memory.act("add", {"by": 1})
    async with opens(domain=changed({"add": peek})) as memory:
        (replay,) = [one async for one in memory.worlds.replay_branch()]

    assert replay.difference is not None
    assert replay.difference.error is not None
    assert str(MemoryOutOfReach("an action")) in replay.difference.error
