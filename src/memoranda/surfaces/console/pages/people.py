"""People: everything that is remembered about somebody, one export, one erasure."""

from typing import Final
from urllib.parse import quote

from memoranda.surfaces.console.streams import ConsoleStream
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import NDJSON, HttpAnswer

PAGE: Final = 50


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
    """A person: what is remembered of them, in whatever status."""
    subject = view.query.get("id", "")
    page = await view.ask(
        "list", subject=subject, limit=PAGE, cursor=view.query.get("cursor") or None
    )
    return view.show("person.html", subject=subject, page=page)


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
