"""``memoranda forget``, ``archive``, ``reinstate``, ``supersede``: with a reason, and not final."""

from typing import Any

from memoranda.app.memory import Memory
from memoranda.journeys.govern.receipts import Receipt
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import receipt_as_json, receipt_in_words, show_receipt
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
    OptionalCause,
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
from memoranda.surfaces.cli.present import console, print_json
from memoranda.surfaces.cli.remember import said


def forget(
    id: Id,
    reason: Reason,
    cause: OptionalCause = None,
    expected_version: ExpectedVersion = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Say that something is not to be used any more; its history keeps it."""

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.forget(
            id,
            reason=reason,
            cause=cause or "user_request",
            expected_version=expected_version,
            idempotency_key=key,
        )

    show_receipt("forgotten", Place(database, scope, actor).run(act), json=json)


def archive(
    id: Id,
    reason: Reason,
    cause: OptionalCause = None,
    expected_version: ExpectedVersion = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Put something away: it is no longer returned, and what refers to it still finds it."""

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.archive(
            id,
            reason=reason,
            cause=cause or "obsolescence",
            expected_version=expected_version,
            idempotency_key=key,
        )

    show_receipt("archived", Place(database, scope, actor).run(act), json=json)


def reinstate(
    id: Id,
    reason: Reason,
    expected_version: ExpectedVersion = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Make what was forgotten or archived active again, as its next version."""

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.reinstate(
            id, reason=reason, expected_version=expected_version, idempotency_key=key
        )

    show_receipt("reinstated", Place(database, scope, actor).run(act), json=json)


def supersede(
    id: Id,
    reason: Reason,
    text: Words = None,
    data: Data = None,
    cause: OptionalCause = None,
    source: Sources = None,
    keep_sources: KeepSources = False,
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
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Let something new stand in the place of something, in one step: both or neither.

    What is not named passes on to it, as in `update`.
    """
    what = said(text, data)

    async def act(memory: Memory[Any]) -> tuple[Receipt, Receipt]:
        return await memory.supersede(
            id,
            what,
            reason=reason,
            cause=cause or "obsolescence",
            source=source or None,
            keep_sources=keep_sources,
            verdict=verdict,
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

    old, new = Place(database, scope, actor).run(act)
    if json:
        print_json({"superseded": receipt_as_json(old), "by": receipt_as_json(new)})
        return
    out = console()
    out.print(receipt_in_words("superseded", old))
    out.print()
    out.print(receipt_in_words("by", new))
