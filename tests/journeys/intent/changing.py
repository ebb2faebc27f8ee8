"""The counter after somebody changed its code, and not its schema."""

from typing import Any

from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from tests.journeys.intent.counter import By, counter


def changed(behaviour: Any) -> Domain:
    """The counter with the same schema, whose `add` or `work` behaves differently."""
    domain = counter()
    for name, function in behaviour.items():
        action = domain._actions[name]
        domain._actions[name] = type(action)(
            **{
                slot: function if slot == "function" else getattr(action, slot)
                for slot in type(action).__dataclass_fields__
            }
        )
    return domain


def adds_more(ctx: ActionContext[By]) -> Patch:
    return Set("count", ctx.state["count"] + ctx.input.by + 1)


def raises(ctx: ActionContext[By]) -> Patch:
    raise KeyError(ctx.input.by)


async def other_arguments(ctx: ActionContext[Any]) -> Patch:
    value = ctx.state["count"]
    for step in range(ctx.input.steps):
        value = await ctx.effect("double", lambda value: value, value=value + step + 1)
    return Set("count", value)


async def one_effect_less(ctx: ActionContext[Any]) -> Patch:
    value = await ctx.effect("double", lambda value: value, value=ctx.state["count"])
    return Set("count", value)


async def one_effect_more(ctx: ActionContext[Any]) -> Patch:
    value = ctx.state["count"]
    for step in range(ctx.input.steps):
        value = await ctx.effect("double", lambda value: value, value=value + step)
    await ctx.effect("thanks", lambda: None)
    return Set("count", value)
