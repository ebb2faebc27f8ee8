"""Erasure: what would go, then the certificate of what went."""

from typing import Any, Final

from memoranda.errors import InvalidRecord
from memoranda.surfaces.console.pages.journal import DamagedEntry, newest, number_of
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import HttpAnswer

LATELY: Final = 20


async def show(view: View) -> HttpAnswer:
    """The form, and the erasures of late."""
    return await _page(view, subject=view.query.get("subject", ""), id=view.query.get("id", ""))


async def _page(view: View, **values: Any) -> HttpAnswer:
    before = number_of(view, "before", None)
    lately, following = await newest(
        view, kinds=["erasure", "archive"], before=before, limit=LATELY
    )
    erased = [entry for entry in lately if _is_erasure(entry)]
    filled = {"subject": "", "id": "", "reason": "", "dry": None, "done": None, **values}
    return view.show("erasure.html", lately=erased, next=following, **filled)


def _is_erasure(entry: Any) -> bool:
    """Whether it says what an erasure took: the last entry of each does."""
    if isinstance(entry, DamagedEntry):
        return False
    return entry.body is not None and "certificate" in entry.body


async def erase(view: View) -> HttpAnswer:
    """Count what would go; with the word typed out, let it go for good."""
    subject, id, reason = view.said("subject"), view.said("id"), view.said("reason")
    asked = {"subject": subject, "id": id, "reason": reason or ""}
    given = {name: value or "" for name, value in asked.items()}
    if view.form.get("do") == "erase":
        if view.form.get("confirm", "").strip() != (subject or id):
            raise InvalidRecord("$.confirm", "type the person, or the id, once more")
        done = await view.ask("erase", **asked)
        view.console.audits.pop(view.principal.scope, None)
        return await _page(view, done=done)
    dry = await view.ask("erase", **asked, dry_run=True)
    return await _page(view, dry=dry, **given)
