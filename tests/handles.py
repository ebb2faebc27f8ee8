"""Handles for tests: opened with whatever a test wants to be its own, and looked into."""

from dataclasses import fields
from typing import Any

import memoranda
from memoranda.app.opening import Opening
from memoranda.app.parts import Parts
from memoranda.kernel.clock import Clock, IdSource, Randomness

_APP = {field.name for field in fields(memoranda.App)}


def opened(
    url: str | None = None,
    *,
    clock: Clock | None = None,
    ids: IdSource | None = None,
    randomness: Randomness | None = None,
    **options: Any,
) -> Opening[Any]:
    """A handle, with clock, ids and what its app runs with named one by one."""
    given: dict[str, Any] = {"clock": clock, "randomness": randomness, "ids": ids}
    clockwork = memoranda.Clockwork(**{k: v for k, v in given.items() if v is not None})
    names = _APP & options.keys()
    if not hasattr(options.get("model"), "complete"):
        names -= {"model"}  # what its data are, and none that answers
    app = memoranda.App(**{name: options.pop(name) for name in names})
    return memoranda.open(url, app=app, clockwork=clockwork, **options)


def inside(memory: memoranda.Memory[Any]) -> Parts[Any]:
    """What a handle works with."""
    return memory._handle.parts


def verb(memory: memoranda.Memory[Any], name: str) -> Any:
    """A verb by its name: the handle's own, or that of the group that has it."""
    places: list[object] = [memory, memory.govern, memory.worlds, memory.maintain, memory.journal]
    return next(getattr(one, name) for one in places if hasattr(one, name))
