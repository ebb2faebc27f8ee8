"""People: everything that is remembered about somebody, one export, one erasure."""

from collections.abc import Collection
from typing import Any, Final
from urllib.parse import quote

from memoranda.errors import EntryDamaged
from memoranda.surfaces.console.pages.intact import intact_memories
from memoranda.surfaces.console.pages.journal import number_of
from memoranda.surfaces.console.pages.memories import HIDDEN
from memoranda.surfaces.console.streams import ConsoleStream
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import NDJSON, HttpAnswer

PAGE: Final = 50
LOOKED_AT: Final = 100
"""Of so many recalls, and turns and proposals, the newest, a page says which a person was in."""


async def show(view: View) -> HttpAnswer:
    """The people that memory is about, by name."""
    prefix = view.query.get("q", "").strip()
    page = await view.ask(
        "journal.subjects",
        prefix=prefix,
        previous=view.query.get("previous") or None,
        limit=PAGE,
    )
    return view.show("people.html", q=prefix, page=page)


async def show_one(view: View) -> HttpAnswer:
    """A person: what is remembered of them, also what is no longer current where that is asked."""
    subject = view.query.get("id", "")
    include = HIDDEN if view.query.get("all") == "1" else ()
    before = number_of(view, "before", None)
    shown = {"subject": subject, "all": bool(include)}
    if before is None:
        try:
            page = await view.ask(
                "list",
                subject=subject,
                limit=PAGE,
                cursor=view.query.get("cursor") or None,
                include=list(include) or None,
            )
            return view.show("person.html", page=page, **shown)
        except EntryDamaged:
            pass  # then what is not damaged is looked for, below
    rest = await intact_memories(
        view, include=include, before=before, fits=lambda one: one.subject == subject
    )
    return view.show("person.html", page=rest.page, rest=rest, **shown)


async def show_used(view: View) -> HttpAnswer:
    """The recalls, turns and proposals that a person, or what is known of them, was in.

    Each says in the journal what it was made from: memories, recalls, and whom it was about.
    """
    subject = view.query.get("id", "")
    known = await view.ask("list", subject=subject, limit=2 * LOOKED_AT)
    names = {f"subject/{subject}", *(one.id for one in known)}
    asked = {"recalls": "recall", "turns": "cycle", "proposals": "proposal"}
    groups: dict[str, dict[str, Any]] = {}
    for family, what in asked.items():
        previous = view.query.get(family) or None
        page = await view.ask("journal.latest", what=what, previous=previous, limit=LOOKED_AT)
        found = [one for one in page if _rests_on(one.documents, names)]
        if what == "recall":
            names |= {f"trace/{one.id}" for one in found}
        groups[family] = {"found": found, "looked_at": len(page), "next": page.next}
    return view.show("used.html", subject=subject, groups=groups)


def _rests_on(documents: Any, names: Collection[str]) -> bool:
    return any(not set(document.get("inputs", ())).isdisjoint(names) for document in documents)


async def export(view: View) -> ConsoleStream:
    """Everything about a person as lines of JSON: every version, with its integrity hash."""
    subject = view.query.get("id", "")
    lines = await view.stream("journal.export", kind="objects", subject=subject)
    name = quote(f"{subject}.ndjson", safe="")
    headers = {
        "content-type": NDJSON,
        "content-disposition": f"attachment; filename*=UTF-8''{name}",
    }
    return ConsoleStream(lines, bytes, headers)
