"""What is remembered, as it is shown: receipts, objects, their history."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.remembered import Event, Remembered
from memoranda.surfaces.cli.present import (
    console,
    counted,
    details,
    listing,
    plain,
    print_json,
    statement,
    when,
)

ERASED = "[erased]"


def show_receipt(done: str, receipt: Receipt, *, json: bool) -> None:
    """What was written, and where it stands in the journal."""
    if json:
        print_json(receipt_as_json(receipt))
    else:
        console().print(receipt_in_words(done, receipt))


def receipt_as_json(receipt: Receipt) -> dict[str, Any]:
    """A receipt."""
    return {
        "id": receipt.id,
        "version": receipt.version,
        "entry_hash": receipt.entry_hash,
        "size": receipt.size,
        **({"dropped_sources": receipt.dropped_sources} if receipt.dropped_sources else {}),
    }


def receipt_in_words(done: str, receipt: Receipt) -> Table:
    """A receipt for people."""
    rows = [
        (done, plain(receipt.id)),
        ("version", str(receipt.version)),
        ("entry", f"{receipt.seq:,}"),
        ("hash", receipt.entry_hash),
    ]
    if receipt.dropped_sources:
        dropped = counted(receipt.dropped_sources, "source")
        rows.append(("dropped", f"{dropped} of the statement before: name its own with --source"))
    return details(rows)


# ---------------------------------------------------------------------------- objects


def as_json(found: Remembered[Any]) -> dict[str, Any]:
    """One version of an object; times are milliseconds since 1970."""
    return {
        "id": found.id,
        "version": found.version,
        "data": found.data,
        "status": found.status,
        "statement_type": found.statement_type,
        "verdict": found.verdict,
        "trust": found.trust,
        "sources": [dict(source) for source in found.sources],
        "created_at": found.created_at,
        "updated_at": found.updated_at,
        "valid_from": found.valid_from,
        "valid_to": found.valid_to,
        "expires_at": found.expires_at,
        "subject": found.subject,
        "tags": list(found.tags),
        "meta": dict(found.meta),
        "hash": found.hash,
    }


def in_words(found: Remembered[Any]) -> Table:
    """One version of an object, whole."""
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


def table_of(found: Sequence[Remembered[Any]]) -> Table:
    """Many objects, a line each: their ids whole, what they say as far as it fits."""
    table = listing()
    table.add_column("id", overflow="fold", max_width=36)
    table.add_column("v", justify="right", no_wrap=True)
    has_status = any(one.status != "active" for one in found)
    if has_status:
        table.add_column("status", no_wrap=True)
    table.add_column("says", ratio=1, no_wrap=True, overflow="ellipsis")
    for one in found:
        status = [one.status] if has_status else []
        says = Text(statement(one.data))
        table.add_row(Text(plain(one.id)), str(one.version), *status, says)
    return table


# ---------------------------------------------------------------------------- history


def event_as_json(event: Event[Any]) -> dict[str, Any]:
    """One step in the life of an object."""
    return {
        "version": event.version,
        "entry": event.seq,
        "event": event.kind,
        "at": event.at,
        "actor": event.actor,
        "reason": event.reason,
        "object": None if event.remembered is None else as_json(event.remembered),
    }


def history_of(events: Sequence[Event[Any]]) -> Table:
    """The life of an object, a step a line, with what it said then."""
    table = listing()
    table.add_column("v", justify="right", no_wrap=True)
    table.add_column("event", no_wrap=True)
    table.add_column("at", no_wrap=True)
    table.add_column("by", overflow="fold", max_width=18)
    table.add_column("what it said; why", ratio=1, overflow="fold")
    for event in events:
        told = Text(ERASED if event.remembered is None else statement(event.remembered.data))
        if event.reason:
            told.append(f"\nwhy: {plain(event.reason)}", "italic")
        table.add_row(
            str(event.version), event.kind, when(event.at), Text(plain(event.actor)), told
        )
    return table
