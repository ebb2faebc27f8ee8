"""What a verb crosses: the functions of memoranda that it calls, on every thread, in their order.

`python -m tests.project.docs.walks` prints them, for whoever mends docs/architecture.md.
"""

import asyncio
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any, Final

from pydantic import BaseModel

import memoranda
from memoranda.policies import IntentType, PolicyRule, PolicyRules
from memoranda.stores.sqlite import writer

_HOUSE: Final = Path(memoranda.__file__).parent
_INLINED: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""No functions to a reader, and from Python 3.12 on mostly no frames either."""


class Walk:
    """The functions that every recorded call of a verb crossed, by their first call.

    What only some calls crossed is what the writer's thread did in its spare time.
    """

    def __init__(self) -> None:
        self._calls: list[dict[tuple[str, str], None]] = []
        self._is_on = False

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """This block is a call: the functions that are called in it are noted."""
        self._calls.append({})
        self._is_on = True
        try:
            yield
        finally:
            self._is_on = False

    def note(self, frame: FrameType, event: str, _argument: object) -> None:
        """What a profiler is told: a function was called, or anything else."""
        code = frame.f_code
        if self._is_on and event == "call" and code.co_name not in _INLINED:
            self._calls[-1].setdefault((code.co_filename, code.co_qualname))

    @property
    def functions(self) -> list[str]:
        """Such as ``app.memory.Memory.remember``."""
        return [f"{module}.{name}" for module, name in self._steps()]

    @property
    def files(self) -> set[str]:
        """The modules that have these functions."""
        return {module for module, _ in self._steps()}

    def _steps(self) -> Iterator[tuple[str, str]]:
        first, *others = self._calls
        for step in first:
            file, name = step
            path = Path(file)
            if path.is_relative_to(_HOUSE) and all(step in other for other in others):
                yield ".".join(path.relative_to(_HOUSE).with_suffix("").parts), name


class Shelf(BaseModel):
    """The state of the domain that the run is on."""

    apples: int = 0


domain: Final = memoranda.Domain("shelf", "1", state=Shelf)


@domain.action
def pick(ctx: memoranda.ActionContext[Any]) -> memoranda.Set:
    return memoranda.Set("apples", ctx.state["apples"] + 1)


rules: Final = PolicyRules([PolicyRule(IntentType(["pick"]), "approve")], default="reject")
Verb = Callable[[memoranda.Memory[Any], str], Awaitable[object]]


async def remember(memory: memoranda.Memory[Any], text: str) -> object:
    return await memory.remember(text)


async def recall(memory: memoranda.Memory[Any], text: str) -> object:
    found = await memory.recall(text, top_k=3)
    assert found.outcome == "found"
    return found


async def act(memory: memoranda.Memory[Any], _text: str) -> object:
    run = await memory.act("pick")
    assert run.status == "completed"
    return run


VERBS: Final[dict[str, Verb]] = {"remember": remember, "recall": recall, "act": act}


def walked(name: str, folder: Path) -> Walk:
    """What a verb crosses in a SQLite file that is in use: it was called before.

    The profiler is set before the database is opened, so that the threads of the writer and of the
    readers have it as well. The disk counts as a quick one, whatever else the machine does: then a
    write that is alone runs where it is called.
    """
    walk = Walk()
    before, slow = sys.getprofile(), writer.SLOW_S
    writer.SLOW_S = inf  # type: ignore[misc]
    threading.setprofile(walk.note)
    sys.setprofile(walk.note)
    try:
        asyncio.run(_walk(VERBS[name], walk, folder / "walk.db"))
    finally:
        writer.SLOW_S = slow  # type: ignore[misc]
        sys.setprofile(before)
        threading.setprofile(None)
    return walk


async def _walk(verb: Verb, walk: Walk, file: Path) -> None:
    app = memoranda.App(domain=domain, authority=rules)
    async with memoranda.open(str(file), actor="agent:walker", app=app) as memory:
        for text in ("the first apple", "the second apple", "the third apple"):
            await memory.remember(text)
        await verb(memory, "an apple")
        for text in ("a fourth apple", "a fifth apple", "a sixth apple"):
            with walk.recorded():
                await verb(memory, text)


def main() -> None:
    """Print the functions that each verb crosses."""
    for name in VERBS:
        with tempfile.TemporaryDirectory() as folder:
            walk = walked(name, Path(folder))
        lines = [f"{name}: {len(walk.functions)} functions in {len(walk.files)} files"]
        lines += [f"{n:5}  {function}" for n, function in enumerate(walk.functions, 1)]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
