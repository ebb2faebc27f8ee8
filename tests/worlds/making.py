"""Values of the world protocol, small and valid, for tests to change."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.worlds.authority import Asked
from memoranda.worlds.proposal import (
    IntentBody,
    IntentInstance,
    IntentOrigin,
    IntentSource,
    Proposal,
    Vote,
    VoteChoice,
    intent_instance,
)

DATA = Path(__file__).parent / "data"
SCHEMA = "5d41402abc4b2a76b9719d911017c592aabbccddeeff00112233445566778899"
T0 = 1_771_150_951_000

keys = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=4
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.sampled_from([0, 1, 0.0, 1.0, -0.0, 1e16, 0.5])
    | st.floats(allow_nan=False, allow_infinity=False)
    | keys
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
json_objects = st.dictionaries(keys, json_values, max_size=4)


def vectors(name: str) -> Any:
    """The vectors of others, kept beside the tests."""
    return json.loads((DATA / f"{name}.json").read_bytes())


def snapshot(**members: Any) -> dict[str, Any]:
    """A snapshot as it stands on the wire."""
    return {
        "data": {"count": 1},
        "computed": {},
        "system": system(),
        "meta": {"version": 3, "timestamp": T0, "randomSeed": "intent-1", "schemaHash": SCHEMA},
        **members,
    }


def system(**members: Any) -> dict[str, Any]:
    return {
        "status": "idle",
        "lastError": None,
        "errors": [],
        "pendingRequirements": [],
        "currentAction": None,
        **members,
    }


def error(code: str = "action.raised", action: str = "a", **members: Any) -> dict[str, Any]:
    source = {"actionId": action, "nodePath": "n"}
    return {"code": code, "message": "m", "source": source, "timestamp": T0, **members}


def requirement(id: str) -> dict[str, Any]:
    return {
        "id": id,
        "type": "http",
        "params": {},
        "actionId": "a",
        "flowPosition": {"nodePath": "n", "snapshotVersion": 1},
        "createdAt": T0,
    }


def instance(
    actor: str = "agent:helper", action: str = "orders.add", **members: Any
) -> IntentInstance:
    origin = IntentOrigin(
        projection_id="p", source=IntentSource(kind="api", event_id="e-1"), actor=parse_actor(actor)
    )
    body = IntentBody(type=action, **members)
    return intent_instance(SCHEMA, body, intent_id="intent-1", origin=origin)


def proposal(actor: str = "agent:helper", action: str = "orders.add", **members: Any) -> Proposal:
    return Proposal(
        proposal_id="prop-1",
        actor=parse_actor(actor),
        intent=instance(actor, action, **members),
        base_world="world-0",
        status="evaluating",
        epoch=0,
        execution_key="prop-1:1",
        submitted_at=T0,
    )


def vote(
    voter: str | ActorRef, decision: VoteChoice, *, at: int = T0 + 1, why: str | None = None
) -> Vote:
    return Vote(voter=parse_actor(voter), decision=decision, reasoning=why, voted_at=at)


def asked(*votes: Vote, about: Proposal | None = None, now: int = T0 + 10) -> Asked:
    return Asked(about or proposal(), votes, submitted_at=T0, now=now)
