"""A small domain to run, record and replay, and what tests of hosts have in common."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memoranda.identity import freeze
from memoranda.kernel.json import JsonValue
from memoranda.worlds.action import ActionContext, Merge, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import (
    EffectError,
    EffectFailed,
    EffectRecord,
    HostExecutionOptions,
    HostExecutionResult,
    arguments_digest,
)
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.proposal import Intent
from memoranda.worlds.replay import RunRecording
from memoranda.worlds.snapshot import Snapshot, initial_snapshot

NOW = 1_771_150_951_123
SEED = "intent-1"

names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00$."), min_size=1, max_size=4
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | names
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(names, values, max_size=4)


class Performed:
    """Live surroundings that keep their records in memory, in the order of start."""

    def __init__(self, *, now: int, random_seed: str) -> None:
        self.now: Final = now
        self.random_seed: Final = random_seed
        self._records: list[EffectRecord] = []

    @property
    def effects(self) -> tuple[EffectRecord, ...]:
        """What was asked for so far; one that is still running has neither result nor error."""
        return tuple(self._records)

    async def effect(
        self, name: str, arguments: JsonValue, call: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        """Call it, and keep how it ended."""
        number, digest = len(self._records) + 1, arguments_digest(name, arguments)
        self._records.append(EffectRecord(number, name, digest))
        try:
            result = freeze(await call())
        except EffectFailed as failed:
            error = EffectError(failed.type, failed.message)
            self._records[number - 1] = EffectRecord(number, name, digest, error=error)
            raise
        self._records[number - 1] = EffectRecord(number, name, digest, result=result)
        return result.thaw()


class Order(BaseModel):
    """What is ordered."""

    item: str
    count: int = Field(default=1, ge=1)


class Line(BaseModel):
    item: str
    count: int
    price: float


class Shop(BaseModel):
    lines: list[Line] = []
    tickets: list[int] = []
    note: str | None = None
    placed_at: int | None = None


@dataclass
class Prices:
    """The outside: counts how often it is asked."""

    prices: dict[str, float] = field(default_factory=lambda: {"tea": 3.5, "cake": 4.0})
    asked: list[str] = field(default_factory=list)

    async def look_up(self, item: str) -> float:
        self.asked.append(item)
        await asyncio.sleep(0)
        return self.prices[item]


def a_shop(outside: Prices | None = None) -> Domain:
    """State, input, effects, time, randomness and memory in one small domain."""
    outside = outside or Prices()
    shop = Domain("shop", "1", state=Shop)

    @shop.action(input=Order)
    async def order(ctx: ActionContext[Order]) -> list[Patch]:
        price = await ctx.effect("price", outside.look_up, item=ctx.input.item)
        line = {"item": ctx.input.item, "count": ctx.input.count, "price": price}
        return [Merge("", {"lines": ctx.state["lines"] + [line], "placed_at": ctx.now})]

    @shop.action
    async def compare(ctx: ActionContext[None]) -> dict[str, Any]:
        found = await asyncio.gather(
            *(ctx.effect("price", outside.look_up, item=item) for item in ("tea", "cake", "tea")),
            return_exceptions=True,
        )
        notes = [
            f"{one.type}: {one.message}" if isinstance(one, EffectFailed) else str(one)
            for one in found
        ]
        return {**ctx.state, "note": ", ".join(notes)}

    @shop.action
    def draw(ctx: ActionContext[None]) -> Patch:
        return Set("tickets", [ctx.random.randrange(1000) for _ in range(3)])

    @shop.action
    def remembered(ctx: ActionContext[None]) -> Patch:
        return Set("note", f"{ctx.memory} {ctx.memory_failed}")

    @shop.action
    def nothing(ctx: ActionContext[None]) -> None:
        assert ctx.input is None

    @shop.action
    def listing(ctx: ActionContext[None]) -> Patch:
        return Set("note", f"{list(ctx.state)} {ctx.state}")

    @shop.action(name="give up")
    def give_up(ctx: ActionContext[None]) -> None:
        raise ValueError(f"at {ctx.now}: {object()}")

    @shop.computed(name="total")
    def total(data: Any) -> float:
        return float(sum(line["count"] * line["price"] for line in data["lines"]))

    return shop


def base_of(domain: Domain, data: Any = None, **members: Any) -> Snapshot:
    """A snapshot of the domain's, with an input where one is given."""
    data = domain.initial_data() if data is None else data
    first = initial_snapshot(data, domain.schema_hash, now=NOW - 1000, random_seed="genesis")
    return Snapshot.from_wire(first.to_wire() | members)


def intent_of(action: str, *given: Any) -> Intent:
    members = {"input": given[0]} if given else {}
    return Intent.from_wire({"type": action, "intentId": SEED, **members})


async def run(
    domain: Domain,
    action: str,
    *given: Any,
    base: Snapshot | None = None,
    surroundings: Any = None,
    **options: Any,
) -> HostExecutionResult:
    """One run, within live surroundings unless others are given."""
    return (
        await LocalHost(domain)
        .within(surroundings or Performed(now=NOW, random_seed=SEED))
        .execute(
            "p-1:1",
            base or base_of(domain),
            intent_of(action, *given),
            HostExecutionOptions(**options),
        )
    )


async def record(
    domain: Domain, action: str, *given: Any, base: Snapshot | None = None, **options: Any
) -> RunRecording:
    """One run, live, as its recording."""
    live = Performed(now=NOW, random_seed=SEED)
    base = base or base_of(domain)
    result = await run(domain, action, *given, base=base, surroundings=live, **options)
    return recording_of(base, intent_of(action, *given), result, live.effects, **options)


def recording_of(
    base: Snapshot,
    intent: Intent,
    result: HostExecutionResult,
    effects: tuple[EffectRecord, ...],
    **options: Any,
) -> RunRecording:
    terminal = result.terminal_snapshot
    return RunRecording(
        execution_key="p-1:1",
        base=Snapshot.from_wire({k: v for k, v in base.to_wire().items() if k != "input"}),
        intent=intent,
        options=HostExecutionOptions(**options | {"signal": None}),
        now=NOW,
        random_seed=SEED,
        input=freeze(base.input) if "input" in base.model_fields_set else None,
        effects=effects,
        terminal=terminal.canonical(),
        outcome=result.outcome,
    )
