"""Faults at every point of random plans: the database is as before or as after, never between.

A plan is drawn, and with it a point: before or after any of its steps, inside the transaction,
before or after the commit, by an error, a cancellation, a bad output or a time limit. The turn is
taken, and all that is stored is compared with what was there. Then the same cycle is tried again
in another runtime, without the fault: it lands once.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, product
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Memory
from memoranda.journeys.records.foreign import TookTooLong
from memoranda.journeys.turn import turns as turning
from memoranda.journeys.turn.cycle import composed, within_limit
from memoranda.journeys.turn.sessions import Turning
from memoranda.journeys.turn.turns import Turns
from memoranda.kernel.errors import MemorandaError, StoreFailed
from memoranda.kernel.json import JsonValue
from memoranda.ledger.attachments import NewItem
from memoranda.ledger.unit import Unit
from memoranda.plans.engine import Output
from memoranda.plans.plan import StepType
from memoranda.plans.summary import Limits, Summary
from memoranda.testkit.strategies import FrozenClock
from tests.handles import inside, opened
from tests.journeys.turn.faults import FaultyTable
from tests.journeys.turn.talking import Answering, talk, told

LONG = os.environ.get("MEMORANDA_FUZZ") == "long"
PLANS = {"sqlite": 1_200 if LONG else 400, "postgres": 800 if LONG else 250}
"""On each of the two databases; the long form is `make fuzz`."""

TEXT = "Was the invoice of Ada Lovelace paid on Monday? I live in Seoul."

Kind = Literal[
    "none", "before", "after", "output", "cancel", "limit",
    "commit before", "commit inside", "commit after", "commit cancelled",
]  # fmt: skip
OF_STEPS = ("before", "after", "output", "cancel", "limit")


class Drawn(NamedTuple):
    """A plan, whether it is recorded, whether the session is there before, and the fault."""

    without: str
    is_recording: bool
    is_resumed: bool
    kind: Kind
    step: int
    has_limits: bool
    top_k: int
    prompt_tokens: int
    max_keywords: int

    def document(self, folder: Path) -> dict[str, Any]:
        """The plan."""
        document = talk(without=self.without, top_k=self.top_k, is_governed=True)
        document["metadata"]["budgets"] = {"promptTokens": self.prompt_tokens}
        if self.has_limits:
            document["metadata"]["timeouts"] = {"ioMs": 600_000, "llmMs": 600_000}
        for step in document["steps"]:
            if step["type"] == "RepoScan":
                step["payload"] = {"path": str(folder)}
            if step["type"] == "SummarizeMemory":
                step["payload"] = {"maxKeywords": self.max_keywords}
        return document


# Few draws, each of many: what is drawn one by one takes longer to draw than to run.
PARTS = list(
    product(
        ["", "scan"],
        ["", "retrieve"],
        ["", "recall"],
        ["", "keep", "summarize keep"],
        ["", "remember", "extract remember"],
    )
)
WAYS = list(product([False, True], [False, True], [False, True]))
FAULTS = [
    (kind, step)
    for kind in get_args(Kind)
    for step in (range(11) if kind in OF_STEPS else [0] * 11)
]


@st.composite
def drawn_plans(draw: st.DrawFn) -> Drawn:
    is_recording, is_resumed, has_limits = draw(st.sampled_from(WAYS))
    kind, step = draw(st.sampled_from(FAULTS))
    return Drawn(
        " ".join(draw(st.sampled_from(PARTS))),
        is_recording,
        is_resumed,
        kind,
        step,
        has_limits or kind == "limit",
        draw(st.integers(0, 20)),
        draw(st.integers(1_000, 4_000)),
        draw(st.integers(1, 8)),
    )


class Terse:
    """Summarises everything in the same way and at once, and never in the same words."""

    _times = count()

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
        _ = response, text, limits
        return Summary(f"An invoice, settled ({next(self._times)})", ("invoice",))


class FaultyStep:
    """A step as it is, but for a fault before it, after it, or in what it gives."""

    def __init__(self, inner: StepType, kind: Kind, hanging: asyncio.Event) -> None:
        self.name, self.stage, self.payload = inner.name, inner.stage, inner.payload
        self.takes, self.gives = inner.takes, inner.gives
        self.fails, self.limit = inner.fails, inner.limit
        self._inner = inner
        self._kind = kind
        self._hanging = hanging

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        if self._kind == "before":
            raise OSError("before")
        output = await self._inner.run(payload, inputs)
        match self._kind:
            case "after":
                raise ValueError("after")
            case "output":
                return {**output, "more": 1}
            case "cancel":
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
                await asyncio.sleep(0)
            case "limit":
                self._hanging.set()
                await asyncio.Event().wait()
        return output


class State(NamedTuple):
    """All that a turn could have changed of a session."""

    session: bytes | None
    items: tuple[str, ...]
    taught: int
    """How often this session's person said what is remembered of them."""
    recorded: bool
    completed: int


