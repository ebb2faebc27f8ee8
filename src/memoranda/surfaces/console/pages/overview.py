"""The overview: is it sound, what happened, who is waited for, what is done in the background."""

from typing import Final

from memoranda.surfaces.console.drawings import activity_chart
from memoranda.surfaces.console.pages.journal import newest
from memoranda.surfaces.console.view import LastAudit, View, redirect
from memoranda.surfaces.http.messages import HttpAnswer
from memoranda.types import SystemClock

DAYS: Final = 28
SMALL: Final = 20_000
"""A journal of up to so many entries is verified when somebody looks at it: it takes a second."""
_NEWEST: Final = 8
_DAY_MS: Final = 24 * 60 * 60 * 1000


async def show(view: View) -> HttpAnswer:
    """The page; nothing on it walks the journal."""
    status = await view.ask("govern.status")
    now = SystemClock().now_ms()
    end = (now // _DAY_MS + 1) * _DAY_MS
    activity = await view.ask("journal.activity", since=end - DAYS * _DAY_MS, until=end, parts=DAYS)
    last = view.console.audits.get(view.principal.scope)
    return view.show(
        "overview.html",
        status=status,
        chart=activity_chart(activity),
        days=DAYS,
        last=last,
        verifies_now=last is None and 0 < status.size <= SMALL,
        covered=_covered(status.checkpoint),
        waiting=await view.ask("inbox.list"),
        jobs=await view.ask("maintain.status"),
        newest=(await newest(view, limit=_NEWEST))[0],
    )


def _covered(checkpoint: str | None) -> int | None:
    """How many entries a checkpoint covers, as the second line of its note says."""
    return None if checkpoint is None else int(checkpoint.splitlines()[1])


async def verify(view: View) -> HttpAnswer:
    """Walk everything, and keep what was found for the badge."""
    audit = await view.ask("verify")
    view.console.audits[view.principal.scope] = LastAudit(audit, SystemClock().now_ms())
    return redirect("/")
