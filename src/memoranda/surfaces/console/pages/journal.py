"""The journal: browsed backwards, followed live, and an entry with a proof to check oneself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from memoranda.errors import EntryDamaged, InvalidFilter, RecordNotFound
from memoranda.surfaces.console.shown import rendered
from memoranda.surfaces.console.streams import ConsoleStream
from memoranda.surfaces.console.view import View
from memoranda.surfaces.http.messages import EVENTS, HttpAnswer
from memoranda.types import JournalEntry

PAGE: Final = 40
FAMILIES: Final = {
    "memory": ("create", "consolidate", "invalidate", "archive"),
    "recalls": ("trace",),
    "actions": ("proposal", "decision", "execution", "effect", "world"),
    "turns": ("cycle", "learning"),
    "erasures": ("erasure",),
    "governance": ("policy_change", "conformance_break", "maintenance", "checkpoint", "job"),
}


async def show(view: View) -> HttpAnswer:
    """The newest entries, of all kinds or of a family."""
    family = view.query.get("family", "")
    kinds = list(FAMILIES.get(family, ()))
    before = number_of(view, "before", None)
    page, following = await newest(view, kinds=kinds, before=before, limit=PAGE)
    head = await view.ask("journal.head")
    return view.show(
        "journal.html",
        page=page,
        next=following,
        head=head,
        families=list(FAMILIES),
        family=family,
        before=before,
    )


@dataclass(frozen=True, slots=True)
class DamagedEntry:
    """An entry whose content is not what was written: it is named, and not shown."""

    seq: int
    why: str


async def newest(
    view: View, *, limit: int, kinds: Sequence[str] = (), before: int | None = None
) -> tuple[Sequence[JournalEntry | DamagedEntry], str | None]:
    """The newest entries, and where to go on; where one is damaged, all of them one by one."""
    asked: dict[str, Any] = {"kinds": list(kinds) or None, "before": before, "limit": limit}
    try:
        page = await view.ask("journal.backwards", **asked)
    except EntryDamaged:
        end = (await view.ask("journal.head")).size if before is None else before
        start = max(0, end - limit)
        rows = [await _one(view, seq) for seq in range(end - 1, start - 1, -1)]
        return rows, str(start) if start else None
    return page, page.next


async def _one(view: View, seq: int) -> JournalEntry | DamagedEntry:
    try:
        (entry,) = await view.ask("journal.entries", start=seq, limit=1)
    except EntryDamaged as damaged:
        return DamagedEntry(seq, damaged.why)
    return entry  # type: ignore[no-any-return]


async def show_one(view: View) -> HttpAnswer:
    """An entry, its body, and the proof that it stands where it says."""
    seq = number_of(view, "seq", 0) or 0
    try:
        entries = await view.ask("journal.entries", start=seq, limit=1)
    except EntryDamaged as met:
        size = (await view.ask("journal.head")).size
        damaged = [DamagedEntry(seq, met.why)]
        return view.show("damaged_entry.html", seq=seq, size=size, damaged=damaged)
    if not entries:
        raise RecordNotFound(str(seq))
    proof = await view.ask("journal.proof", seq=seq)
    status = await view.ask("govern.status")
    return view.show("entry.html", entry=entries[0], proof=proof, checkpoint=status.checkpoint)


def number_of(view: View, name: str, other: int | None) -> int | None:
    """The number of an entry that the address names."""
    given = view.query.get(name, "")
    if not given:
        return other
    if not given.isdecimal():
        raise InvalidFilter(name, "give the number of an entry, from 0")
    return int(given)


async def tail(view: View) -> ConsoleStream:
    """New entries as events, each a row of the table as HTML: it is escaped like everything."""
    stream = await view.stream("journal.tail", after=number_of(view, "after", None))

    def event(entry: Any) -> bytes:
        row = rendered("entry_row.html", view=view, words=view.words, entry=entry)
        lines = "".join(f"data: {line}\n" for line in row.splitlines() if line.strip())
        return f"id: {entry.seq}\nevent: entry\n{lines}\n".encode()

    return ConsoleStream(stream, event, {"content-type": EVENTS}, beats=True)
