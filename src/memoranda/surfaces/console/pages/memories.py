"""Memories: what is known, found as recall finds it; and one of them, with all of its past."""

from typing import Any, Final

from memoranda.errors import EntryDamaged, InvalidRecord, RecordNotFound
from memoranda.surfaces.console.differing import changes, pieces
from memoranda.surfaces.console.drawings import time_line
from memoranda.surfaces.console.pages.intact import intact_memories, intact_versions
from memoranda.surfaces.console.pages.journal import DamagedEntry, number_of
from memoranda.surfaces.console.view import View, redirect
from memoranda.surfaces.http.messages import HttpAnswer
from memoranda.types import SystemClock

PAGE: Final = 25
HIDDEN: Final = ("expired", "false", "invalidated", "archived", "superseded")


async def show(view: View) -> HttpAnswer:
    """A page of what is current, or what a question finds, the best first."""
    query = view.query.get("q", "").strip()
    tag = view.query.get("tag", "").strip() or None
    tags = None if tag is None else [tag]
    if query:
        found = await view.ask("recall", query=query, top_k=PAGE, tags=tags)
        return view.show("memories.html", q=query, tag=tag, found=found)
    include = HIDDEN if view.query.get("all") == "1" else ()
    newest = (await view.ask("journal.head")).size - 1
    at = number_of(view, "at", None)
    if at is not None and at >= newest:
        at = None
    shown = {"q": "", "tag": tag, "all": bool(include), "at": at, "newest": newest}
    before = number_of(view, "before", None)
    if before is None:
        try:
            page = await view.ask(
                "list",
                limit=PAGE,
                cursor=view.query.get("cursor") or None,
                tags=tags,
                include=list(include) or None,
                at=at,
            )
            return view.show("memories.html", page=page, **shown)
        except EntryDamaged:
            pass  # then what is not damaged is looked for, below
    rest = await intact_memories(
        view,
        include=include,
        before=before,
        at=at,
        fits=lambda one: tag is None or tag in one.tags,
    )
    return view.show("memories.html", page=rest.page, rest=rest, **shown)


async def remember(view: View) -> HttpAnswer:
    """Remember a text."""
    text = view.said("data")
    if text is None:
        raise InvalidRecord("$.data", "say what is to be remembered")
    tags = [tag.strip() for tag in (view.said("tags") or "").split(",") if tag.strip()]
    receipt = await view.ask(
        "remember",
        data=text,
        source=view.said("source"),
        subject=view.said("subject"),
        tags=tags or None,
        reason=view.said("reason"),
    )
    return redirect("/memory", id=receipt.id)


async def show_one(view: View) -> HttpAnswer:
    """A memory: what it says, every version, when it holds, and what was known at some entry."""
    id = view.query.get("id", "")
    try:
        history = await view.ask("history", id=id)
        why = await view.ask("why", id=id)
    except EntryDamaged as met:
        damaged = [DamagedEntry(met.entry, met.why)]
        versions = await intact_versions(view, id)
        return view.show("damaged_memory.html", id=id, damaged=damaged, versions=versions)
    versions = [event for event in history if event.remembered is not None]
    at = view.query.get("at", "")
    seen = int(at) if at.isdecimal() else history[-1].seq
    then = [event for event in history if event.seq <= seen]
    return view.show(
        "memory.html",
        id=id,
        history=list(reversed(_compared(history))),
        newest=history[-1],
        shown=then[-1] if then else None,
        at=seen,
        steps=[event.seq for event in history],
        line=time_line([_times(event) for event in versions], SystemClock().now_ms())
        if versions
        else None,
        why=why,
    )


def _times(event: Any) -> dict[str, Any]:
    said = event.remembered
    return {
        "version": event.version,
        "at": event.at,
        "valid_from": said.valid_from,
        "valid_to": said.valid_to,
    }


def _compared(history: Any) -> list[dict[str, Any]]:
    """Each step with what differs from the one before."""
    found, before = [], None
    for event in history:
        step: dict[str, Any] = {"event": event, "pieces": None, "changes": None}
        now = event.remembered
        if now is not None and before is not None and before.said != now.said:
            if isinstance(now.said, str) and isinstance(before.said, str):
                step["pieces"] = pieces(before.said, now.said)
            else:
                step["changes"] = list(changes(before.said, now.said))
        before = now or before
        found.append(step)
    return found


async def change(view: View) -> HttpAnswer:
    """Correct, forget or approve a memory."""
    id = view.said("id") or ""
    reason = view.said("reason")
    match view.form.get("do"):
        case "correct":
            version = int(view.form.get("version", "0"))
            data = view.said("data")
            if data is None:
                raise InvalidRecord("$.data", "say what it is to say")
            await view.ask("update", id=id, patch=data, expected_version=version, reason=reason)
        case "forget":
            await view.ask("forget", id=id, reason=reason or "")
        case "approve":
            verdict = view.said("verdict")
            await view.ask("govern.approve", id=id, reason=reason or "", verdict=verdict)
        case _:
            raise RecordNotFound(id)
    return redirect("/memory", id=id)
