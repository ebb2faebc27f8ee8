"""Recalls: who asked what, what was chosen and why, and what was left out just below the line."""

from typing import Any, Final

from memoranda.errors import InvalidFilter, MemorandaError
from memoranda.surfaces.console.view import View, redirect
from memoranda.surfaces.http.messages import HttpAnswer

PAGE: Final = 20
_MOST: Final = 20


async def show(view: View) -> HttpAnswer:
    """The newest recalls."""
    page = await view.ask(
        "journal.latest", what="recall", previous=view.query.get("previous") or None, limit=PAGE
    )
    return view.show("recalls.html", page=page, first=not view.query.get("previous"))


async def ask(view: View) -> HttpAnswer:
    """Ask another question; like every recall it is on record before it is shown."""
    query = view.said("query")
    if query is None:
        raise InvalidFilter("query", "ask something")
    top_k = view.said("topK") or "5"
    if not top_k.isdecimal() or not 0 < int(top_k) <= _MOST:
        raise InvalidFilter("topK", f"it is a number up to {_MOST}")
    found = await view.ask("recall", query=query, top_k=int(top_k))
    return redirect("/recall", id=found.trace_id)


async def show_one(view: View) -> HttpAnswer:
    """A recall explained."""
    id = view.query.get("id", "")
    why = await view.ask("why", id=id)
    below = [
        {**left_out, "now": await _now(view, left_out["id"])}
        for left_out in why.known.get("below", ())
    ]
    world = str(why.known.get("atWorld", ""))
    # Before anything was run, the world is one that is named, and was never written.
    has_world = bool(world and await view.ask("journal.ids", prefix=world, kinds=["world"]))
    best = max((part.known.get("score") or 0 for part in why.parts), default=0)
    return view.show(
        "recall.html", id=id, why=why, below=below, best=best or 1, has_world=has_world
    )


async def _now(view: View, id: str) -> Any:
    """What a memory says now; None where it can't be read any more."""
    try:
        return await view.ask("get", id=id, include=["expired", "invalidated", "superseded"])
    except MemorandaError:
        return None


async def show_original(view: View) -> HttpAnswer:
    """What a reference leads to, loaded and verified now."""
    original = await view.ask("journal.original", ref=view.query.get("ref", ""))
    return view.show("original.html", ref=view.query.get("ref", ""), original=original)
