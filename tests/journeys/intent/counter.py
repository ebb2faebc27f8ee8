"""A small domain: a counter with a log, actions that call the outside, and some that misbehave."""

from typing import Any

from pydantic import BaseModel

from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import EffectFailed


class State(BaseModel):
    """How far it has counted, and what it was told."""

    count: int = 0
    notes: list[Any] = []


class By(BaseModel):
    by: int = 1


class Note(BaseModel):
    text: Any


class Steps(BaseModel):
    steps: int


class Outside:
    """What effects call: it keeps its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    async def call(self, name: str, value: Any) -> Any:
        """One call; the answer is twice the value."""
        self.calls.append((name, value))
        return value * 2


OUTSIDE = Outside()


def counter(version: str = "1") -> Domain:
    """The domain, fresh: a test may give it another version."""
    domain = Domain("counter", version, state=State)

    @domain.action(input=By)
    def add(ctx: ActionContext[By]) -> Patch:
        return Set("count", ctx.state["count"] + ctx.input.by)

    @domain.action(input=Note)
    def note(ctx: ActionContext[Note]) -> Patch:
        return Set("notes", [*ctx.state["notes"], ctx.input.text])

    @domain.action
    def nothing(ctx: ActionContext[None]) -> None:
        """It leaves everything as it is, whatever it remembers."""
        assert ctx.memory is None or ctx.memory is not None

    @domain.action
    def learn(ctx: ActionContext[None]) -> Patch:
        """It takes what it was given to remember into its state."""
        return Set("notes", [*ctx.state["notes"], [ctx.memory, ctx.memory_failed]])

    @domain.action
    def dice(ctx: ActionContext[None]) -> list[Patch]:
        """It uses chance and time."""
        return [Set("count", ctx.random.randrange(10**9)), Set("notes", [ctx.now])]

    @domain.action
    def fail(ctx: ActionContext[None]) -> None:
        raise RuntimeError(f"it can't go on from {ctx.state['count']}")

    @domain.action(input=Steps)
    async def work(ctx: ActionContext[Steps]) -> Patch:
        """It calls the outside several times, each with what came before."""
        value = ctx.state["count"]
        for step in range(ctx.input.steps):
            value = await ctx.effect("double", _double, value=value + step)
        return Set("count", value)

    @domain.action(input=Note)
    async def ask(ctx: ActionContext[Note]) -> Patch:
        """It asks the outside once, and writes down what it heard, or what went wrong."""
        try:
            heard = await ctx.effect("ask", _ask, value=ctx.input.text)
        except EffectFailed as failed:
            heard = {"failed": failed.type}
        return Set("notes", [*ctx.state["notes"], heard])

    return domain


async def _double(value: int) -> Any:
    return await OUTSIDE.call("double", value)


async def _ask(value: Any) -> Any:
    return await OUTSIDE.call("ask", value)


COUNTER = counter()
