"""Intents: what the host gets of them, what makes two the same, what they may not hold."""

from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.errors import InvalidActor, InvalidWorld
from memoranda.worlds.proposal import (
    Intent,
    IntentBody,
    IntentInstance,
    IntentScope,
    SnapshotView,
    intent_key,
    to_host_intent,
)
from tests.worlds.making import SCHEMA, instance, json_values


def test_an_instance_has_the_documents_members() -> None:
    made = instance(input={"n": 1}, scope_proposal=IntentScope(allowed_paths=["orders.*"]))

    assert made.to_wire() == {
        "body": {
            "type": "orders.add",
            "input": {"n": 1},
            "scopeProposal": {"allowedPaths": ["orders.*"]},
        },
        "intentId": "intent-1",
        "intentKey": intent_key(SCHEMA, made.body),
        "meta": {
            "origin": {
                "projectionId": "p",
                "source": {"kind": "api", "eventId": "e-1"},
                "actor": {"actorId": "helper", "kind": "agent"},
            }
        },
    }
    assert IntentInstance.from_wire(made.to_wire()) == made


def test_the_host_gets_type_input_and_id_alone() -> None:
    assert to_host_intent(instance(input=None)).to_wire() == {
        "type": "orders.add",
        "input": None,
        "intentId": "intent-1",
    }


def test_an_input_that_is_absent_stays_absent_for_the_host() -> None:
    wire = to_host_intent(instance()).to_wire()

    assert wire == {"type": "orders.add", "intentId": "intent-1"}
    assert Intent.from_wire(wire) != Intent.from_wire({**wire, "input": None})


@given(json_values)
def test_the_key_is_the_hash_of_schema_type_input_and_scope(given_input: Any) -> None:
    scope = IntentScope(allowed_paths=["a"], note="n")
    text = canonical_bytes(given_input).decode()
    try:
        body = IntentBody(type="t", input=given_input, scope_proposal=scope)
    except InvalidWorld:  # a name that is reserved
        return

    expected = f'{SCHEMA}:t:{text}:{{"allowedPaths":["a"],"note":"n"}}'
    assert intent_key(SCHEMA, body) == sha256_hex(expected.encode())


def test_an_absent_input_has_the_key_of_a_null_one() -> None:
    expected = sha256_hex(f"{SCHEMA}:t:null:null".encode())

    assert intent_key(SCHEMA, IntentBody(type="t")) == expected
    assert intent_key(SCHEMA, IntentBody(type="t", input=None)) == expected


def test_who_wants_it_is_no_part_of_the_key() -> None:
    assert instance("agent:a").intent_key == instance("human:b").intent_key


@pytest.mark.rule("APP-INPUT-1")
@pytest.mark.parametrize("name", ["$app", "$appendix", "$"])
def test_an_input_can_not_hold_a_reserved_name(name: str) -> None:
    with pytest.raises(InvalidWorld) as caught:
        IntentBody(type="t", input={name: {"memoryContext": 1}})

    assert caught.value.where == "$.input"


@pytest.mark.rule("C-5")
def test_a_projection_sees_data_and_computed_alone() -> None:
    assert set(SnapshotView(data={}, computed={}).to_wire()) == {"data", "computed"}
    with pytest.raises(InvalidWorld):
        SnapshotView.from_wire({"data": {}, "computed": {}, "input": {"$app": {}}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": ""},
        {"type": "t", "actor": "agent:a"},
        {"type": "t", "scopeProposal": {"paths": []}},
    ],
)
def test_what_is_no_intent_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidWorld):
        IntentBody.from_wire(wrong)


@pytest.mark.rule("MIN-INVASION")
def test_whoever_wants_it_is_an_actor_ref() -> None:
    wire = instance().to_wire()
    wire["meta"]["origin"]["actor"] = {"brokerId": "b"}

    with pytest.raises(InvalidActor):
        IntentInstance.from_wire(wire)
