"""Cycles as a turn ends them: one fact, and what lands with it."""

from collections.abc import Sequence
from typing import Any

from memoranda.identity import sha256_hex
from memoranda.journeys.turn.facts import (
    CycleRecording,
    RecordedStep,
    salted_digest,
    session_digest,
)
from memoranda.kernel.clock import Randomness
from memoranda.kernel.given import RetryKey
from memoranda.ledger.attachments import (
    CYCLE,
    Attachment,
    CycleSalt,
    CycleValues,
    ItemOrigin,
    NewItem,
    SessionSaved,
)
from memoranda.ledger.fact import Fact
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Committed, Unit
from memoranda.plans.items import MemoryItem, item_digest, terms
from memoranda.plans.session import Session, SessionState, begin

ACTOR = "agent:worker"
SALT = b"s" * 16
PLAN = "a" * 64
OTHER_PLAN = "b" * 64
AT = 1_700_000_000_000
ITEM_ID = "6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a10"


def cold(name: str = "default", plan_hash: str = PLAN) -> Session:
    """A session that begins."""
    return begin(name, None, plan_hash, Randomness())


def resumed(found: SessionState | None, plan_hash: str = PLAN) -> Session:
    """A session that goes on from what was found."""
    assert found is not None
    return begin("default", found, plan_hash, Randomness())


def item(session: Session, id: str = ITEM_ID) -> NewItem:
    """An item of a session."""
    at = "2026-11-16T08:00:00.000Z"
    return NewItem(id, session.session_id, at, "the refund was paid", ("refund",))


def recording(cycle_id: str, said: str = "what was said") -> CycleRecording:
    """What was recorded of a cycle."""
    return CycleRecording(
        cycle_id=cycle_id,
        plan_hash=PLAN,
        plan={"steps": []},
        policy_ref={"policyId": "default"},
        turn={"text": said},
        steps=(RecordedStep(id="answer", output={"response": f"an answer to {said}"}),),
        answers=(f"an answer to {said}",),
    )


def ending(
    cycle_id: str, attachments: Sequence[Attachment], *, key: RetryKey | None = None
) -> Unit:
    """The unit that ends a cycle."""
    items = [one for one in attachments if isinstance(one, NewItem)]
    digests = [item_digest(MemoryItem(**one._asdict())) for one in items]
    says: dict[str, Any] = {
        "type": "Cycle",
        "cycleId": cycle_id,
        "sessionRef": items[0].session_ref if items else "none",
        "outcome": "completed",
        "items": [salted_digest(SALT, digest) for digest in digests],
        "recorded": False,
        "salt": sha256_hex(SALT),
    }
    landing: list[Attachment] = [CycleSalt(cycle_id, SALT)]
    for one in attachments:
        if isinstance(one, SessionSaved):
            says["session"] = salted_digest(SALT, session_digest(one.name, one.body))
            landing.append(one._replace(cycle=cycle_id))
        else:
            landing.append(one)
        if isinstance(one, CycleValues):
            says["recorded"] = True
            says["recording"] = salted_digest(SALT, sha256_hex(one.body))
    draft = Fact("cycle", says, (CYCLE + cycle_id,)).draft(SALT)
    for new in items:
        found_by = len(terms(new.keywords))
        landing.append(ItemOrigin(new.session_ref, new.id, cycle_id, found_by))
    return Unit(ACTOR, AT, lambda _: [draft], key=key, about=cycle_id, attachments=landing)


async def end(
    ledger: Ledger, cycle_id: str, attachments: Sequence[Attachment], *, key: RetryKey | None = None
) -> Committed:
    """End a cycle."""
    return await ledger.commit(ending(cycle_id, attachments, key=key))
