"""Events of the MemoryLog: the seed's fields, and what the object says."""

import pytest

from memoranda.kernel.errors import InvalidEvent
from memoranda.ledger.event import (
    EVENT_TYPES,
    FIELDS,
    LOG_ACTORS,
    LogEvent,
    event_document,
    event_of,
)
from memoranda.ledger.object import next_version
from memoranda.ledger.validate_events import validate_log
from tests.ledger.objects import NOW, OTHER_NONCE, an_object


@pytest.mark.rule("GOV-LOG")
def test_there_are_exactly_the_six_types_of_the_seed() -> None:
    assert sorted(EVENT_TYPES) == [
        "archive",
        "conformance_break",
        "consolidate",
        "create",
        "invalidate",
        "policy_change",
    ]


@pytest.mark.rule("GOV-LOG")
def test_an_actor_is_one_of_the_three_of_the_seed() -> None:
    assert LOG_ACTORS == {
        "human": "human",
        "agent": "system",
        "system": "system",
        "policy": "policy-engine",
    }


@pytest.mark.rule("GOV-LOG")
def test_the_event_of_a_create_has_the_seeds_fields_and_no_others() -> None:
    object_ = an_object()

    event = event_of(
        "create", object_.thaw(), digest=object_.digest, event_id="1", at=NOW, actor="system"
    )

    assert tuple(event) == FIELDS
    assert event["prev_hash"] is None
    assert event["new_hash"] == f"sha256:{object_.digest}"
    assert validate_log([event]) == []
    assert LogEvent.model_validate(event).document == event


@pytest.mark.rule("GOV-LOG")
def test_an_update_is_a_create_that_supersedes_the_hash_before() -> None:
    first = an_object()
    second = next_version(first, at=NOW + 1, nonce=OTHER_NONCE, statement="x", reason="asked")

    events = [
        event_of("create", one.thaw(), digest=one.digest, event_id=str(at), at=at, actor="human")
        for at, one in ((NOW, first), (NOW + 1, second))
    ]

    assert events[1]["prev_hash"] is None
    assert events[1]["supersedes"] == events[0]["new_hash"]
    assert events[1]["reason"] == "asked"
    assert validate_log(events) == []


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("event_type", "update"),
        ("actor", "agent"),
        ("new_hash", "sha256:0000..."),
        ("erasure", False),
        ("entry_hash", "x"),
        ("timestamp", "yesterday"),
        ("event_id", ""),
    ],
)
@pytest.mark.rule("GOV-LOG")
def test_an_event_with_a_wrong_member_is_refused_with_its_place(member: str, value: object) -> None:
    event = event_document(
        event_id="1", event_type="create", memory_object_id="a", at=NOW, actor="system"
    )

    with pytest.raises(InvalidEvent) as caught:
        LogEvent.model_validate({**event, member: value})

    assert (caught.value.where, caught.value.code) == (f"$.{member}", "input.event")