@dataclass
class Campaign:
    """One database that is open for all plans."""

    runner: asyncio.Runner
    memory: Memory[Any]
    clock: FrozenClock
    monkeypatch: pytest.MonkeyPatch
    folder: Path
    names: int = 0

    async def state(self, name: str, session_ref: str, cycle_id: str) -> State:
        rows = inside(self.memory).turning.scope.table.ledger.attachments
        items = await inside(self.memory).turning.scope.items(session_ref)
        found = await items.search(TEXT, 1_000)
        facts = await told(self.memory, cycle_id)
        known = [await self.memory.get(one.id) for one in await self.memory.list(subject=name)]
        return State(
            await rows.session(name),
            tuple(sorted(item.id for item in found)),
            sum(1 + (one.seen_again or 0) for one in known if one is not None),
            await rows.recording(cycle_id) is not None,
            [one.outcome for one in facts].count("completed"),
        )

    async def turns(self, plan: Drawn, name: str, *, is_faulty: bool) -> Turns:
        """A runtime, with the fault in it or without."""
        document = plan.document(self.folder)
        kept = inside(self.memory).turning
        self.monkeypatch.setattr(turning, "composed", composed)
        self.monkeypatch.setattr(turning, "within_limit", within_limit)
        if is_faulty:
            steps = document["steps"]
            self._break(steps[plan.step % len(steps)]["type"], plan.kind)
        try:
            return await self.memory.turns.open(
                document,
                model=Answering("It was paid."),
                session=name,
                record=plan.is_recording,
                subject=name,
                summariser=Terse(),
            )
        finally:
            parts: Any = inside(self.memory)
            parts.turning = kept

    def _break(self, step: str, kind: Kind) -> None:
        hanging = asyncio.Event()

        def faulty(*args: Any) -> list[StepType]:
            return [
                FaultyStep(one, kind, hanging) if one.name == step and kind in OF_STEPS else one
                for one in composed(*args)
            ]

        async def until_it_hangs(_: float, work: Coroutine[Any, Any, Output]) -> Output:
            """Whose time is over is known without a clock: whoever says that it hangs."""
            doing, over = asyncio.ensure_future(work), asyncio.ensure_future(hanging.wait())
            try:
                await asyncio.wait({doing, over}, return_when=asyncio.FIRST_COMPLETED)
                if doing.done():
                    return doing.result()
                raise TookTooLong
            finally:
                doing.cancel()
                over.cancel()

        self.monkeypatch.setattr(turning, "composed", faulty)
        if kind == "limit":
            self.monkeypatch.setattr(turning, "within_limit", until_it_hangs)
        scope = inside(self.memory).turning.scope
        if kind.startswith("commit"):
            table = _Breaking(scope.table, kind)
            broken = replace(scope, table=table)
            parts: Any = inside(self.memory)
            parts.turning = Turning(broken, parts.turning._scanner)


