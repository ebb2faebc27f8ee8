"""Ids by the beginning that only one of them has, and short ids for narrow tables.

A short id is a beginning, or a beginning and an end with ``…`` between them: whatever a table shows
can be given to a command.
"""

import re
from enum import Enum
from typing import Any, Final

from memoranda.app.memory import Memory
from memoranda.surfaces.cli.errors import wrong_use

MOST: Final = 10
"""So many candidates are named where a beginning is not enough."""
_TIME_ORDERED: Final = re.compile(
    r"([0-9a-f]{8})-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{13}([0-9a-f]{4})"
)


class IdKind(Enum):
    """What an id is that of."""

    ANY = ()
    RECORD = ("record",)
    PROPOSAL = ("proposal",)
    DECIDED = ("proposal", "record")
    WORLD = ("world", "execution")
    ACTED = ("world", "execution", "proposal")
    RECALL = ("recall",)
    CYCLE = ("cycle",)


def short_id(id: str) -> str:
    """An id that was made in the order of time, shortened; another one as it is."""
    return _TIME_ORDERED.sub(r"\1…\2", id)


async def whole_id(memory: Memory[Any], given: Any, kind: IdKind) -> Any:
    """The only id that begins so; what was given where none does, because the verb says that."""
    if given is None:
        return None
    if isinstance(given, list):
        return [await whole_id(memory, one, kind) for one in given]
    start, _, end = given.replace("...", "…").partition("…")
    begin_so = await memory.journal.ids(start, kinds=kind.value) if start else []
    executions = {f"{id}:1" for id in begin_so}  # a proposal stands for its own
    candidates = [id for id in begin_so if id.endswith(end) and id not in executions]
    if not candidates:
        return given
    if len(candidates) == 1:
        return candidates[0]
    named = ", ".join(candidates[:MOST])
    more = f" and {len(candidates) - MOST} more" if len(candidates) > MOST else ""
    raise wrong_use(f"{given!r} is the beginning of several ids; give more of one: {named}{more}.")
