"""Cycles as a turn ends them: one fact, and what lands beside it."""

from collections.abc import Sequence

from recollect.identity import sha256_hex
from recollect.journeys.turn.facts import salted_digest
from recollect.kernel.randomness import Randomness
from recollect.kernel.retry import RetryKey
from recollect.ledger.beside import CYCLE, Beside, CycleSalt, ItemOrigin, NewItem
from recollect.ledger.fact import Fact
from recollect.ledger.unit import Committed, Ledger, Unit
from recollect.plans.items import MemoryItem, item_digest
from recollect.plans.recording import RecordedStep, Recording
from recollect.plans.session import Session, SessionState, begin

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


def recording(cycle_id: str, said: str = "what was said") -> Recording:
    """What was recorded of a cycle."""
    return Recording(
        cycle_id=cycle_id,
        plan_hash=PLAN,
        plan={"steps": []},
        policy_ref={"policyId": "default"},
        turn={"text": said},
        steps=(RecordedStep(id="answer", output={"response": f"an answer to {said}"}),),
        answers=(f"an answer to {said}",),
    )


def ending(cycle_id: str, beside: Sequence[Beside], *, key: RetryKey | None = None) -> Unit:
    """The unit that ends a cycle."""
    items = [one for one in beside if isinstance(one, NewItem)]
    digests = [item_digest(MemoryItem(**one._asdict())) for one in items]
    says = {
        "type": "Cycle",
        "cycleId": cycle_id,
        "sessionRef": items[0].session_ref if items else "none",
        "outcome": "completed",
        "items": [salted_digest(SALT, digest) for digest in digests],
        "salt": sha256_hex(SALT),
    }
    draft = Fact("cycle", says, (CYCLE + cycle_id,)).draft(SALT)
    origins = [ItemOrigin(one.session_ref, one.id, cycle_id) for one in items]
    landing = (*beside, CycleSalt(cycle_id, SALT), *origins)
    return Unit(ACTOR, AT, lambda _: [draft], key=key, about=cycle_id, beside=landing)


async def end(
    ledger: Ledger, cycle_id: str, beside: Sequence[Beside], *, key: RetryKey | None = None
) -> Committed:
    """End a cycle."""
    return await ledger.commit(ending(cycle_id, beside, key=key))
