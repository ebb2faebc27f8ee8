"""Records in words: receipts, history, recalls, erasures, imports, entries."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.surfaces.cli.options import short_id
from memoranda.surfaces.cli.present import (
    WIDE,
    blocks,
    console,
    counted,
    details,
    item,
    plain,
    shows,
    statement,
    table,
    when,
)
from memoranda.surfaces.errors import NOT_IN_STATE, NOT_SOUND
from memoranda.types import (
    EntryProof,
    ErasureCertificate,
    ErasureCounts,
    Event,
    ImportReport,
    Item,
    JournalEntry,
    Learned,
    MovedIn,
    Original,
    Recalled,
    Receipt,
    Remembered,
)

ERASED: Final = "[erased]"
NAMED: Final = 10
"""How many receipts or tombstones are named for people; the JSON names all."""
_OUTCOMES: Final = {"found": "green", "empty": "", "degraded": "yellow", "failed": "bold red"}


def shown_id(id: str) -> str:
    """An id in a table: whole where there is room for it."""
    return plain(id) if console().width >= WIDE else short_id(plain(id))


# ---------------------------------------------------------------------------- receipts


def _receipt(done: str, given: Receipt) -> RenderableType:
    dropped = counted(given.dropped_sources or 0, "source")
    lost = f"{dropped} of the statement before: name its own with --source"
    return details(
        [
            (done, given.id),
            ("version", given.version),
            ("entry", given.seq),
            ("hash", given.entry_hash),
            ("dropped", lost if given.dropped_sources else None),
        ]
    )


def receipts(done: str, given: Sequence[Receipt]) -> RenderableType:
    """What was done, by its receipts; where several belong together, with a word for each."""
    if len(given) <= len(done.split("|")):
        words = done.split("|")
        return blocks(_receipt(word, receipt) for word, receipt in zip(words, given, strict=True))
    lines = [Text(plain(receipt.id)) for receipt in given[:NAMED]]
    if len(given) > NAMED:
        lines.append(Text(f"and {len(given) - NAMED:,} more: --json names all of them"))
    entries = f"entries {given[0].seq:,} to {given[-1].seq:,}"
    return Group(*lines, Text(f"{done} {counted(len(given), 'thing')}, {entries}", "bold"))


@shows(Learned)
def _learned(found: Learned) -> RenderableType:
    """A line for each fact, and the proposals that wait; the rest in numbers."""
    lines = [
        *[("+ ", fact.text) for fact in found.learned],
        *[("= ", f"{seen.text} (said again: {seen.count:,})") for seen in found.seen_again],
        *[("? ", f"{fact.text} (waits: {fact.proposal_id})") for fact in found.proposed],
    ]
    said = f"learned {counted(len(found.learned), 'fact')}, {len(found.seen_again):,} seen again, "
    said += f"{len(found.proposed):,} proposed, {counted(len(found.skipped), 'message')} skipped"
    return Group(*[item(mark, plain(line)) for mark, line in lines], Text(said, "bold"))


# ----------------------------------------------------------------------------- records


def _records(found: Sequence[Remembered[Any]]) -> RenderableType:
    if all(each.status == "active" for each in found):
        rows = [[shown_id(each.id), each.version, statement(each.data)] for each in found]
        return table("id, v#, says…", rows)
    rows = [[shown_id(each.id), each.version, each.status, statement(each.data)] for each in found]
    return table("id, v#, status, says…", rows)


@shows(Remembered, table=_records)
def _remembered(found: Remembered[Any]) -> RenderableType:
    has_validity = found.valid_from is not None or found.valid_to is not None
    validity = f"from {when(found.valid_from)} to {when(found.valid_to)}"
    is_updated, has_expiry = found.updated_at != found.created_at, found.expires_at is not None
    return details(
        [
            ("id", found.id),
            ("says", statement(found.data)),
            ("version", found.version),
            ("status", found.status),
            ("type", f"{found.statement_type}, {found.verdict}, {found.trust}"),
            ("created", when(found.created_at)),
            ("updated", when(found.updated_at) if is_updated else None),
            ("valid", validity if has_validity else None),
            ("expires", when(found.expires_at) if has_expiry else None),
            *[("source", str(source.get("uri"))) for source in found.sources],
            ("said again", _said_again(found)),
            ("subject", found.subject),
            ("tags", found.tags),
            ("meta", dict(found.meta or {})),
            ("hash", found.hash.removeprefix("sha256:")),
        ]
    )


def _said_again(found: Remembered[Any]) -> str | None:
    if not found.seen_again:
        return None
    return f"{counted(found.seen_again, 'time')}, last learned {when(found.last_seen_at)}"


def history(events: Sequence[Event[Any]]) -> RenderableType:
    """The life of a record, a step a line, with what it said then."""
    rows = [
        [event.version, event.act, when(event.at), event.actor, _said(event)] for event in events
    ]
    return table("v#, did, at, by, said+", rows)


shows(Event, table=history)(lambda event: history([event]))


def _said(event: Event[Any]) -> Text:
    said = Text(ERASED if event.remembered is None else statement(event.remembered.data))
    if event.reason:
        said.append(f"\nwhy: {plain(event.reason)}", "italic")
    return said


# ----------------------------------------------------------------------------- recalls


@shows(Recalled, exit_status=lambda found: NOT_IN_STATE * (found.outcome == "failed"))
def _recalled(found: Recalled[Any]) -> RenderableType:
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
                "Nothing was found. Ask in other words (words are compared, and meanings where a "
                "model is installed), ask for less with fewer filters, or look through "
                "'memoranda list'.",
            )
        )
    return Group(*parts)


def _item(number: int, one: Item[Any]) -> RenderableType:
    mark = f"{number:>2}. "
    below = " " * len(mark)
    line = Text(f"id {plain(one.id)}; {one.sureness} ({one.confidence:.2f}); {one.trust}; ", "dim")
    line.append_text(_verified(one.why_not_verified))
    said = item(mark, statement(one.data))
    return Group(said, item(below, plain(one.reason), "dim"), item(below, line))


@shows(Original)
def _original(found: Original[Any]) -> RenderableType:
    if found.record is not None:
        return Group(_remembered(found.record), _verified(found.why_not))
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


@shows(ErasureCertificate)
def _certificate(given: ErasureCertificate) -> RenderableType:
    parts: list[RenderableType] = [
        details(
            [
                ("would be erased" if given.is_dry_run else "erased", in_numbers(given.counts)),
                ("reason", given.reason),
                ("cause", given.cause),
                ("by", given.actor),
                ("at", when(given.at)),
                ("journal", given.origin),
                ("to do", given.to_do),
            ]
        )
    ]
    parts += [
        Text(f"\ntombstone {plain(tombstone.id)}, entry {tombstone.seq:,}\n{tombstone.entry_hash}")
        for tombstone in given.tombstones[:NAMED]
    ]
    more = len(given.tombstones) - NAMED
    if more > 0:
        parts.append(Text(f"\nand {more:,} more: --json names all of them"))
    return Group(*parts)


# ----------------------------------------------------------------------------- journal


@shows(ImportReport)
def _imported(report: ImportReport) -> RenderableType:
    parts: list[RenderableType] = []
    if report.refused:
        rows = [[line.line, str(line)] for line in report.refused]
        parts += [table("line#, why it is refused+", rows), Text()]
    parts += [Text(plain(f"log: {fault}")) for fault in report.log]
    done = "would come in" if report.is_dry_run else "came in, untrusted"
    parts.append(
        Text(
            f"{counted(report.objects, 'object')} with {counted(report.versions, 'version')} "
            f"{done}; {counted(len(report.refused), 'line')} of {report.lines:,} refused."
        )
    )
    return Group(*parts)


@shows(MovedIn)
def _moved_in(report: MovedIn) -> RenderableType:
    named = [*report.refused, *report.left_out]
    parts: list[RenderableType] = []
    if named:
        rows = [
            [line.line, "refused" if line in report.refused else "left out", str(line)]
            for line in named
        ]
        parts += [table("line#, what, why+", rows), Text()]
    counts = (
        f"{report.format}, {report.read:,} read: {report.new:,} new, {report.changed:,} changed, "
        f"{report.unchanged:,} unchanged, {len(report.left_out):,} left out, "
        f"{len(report.refused):,} refused."
    )
    parts += [Text(counts), *([Text("Nothing was written.")] if report.is_dry_run else [])]
    return Group(*parts)


def _entries(found: Sequence[JournalEntry]) -> RenderableType:
    return table("entry#, kind, at, by, about+", map(entry_cells, found))


shows(JournalEntry, table=_entries)(lambda entry: _entries([entry]))


def entry_cells(entry: JournalEntry) -> list[str]:
    """An entry, as the cells of a row."""
    body = entry.body
    about = ERASED if body is None else plain(str(body.get("id") or body.get("type") or ""))
    return [f"{entry.seq:,}", entry.kind, when(entry.at), plain(entry.actor), about]


@shows(EntryProof, exit_status=lambda proof: NOT_SOUND * (not proof.holds))
def _proof(found: EntryProof) -> RenderableType:
    holds = Text("yes", "green") if found.holds else Text("NO", "bold red")
    return details(
        [
            ("entry", f"{found.seq:,} of {found.size:,}"),
            ("holds", holds),
            ("root", found.root),
        ]
    )
