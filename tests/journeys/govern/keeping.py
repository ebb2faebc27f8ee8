"""A domain whose runs spread what they remember, and a provider that gives what it is told to."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memoranda import Memory

KEEPER = Domain("keeper", "1", state=None, initial={"count": 0, "notes": [], "heard": None})


class Note(BaseModel):
    text: str


@KEEPER.action
def add(ctx: ActionContext[None]) -> Patch:
    """It knows nothing, but the state that it goes on from may."""
    return Set("count", ctx.state["count"] + 1)


@KEEPER.action
def learn(ctx: ActionContext[None]) -> Patch:
    """What it remembers becomes state."""
    return Set("notes", [*ctx.state["notes"], ctx.memory])


@KEEPER.action
async def ask(ctx: ActionContext[None]) -> Patch:
    """What it remembers goes out, comes back, and becomes state."""
    return Set("heard", await ctx.effect("echo", _echo, said=ctx.memory))


@KEEPER.action
def fail(ctx: ActionContext[None]) -> None:
    """What it remembers becomes an error."""
    raise RuntimeError(f"it can't be that {ctx.memory}")


@KEEPER.action(input=Note)
def note(ctx: ActionContext[Note]) -> Patch:
    """What it was told becomes state."""
    return Set("notes", [*ctx.state["notes"], ctx.input.text])


async def _echo(said: Any) -> Any:
    return {"you said": said}


class Recalls:
    """Reads the records that it is told to, through a handle."""

    def __init__(self) -> None:
        self.memory: Memory[Any] | None = None
        self.ids: list[str] = []
        self.meanwhile: Callable[[], Awaitable[Any]] | None = None

    async def recall(self, query: MemoryQuery) -> Any:
        """Their data."""
        del query
        assert self.memory is not None
        if self.meanwhile is not None:
            act, self.meanwhile = self.meanwhile, None
            await act()
        found = [await self.memory.records.get(id) for id in self.ids]
        return [one.data for one in found if one is not None] or None

    async def remember(self, experience: MemoryExperience) -> None:
        """It learns nothing."""
