"""What is remembered, in words: receipts, records, their history, recalls, erasures, imports."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.app.journal import JournalEntry
from memoranda.journeys.audit.proving import EntryProof
from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
from memoranda.journeys.govern.importing import ImportReport
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.remembered import Event, Remembered
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.surfaces.cli.ids import short_id
from memoranda.surfaces.cli.present import (
    WIDE,
    Column,
    blocks,
    console,
    counted,
    details,
    item,
    plain,
    statement,
    table,
    when,
)

ERASED: Final = "[erased]"
NAMED: Final = 10
"""How many receipts or tombstones are named for people; the JSON names all."""
_OUTCOMES: Final = {"found": "green", "empty": "", "degraded": "yellow", "failed": "bold red"}


def shown_id(id: str) -> str:
    """An id in a table: whole where there is room for it."""
    return plain(id) if console().width >= WIDE else short_id(plain(id))


# ---------------------------------------------------------------------------- receipts


def receipt(done: str, given: Receipt) -> RenderableType:
    """What was written, and where it stands in the journal."""
    rows = [
        (done, plain(given.id)),
        ("version", str(given.version)),
        ("entry", f"{given.seq:,}"),
        ("hash", given.entry_hash),
    ]
    if given.dropped_sources:
        dropped = counted(given.dropped_sources, "source")
        rows.append(("dropped", f"{dropped} of the statement before: name its own with --source"))
    return details(rows)


def receipts(done: str, given: Sequence[Receipt]) -> RenderableType:
    """Two receipts each for itself; of more, the ids, and how many they are."""
    if len(given) <= len(done.split("|")):
        words = done.split("|")
        return blocks(receipt(word, one) for word, one in zip(words, given, strict=True))
    lines = [Text(plain(one.id)) for one in given[:NAMED]]
    if len(given) > NAMED:
        lines.append(Text(f"and {len(given) - NAMED:,} more: --json names all of them"))
    entries = f"entries {given[0].seq:,} to {given[-1].seq:,}"
    return Group(*lines, Text(f"{done} {counted(len(given), 'thing')}, {entries}", "bold"))


# ----------------------------------------------------------------------------- records


def remembered(found: Remembered[Any]) -> RenderableType:
    """One version of a record, whole."""
    rows: list[tuple[str, str]] = [
        ("id", plain(found.id)),
        ("says", statement(found.data)),
        ("version", str(found.version)),
        ("status", found.status),
        ("type", f"{found.statement_type}, {found.verdict}, {found.trust}"),
        ("created", when(found.created_at)),
    ]
    if found.updated_at != found.created_at:
        rows.append(("updated", when(found.updated_at)))
    if found.valid_from is not None or found.valid_to is not None:
        rows.append(("valid", f"from {when(found.valid_from)} to {when(found.valid_to)}"))
    if found.expires_at is not None:
        rows.append(("expires", when(found.expires_at)))
    rows += [("source", plain(str(source.get("uri")))) for source in found.sources]
    if found.subject is not None:
        rows.append(("subject", plain(found.subject)))
    if found.tags:
        rows.append(("tags", plain(", ".join(found.tags))))
    if found.meta:
        rows.append(("meta", statement(dict(found.meta))))
    rows.append(("hash", found.hash.removeprefix("sha256:")))
    return details(rows)


def records(found: Sequence[Remembered[Any]]) -> RenderableType:
    """Many records, a line each: what they say as far as it fits."""
    has_status = any(one.status != "active" for one in found)
    status = [Column("status")] if has_status else []
    return table(
        [Column("id"), Column("v", is_number=True), *status, Column("says", is_cut=True)],
        [
            [
                shown_id(one.id),
                str(one.version),
                *([one.status] if has_status else []),
                statement(one.data),
            ]
            for one in found
        ],
    )


def history(events: Sequence[Event[Any]]) -> RenderableType:
    """The life of a record, a step a line, with what it said then."""
    columns = ("v", "did", "at", "by")
    return table(
        [
            *(Column(name, is_number=name == "v") for name in columns),
            Column("said", is_text=True),
        ],
        [[str(one.version), one.act, when(one.at), plain(one.actor), _said(one)] for one in events],
    )


def _said(event: Event[Any]) -> Text:
    told = Text(ERASED if event.remembered is None else statement(event.remembered.data))
    if event.reason:
        told.append(f"\nwhy: {plain(event.reason)}", "italic")
    return told


# ----------------------------------------------------------------------------- recalls


def recalled(found: Recalled[Any]) -> RenderableType:
    """What was found and why, with the id of each; where nothing was, what to try."""
    head = Text(found.outcome, _OUTCOMES[found.outcome])
    head.append(f"  {found.trace_id}", "dim")
    parts: list[RenderableType] = [head]
    notes = (*found.notes, *([found.error] if found.error else []))
    parts += [item("  ", plain(note), _OUTCOMES[found.outcome]) for note in notes]
    parts += [_item(number, one) for number, one in enumerate(found.selected_items, 1)]
    if found.outcome == "empty":
        parts.append(
            item(
                "",
                "Nothing was found. Ask in other words (words are compared, not meanings, unless "
                "--selector hybrid has an embedder), ask for less with fewer filters, or look "
                "through 'memoranda list'.",
            )
        )
    return Group(*parts)


def _item(number: int, one: Item[Any]) -> RenderableType:
    mark = f"{number:>2}. "
    below = " " * len(mark)
    line = Text(f"id {plain(one.id)}; {one.confidence:.2f} sure; {one.trust}; ", "dim")
    line.append_text(_verified(one.why_not_verified))
    said = item(mark, statement(one.data))
    return Group(said, item(below, plain(one.reason), "dim"), item(below, line))


def original(found: Original[Any]) -> RenderableType:
    """What a reference led to, and whether that is verified."""
    if found.record is not None:
        return Group(remembered(found.record), _verified(found.why_not))
    rows = [("world", found.ref.world_id), ("data", statement(found.data))]
    return Group(details(rows), _verified(found.why_not))


def _verified(why_not: str | None) -> Text:
    if why_not is None:
        return Text("verified", "green")
    return Text(f"not verified: {plain(why_not)}", "yellow")


# ---------------------------------------------------------------------------- erasures

_COUNTED: Final = {
    "versions": ("version", "versions"),
    "tags": ("tag", "tags"),
    "postings": ("word in the index", "words in the index"),
    "retries": ("retry", "retries"),
    "derivations": ("derivation", "derivations"),
    "vectors": ("vector", "vectors"),
    "traces": ("recall", "recalls"),
    "proposals": ("proposal", "proposals"),
    "contexts": ("frozen context", "frozen contexts"),
    "effects": ("effect", "effects"),
    "snapshots": ("snapshot", "snapshots"),
    "cycles": ("cycle", "cycles"),
    "recordings": ("recording", "recordings"),
    "items": ("item", "items"),
    "keywords": ("keyword of an item", "keywords of items"),
    "sessions": ("session", "sessions"),
}
"""How each kind is called, one and many."""


def in_numbers(counts: ErasureCounts) -> str:
    """How much goes, of what."""
    objects = f"{counted(counts.objects, 'object')} ({counts.derived:,} made from others)"
    kinds = [(getattr(counts, kind), names) for kind, names in _COUNTED.items()]
    parts = [counted(count, *names) for count, names in kinds if count]
    if not parts:
        return objects
    *most, last = parts
    rest = f"{', '.join(most)} and {last}" if most else last
    return f"{objects} with {rest}" if counts.objects else rest


def certificate(given: ErasureCertificate) -> RenderableType:
    """What was erased, or would be, and the first of the tombstones."""
    parts: list[RenderableType] = [
        details(
            [
                ("would be erased" if given.is_dry_run else "erased", in_numbers(given.counts)),
                ("reason", plain(given.reason)),
                ("cause", given.cause),
                ("by", plain(given.actor)),
                ("at", when(given.at)),
                ("journal", plain(given.origin)),
                *([] if given.to_do is None else [("to do", plain(given.to_do))]),
            ]
        )
    ]
    parts += [
        Text(f"\ntombstone {plain(one.id)}, entry {one.seq:,}\n{one.entry_hash}")
        for one in given.tombstones[:NAMED]
    ]
    more = len(given.tombstones) - NAMED
    if more > 0:
        parts.append(Text(f"\nand {more:,} more: --json names all of them"))
    return Group(*parts)


# ----------------------------------------------------------------------------- journal


def imported(report: ImportReport) -> RenderableType:
    """How much came in, and what was refused."""
    parts: list[RenderableType] = []
    if report.refused:
        rows = [[f"{one.line:,}", plain(str(one))] for one in report.refused]
        columns = [Column("line", is_number=True), Column("why it is refused", is_text=True)]
        parts += [table(columns, rows), Text()]
    parts += [Text(plain(f"log: {fault}")) for fault in report.log]
    done = "would come in" if report.is_dry_run else "came in, untrusted"
    parts.append(
        Text(
            f"{counted(report.objects, 'object')} with {counted(report.versions, 'version')} "
            f"{done}; {counted(len(report.refused), 'line')} of {report.lines:,} refused."
        )
    )
    return Group(*parts)


def entries(found: Sequence[JournalEntry]) -> RenderableType:
    """Entries of the journal, a line each."""
    columns = [
        Column("entry", is_number=True),
        *map(Column, ("kind", "at", "by")),
        Column("about", is_text=True),
    ]
    return table(columns, [entry_cells(one) for one in found])


def entry_cells(entry: JournalEntry) -> list[str]:
    """An entry, as the cells of a row."""
    body = entry.body
    about = ERASED if body is None else plain(str(body.get("id") or body.get("type") or ""))
    return [f"{entry.seq:,}", entry.kind, when(entry.at), plain(entry.actor), about]


def proof(found: EntryProof) -> RenderableType:
    """Whether the proof of an entry holds, and under which root."""
    holds = Text("yes", "green") if found.holds else Text("NO", "bold red")
    return details(
        [
            ("entry", f"{found.seq:,} of {found.size:,}"),
            ("holds", holds),
            ("root", found.root),
        ]
    )
