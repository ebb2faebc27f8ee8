"""What can be read where some of it is damaged: the rest is shown, and the damage is named.

An operation that meets a damaged entry hands out nothing. So the page goes backwards through the
journal, and asks for each memory by itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from memoranda.errors import EntryDamaged, RecordNotFound
from memoranda.surfaces.console.pages.journal import FAMILIES, DamagedEntry, newest
from memoranda.surfaces.console.view import View

LOOKED_AT: Final = 40
_MOST_VERSIONS: Final = 20


@dataclass(frozen=True, slots=True)
class IntactMemories:
    """The memories of a stretch of the journal, what is damaged there, and where to go on."""

    page: Sequence[Any]
    damaged: Sequence[DamagedEntry]
    before: str | None


async def intact_memories(
    view: View,
    *,
    include: Sequence[str],
    before: int | None,
    at: int | None = None,
    fits: Callable[[Any], bool] = lambda _: True,
) -> IntactMemories:
    """The memories that were written there and can be read, as of now or of an entry."""
    if at is not None:
        before = min(at + 1, at + 1 if before is None else before)
    kinds = FAMILIES["memory"]
    rows, following = await newest(view, kinds=kinds, before=before, limit=LOOKED_AT)
    found: dict[str, Any] = {}
    damaged: dict[int, DamagedEntry] = {}
    for row in rows:
        if isinstance(row, DamagedEntry):
            damaged[row.seq] = row
            continue
        id = str((row.body or {}).get("id", "")) if row.kind in kinds else ""
        if not id or id in found:
            continue
        try:
            found[id] = await view.ask("get", id=id, include=list(include) or None, at=at)
        except EntryDamaged as met:
            damaged[met.entry] = DamagedEntry(met.entry, met.why)
    page = [one for one in found.values() if one is not None and fits(one)]
    return IntactMemories(page, list(damaged.values()), following)


async def intact_versions(view: View, id: str) -> list[tuple[int, Any]]:
    """Each version of a memory by its number: what it says, or how it is damaged."""
    found: list[tuple[int, Any]] = []
    for number in range(1, _MOST_VERSIONS + 1):
        try:
            found.append((number, await view.ask("journal.object", id=id, version=number)))
        except EntryDamaged as met:
            found.append((number, DamagedEntry(met.entry, met.why)))
        except RecordNotFound:
            break
    return found