class _Breaking(FaultyTable):
    """Breaks the commit of what lands, in one of four ways."""

    def __init__(self, table: Any, kind: Kind) -> None:
        super().__init__(table)
        self._kind = kind

    async def commit(self, unit: Unit) -> Any:
        match self._kind:
            case "commit before":
                raise StoreFailed("the disk", "it is full")
            case "commit inside":
                one = NewItem(_ID, "s", "2026-11-16T08:00:00.000Z", "a summary", ("one",))
                unit = unit._replace(
                    attachments=(*unit.attachments, one, one._replace(summary="another"))
                )
            case "commit cancelled":
                for task in asyncio.all_tasks():
                    if task.get_name() == "turn":
                        task.cancel()
                await asyncio.sleep(0)
        committed = await super().commit(unit)
        if self._kind == "commit after":
            raise StoreFailed("the network", "it broke off")
        return committed


_ID = "0f9e8d7c-6b5a-4c3d-8e2f-1a0b9c8d7e6f"


@pytest.fixture
def campaign(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Campaign]:
    """One handle and one loop for all plans of a database.

    SQLite's is a private one, which waits for no disk: no power fails here, and it would do nothing
    else.
    """
    if url.startswith("sqlite"):
        url = "sqlite://:memory:"
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    clock = FrozenClock(1_763_000_000_000)
    with asyncio.Runner() as runner:
        opening = opened(url, scope="campaign", clock=clock, actor="agent:worker")
        memory = runner.run(opening.__aenter__())
        try:
            yield Campaign(runner, memory, clock, monkeypatch, folder)
        finally:
            runner.run(opening.__aexit__(None, None, None))


@pytest.mark.rule("ING-PERSIST")
@pytest.mark.rule("ING-FAILFAST")
def test_a_turn_lands_whole_or_not_at_all(campaign: Campaign, url: str) -> None:
    plans = PLANS["sqlite" if url.startswith("sqlite") else "postgres"]
    tried: Counter[Kind] = Counter()

    @given(drawn=drawn_plans())
    @settings(max_examples=plans)
    def every_plan(drawn: Drawn) -> None:
        tried[drawn.kind] += 1
        campaign.runner.run(one_plan(campaign, drawn))

    every_plan()

    assert tried.total() >= plans
    assert tried.keys() == set(get_args(Kind))


async def one_plan(campaign: Campaign, drawn: Drawn) -> None:
    campaign.names += 1
    name = f"s-{campaign.names}"
    cycle_id = f"c-{campaign.names}"
    if drawn.is_resumed:
        await (await campaign.turns(drawn, name, is_faulty=False)).take(TEXT)
        campaign.clock.advance(1)
    turns = await campaign.turns(drawn, name, is_faulty=True)
    assert turns.session is not None
    session_ref = turns.session.session_id
    before = await campaign.state(name, session_ref, cycle_id)

    # the fault
    task = asyncio.get_running_loop().create_task(turns.take(TEXT, cycle_id=cycle_id), name="turn")
    await asyncio.wait({task})
    is_told = not task.cancelled() and task.exception() is None
    if not is_told and not task.cancelled():
        assert isinstance(task.exception(), MemorandaError)

    # as before or as after
    after = await campaign.state(name, session_ref, cycle_id)
    has_landed = after.completed == 1
    if has_landed:
        assert_landed(drawn, before, after)
    else:
        assert after == before
    if is_told:
        assert has_landed
    if drawn.kind in ("none", "commit after", "commit cancelled"):
        assert has_landed
    elif drawn.kind in OF_STEPS or drawn.kind in ("commit before", "commit inside"):
        assert not has_landed

    # again, by another runtime
    campaign.clock.advance(1)
    again = await campaign.turns(drawn, name, is_faulty=False)
    turn = await again.take(TEXT, cycle_id=cycle_id)
    assert turn.retried == has_landed
    assert again.session is not None
    if not has_landed:
        session_ref = again.session.session_id
    last = await campaign.state(name, session_ref, cycle_id)
    assert_landed(drawn, before, last)


def assert_landed(drawn: Drawn, before: State, after: State) -> None:
    """All of it, once."""
    assert after.completed == 1
    assert after.session is not None
    assert after.session != before.session
    assert after.recorded == drawn.is_recording
    left_out = drawn.without.split()
    assert len(after.items) == len(before.items) + ("keep" not in left_out)
    assert after.taught == before.taught + ("remember" not in left_out)
