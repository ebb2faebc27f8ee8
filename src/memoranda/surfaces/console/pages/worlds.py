"""Worlds: how each branch came about, and one world with what made it."""

from typing import Any, Final

from memoranda.app.surfaces import MAIN
from memoranda.errors import MemorandaError, RecordNotFound
from memoranda.surfaces.console.differing import changes
from memoranda.surfaces.console.drawings import lineage_picture
from memoranda.surfaces.console.pages.journal import number_of
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import HttpAnswer

STEPS: Final = 30
"""So many steps of each branch are shown; further back, each page shows as many more again."""
MOST_STEPS: Final = 3840
BRANCHES: Final = 8
"""So many branches stand beside each other; of the others, each has a picture of its own."""


async def show(view: View) -> HttpAnswer:
    """The lineage of all branches, the newest world on top."""
    heads = sorted(await view.ask("worlds.branches"), key=lambda head: head.name != MAIN)
    branch = view.query.get("branch", "")
    steps = min(max(STEPS, number_of(view, "steps", STEPS) or STEPS), MOST_STEPS)
    shown = [branch] if branch else [head.name for head in heads[:BRANCHES]]
    branches = {name: await view.ask("worlds.lineage", name=name, limit=steps) for name in shown}
    has_more = any(len(lineage) == steps for lineage in branches.values())
    return view.show(
        "worlds.html",
        picture=lineage_picture(branches),
        branches=list(branches),
        others=[head.name for head in heads if head.name not in branches],
        branch=branch,
        older=2 * steps if has_more and steps < MOST_STEPS else None,
    )


async def show_one(view: View) -> HttpAnswer:
    """A world: its state, what changed, what was frozen in it, and its effects."""
    return await _world(view, view.query.get("id", ""), None)


async def replay(view: View) -> HttpAnswer:
    """Run it again from what was recorded, and show what came of it beside the world."""
    id = view.form.get("id", "")
    execution = view.said("execution")
    try:
        replayed: Any = await view.ask("worlds.replay", id=execution or id)
    except MemorandaError as refused:
        replayed = refused
    return await _world(view, id, replayed)


async def _world(view: View, id: str, replayed: Any) -> HttpAnswer:
    why = await view.ask("why", id=id)
    if why.what != "world":
        raise RecordNotFound(id)
    snapshot = await view.ask("worlds.restore", id=id)
    execution = next((part for part in why.parts if part.what == "execution"), None)
    differing = None
    parent = None if execution is None else str(execution.known.get("base", ""))
    if parent:
        try:
            before = await view.ask("worlds.restore", id=parent)
            differing = list(changes(before.data, snapshot.data))
        except MemorandaError:
            differing = None
    return view.show(
        "world.html",
        id=id,
        why=why,
        snapshot=snapshot,
        execution=execution,
        parent=parent,
        differing=differing,
        replayed=replayed,
        refused=isinstance(replayed, MemorandaError),
    )
