"""``memoranda remember``, ``memoranda update`` and ``memoranda revise``."""

import sys
from typing import Annotated, Any

import typer

from memoranda.app.memory import Memory
from memoranda.journeys.govern.receipts import Receipt
from memoranda.kernel.json import parse
from memoranda.ledger.object import VerdictType
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import show_receipt
from memoranda.surfaces.cli.options import (
    Actor,
    AppliesTo,
    AsJson,
    Data,
    Database,
    ExpectedVersion,
    Expires,
    Id,
    Jurisdiction,
    KeepSources,
    OptionalReason,
    Reason,
    RetryKey,
    Scope,
    Sources,
    StatementType,
    Subject,
    Tags,
    Temporal,
    ValidFrom,
    ValidTo,
    Verdict,
    Words,
    said_of,
)


def remember(
    text: Words = None,
    data: Data = None,
    id: Annotated[str | None, typer.Option("--id", help="Its id; by default a new one.")] = None,
    source: Sources = None,
    tag: Tags = None,
    subject: Subject = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    expires: Expires = None,
    jurisdiction: Jurisdiction = None,
    verdict: Verdict = "Unanswered",
    statement_type: StatementType = None,
    applicability_scope: AppliesTo = None,
    temporal_scope: Temporal = None,
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
            verdict=verdict,
            reason=reason,
            idempotency_key=key,
            **said_of(
                tag=tag,
                subject=subject,
                valid_from=valid_from,
                valid_to=valid_to,
                expires=expires,
                jurisdiction=jurisdiction,
                statement_type=statement_type,
                applicability_scope=applicability_scope,
                temporal_scope=temporal_scope,
            ),
        )

    show_receipt("remembered", Place(database, scope, actor).run(act, makes=True), json=json)


def update(
    id: Id,
    text: Words = None,
    data: Data = None,
    source: Sources = None,
    keep_sources: KeepSources = False,
    tag: Tags = None,
    subject: Subject = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    expires: Expires = None,
    jurisdiction: Jurisdiction = None,
    statement_type: StatementType = None,
    applicability_scope: AppliesTo = None,
    temporal_scope: Temporal = None,
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
    What is not named passes on, but for sources: those that are given with a statement are its own.
    """
    patch = said(text, data)

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.update(
            id,
            patch,
            source=source or None,
            keep_sources=keep_sources,
            expected_version=expected_version,
            reason=reason,
            idempotency_key=key,
            **said_of(
                tag=tag,
                subject=subject,
                valid_from=valid_from,
                valid_to=valid_to,
                expires=expires,
                jurisdiction=jurisdiction,
                statement_type=statement_type,
                applicability_scope=applicability_scope,
                temporal_scope=temporal_scope,
            ),
        )

    show_receipt("updated", Place(database, scope, actor).run(act), json=json)


def revise(
    id: Id,
    reason: Reason,
    verdict: Annotated[
        VerdictType | None, typer.Option(help="What is known of its truth by now.")
    ] = None,
    source: Sources = None,
    subject: Subject = None,
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    expires: Expires = None,
    jurisdiction: Jurisdiction = None,
    statement_type: StatementType = None,
    applicability_scope: AppliesTo = None,
    temporal_scope: Temporal = None,
    expected_version: ExpectedVersion = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Say something else of a statement that stays as it is: its verdict, sources, time, person.

    It becomes its next version. What is not named stays.
    """

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.revise(
            id,
            reason=reason,
            source=source or None,
            expected_version=expected_version,
            idempotency_key=key,
            **said_of(
                verdict=verdict,
                subject=subject,
                valid_from=valid_from,
                valid_to=valid_to,
                expires=expires,
                jurisdiction=jurisdiction,
                statement_type=statement_type,
                applicability_scope=applicability_scope,
                temporal_scope=temporal_scope,
            ),
        )

    show_receipt("revised", Place(database, scope, actor).run(act), json=json)


def said(text: str | None, data: str | None) -> Any:
    """What was given, as a text or as data, but not as both."""
    if (text is None) == (data is None):
        raise wrong_use("Give a TEXT, or --data with a JSON value.")
    if data is not None:
        return parse(data)
    return sys.stdin.read().removesuffix("\n") if text == "-" else text
