"""Worlds: how each branch came about, and one world with what made it."""

from typing import Any, Final

from memoranda.app.surfaces import MAIN
from memoranda.errors import MemorandaError, RecordNotFound
from memoranda.surfaces.console.differing import changes
from memoranda.surfaces.console.drawings import lineage_picture
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import HttpAnswer

STEPS: Final = 30
BRANCHES: Final = 8


async def show(view: View) -> HttpAnswer:
    """The lineage of all branches, the newest world on top."""
    heads = sorted(await view.ask("worlds.branches"), key=lambda head: head.name != MAIN)
    branches = {
        head.name: await view.ask("worlds.lineage", name=head.name, limit=STEPS)
        for head in heads[:BRANCHES]
    }
    return view.show(
        "worlds.html", heads=heads, picture=lineage_picture(branches), branches=list(branches)
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
