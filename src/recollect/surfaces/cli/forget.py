"""``recollect forget``, ``archive``, ``reinstate``, ``supersede``: with a reason, and not final."""

from typing import Any

from recollect.app.memory import Memory
from recollect.journeys.govern.receipts import Receipt
from recollect.surfaces.cli.handles import Place
from recollect.surfaces.cli.memories import receipt_as_json, receipt_in_words, show_receipt
from recollect.surfaces.cli.options import (
    Actor,
    AsJson,
    Data,
    Database,
    ExpectedVersion,
    Id,
    OptionalCause,
    Reason,
    RetryKey,
    Scope,
    Sources,
    Tags,
    Words,
)
from recollect.surfaces.cli.present import console, print_json
from recollect.surfaces.cli.remember import said


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
    tag: Tags = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Let something new stand in the place of something, in one step: both or neither."""
    what = said(text, data)

    async def act(memory: Memory[Any]) -> tuple[Receipt, Receipt]:
        return await memory.supersede(
            id,
            what,
            reason=reason,
            cause=cause or "obsolescence",
            source=source or None,
            tags=tag or None,
        )

    old, new = Place(database, scope, actor).run(act)
    if json:
        print_json({"superseded": receipt_as_json(old), "by": receipt_as_json(new)})
        return
    out = console()
    out.print(receipt_in_words("superseded", old))
    out.print()
    out.print(receipt_in_words("by", new))
