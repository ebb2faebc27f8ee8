"""``recollect remember`` and ``recollect update``."""

import sys
from typing import Annotated, Any

import typer

from recollect.app.memory import Memory
from recollect.journeys.govern.receipts import Receipt
from recollect.kernel.json import parse
from recollect.ledger.object import VerdictType
from recollect.surfaces.cli.errors import wrong_use
from recollect.surfaces.cli.handles import Place
from recollect.surfaces.cli.memories import show_receipt
from recollect.surfaces.cli.options import (
    Actor,
    AsJson,
    Data,
    Database,
    ExpectedVersion,
    Id,
    OptionalReason,
    RetryKey,
    Scope,
    Sources,
    Tags,
    Words,
)


def remember(
    text: Words = None,
    data: Data = None,
    id: Annotated[str | None, typer.Option("--id", help="Its id; by default a new one.")] = None,
    source: Sources = None,
    tag: Tags = None,
    subject: Annotated[
        str | None, typer.Option(help="The person it is about, for erasure.")
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option(metavar="TIME", help="From when it holds.")
    ] = None,
    valid_to: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Until when it holds, as 2026-12-31T23:59:59Z."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="From when it is not to be returned.")
    ] = None,
    jurisdiction: Annotated[str | None, typer.Option(help="Where it applies.")] = None,
    verdict: Annotated[
        VerdictType, typer.Option(help="What is known of its truth; Factual needs a source.")
    ] = "Unanswered",
    reason: OptionalReason = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Remember a text, or data. Prints a receipt once it is on the disk."""
    what = said(text, data)

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.remember(
            what,
            id=id,
            source=source or None,
            tags=tag or None,
            subject=subject,
            valid_from=valid_from,
            valid_to=valid_to,
            expires=expires,
            jurisdiction=jurisdiction,
            verdict=verdict,
            reason=reason,
            idempotency_key=key,
        )

    show_receipt("remembered", Place(database, scope, actor).run(act, makes=True), json=json)


def update(
    id: Id,
    text: Words = None,
    data: Data = None,
    expected_version: ExpectedVersion = None,
    reason: OptionalReason = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Make the next version of what is remembered; the versions before it are kept.

    The members of a JSON object are merged into it; a text, or other data, replaces what it said.
    """
    patch = said(text, data)

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.update(
            id, patch, expected_version=expected_version, reason=reason, idempotency_key=key
        )

    show_receipt("updated", Place(database, scope, actor).run(act), json=json)


def said(text: str | None, data: str | None) -> Any:
    """What was given, as a text or as data, but not as both."""
    if (text is None) == (data is None):
        raise wrong_use("Give a TEXT, or --data with a JSON value.")
    if data is not None:
        return parse(data)
    return sys.stdin.read().removesuffix("\n") if text == "-" else text
