"""What an action gets: the same numbers everywhere, its own copy of memory, and no way back."""

from typing import Any

import pytest

from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.errors import MemoryOutOfReach
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.readonly import ReadOnly
from tests.worlds.running import NOW, SEED, Order, a_shop, base_of, run


def domain_with(function: Any, **members: Any) -> Domain:
    domain = Domain("d", "1", initial=members.pop("initial", None))
    domain.action(name="act", **members)(function)
    return domain


async def test_the_randomness_of_a_seed_is_fixed_for_ever() -> None:
    drawn: dict[str, Any] = {}

    def draw(ctx: ActionContext[None]) -> None:
        cards = list(range(10))
        ctx.random.shuffle(cards)
        drawn["random"] = [ctx.random.random() for _ in range(2)]
        drawn["randrange"] = [ctx.random.randrange(1_000_000) for _ in range(3)]
        drawn["choice"] = ctx.random.choice("abcdefgh")
        drawn["cards"] = cards
        drawn["gauss"] = round(ctx.random.gauss(0, 1), 12)

    await run(domain_with(draw), "act")

    assert drawn == {
        "cards": [4, 9, 1, 6, 0, 8, 3, 5, 2, 7],
        "random": [0.3110106363297651, 0.5920786990916215],
        "randrange": [9758, 359888, 104050],
        "choice": "d",
        "gauss": 2.022471471202,
    }


async def test_the_time_is_that_of_the_surroundings() -> None:
    seen: list[int] = []

    await run(domain_with(lambda ctx: seen.extend([ctx.now, ctx.now])), "act")

    assert seen == [NOW, NOW]


async def test_the_input_is_the_actions_model() -> None:
    seen: list[Any] = []

    await run(domain_with(lambda ctx: seen.append(ctx.input), input=Order), "act", {"item": "tea"})

    assert seen == [Order(item="tea", count=1)]


@pytest.mark.rule("MEM-CTX-3")
@pytest.mark.parametrize(
    ("app", "expected"),
    [
        ({"memoryContext": {"a": [1.0]}, "memoryRecallFailed": False}, ({"a": [1]}, False)),
        ({"memoryContext": 0, "memoryRecallFailed": False}, (0, False)),
        ({"memoryContext": None, "memoryRecallFailed": True}, (None, True)),
        ({}, (None, False)),
        (None, (None, False)),
    ],
)  # fmt: skip
async def test_memory_is_what_was_frozen_into_the_input(app: Any, expected: Any) -> None:
    seen: list[Any] = []
    domain = domain_with(lambda ctx: seen.append((ctx.memory, ctx.memory_failed)))
    given = {} if app is None else {"input": {"$app": app, "item": "tea"}}

    result = await run(domain, "act", base=base_of(domain, **given))

    assert seen == [expected]
    assert result.terminal_snapshot.to_wire().get("input") == given.get("input")


@pytest.mark.rule("MEM-CONTEXT-1")
async def test_what_an_action_does_to_its_memory_does_not_reach_the_record() -> None:
    def forgetful(ctx: ActionContext[None]) -> Patch:
        ctx.memory["facts"].clear()
        return Set("left", ctx.memory)

    domain = domain_with(forgetful)
    frozen = {"$app": {"memoryContext": {"facts": ["a"]}, "memoryRecallFailed": False}}

    result = await run(domain, "act", base=base_of(domain, input=frozen))

    assert result.terminal_snapshot.data == {"left": {"facts": []}}
    assert result.terminal_snapshot.input == frozen


@pytest.mark.parametrize(
    "name", ["state", "input", "memory", "memory_failed", "now", "random", "x"]
)
async def test_nothing_of_a_context_can_be_replaced(name: str) -> None:
    result = await run(domain_with(lambda ctx: setattr(ctx, name, 1)), "act")

    assert result.outcome == "failed"
    assert result.error is not None
    assert result.error.context == {"type": "AttributeError"}


async def test_a_change_in_place_fails_and_changes_nothing() -> None:
    domain = domain_with(lambda ctx: ctx.state["a"]["b"].append(1), initial={"a": {"b": []}})

    result = await run(domain, "act")

    assert result.error is not None
    assert result.error.context == {"type": ReadOnly.__name__}
    assert result.terminal_snapshot.data == {"a": {"b": []}}


@pytest.mark.rule("MEM-CONTEXT-2")
async def test_memory_is_out_of_reach_for_actions_and_for_their_effects() -> None:
    seen: list[str] = []

    async def effect() -> None:
        try:
            check_reach()
        except MemoryOutOfReach as refused:
            seen.append(refused.who)
            raise

    async def reaching(ctx: ActionContext[None]) -> None:
        with pytest.raises(MemoryOutOfReach):
            reached(["m-1"])
        await ctx.effect("reach", effect)

    result = await run(domain_with(reaching), "act")

    assert seen == ["an effect"]
    assert result.error is not None
    assert result.error.context == {"type": "EffectFailed"}
    check_reach()


async def test_an_action_sees_neither_input_nor_meta_nor_system_of_the_base() -> None:
    public = {name for name in dir(ActionContext) if not name.startswith("_")}

    assert public == {
        "effect",
        "input",
        "memory",
        "memory_failed",
        "now",
        "random",
        "state",
    }


async def test_a_run_that_uses_all_of_it_ends_well() -> None:
    result = await run(a_shop(), "order", {"item": "tea", "count": 2})

    assert result.terminal_snapshot.data["lines"] == [{"item": "tea", "count": 2, "price": 3.5}]
    assert result.terminal_snapshot.computed == {"total": 7}
    assert result.terminal_snapshot.meta.random_seed == SEED
