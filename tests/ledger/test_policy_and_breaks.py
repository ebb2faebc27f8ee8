"""Policies change in the open; what changed otherwise is a conformance break."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidPolicy
from memoranda.ledger.breaks import (
    Break,
    Fingerprint,
    LogHead,
    compare,
    of_damages,
    outside,
    undeclared,
)
from memoranda.ledger.damage import Check, Damage, first_damages
from memoranda.ledger.event import event_document
from memoranda.ledger.governance import Governance, ReAudit, StandingBreak, re_audited
from memoranda.ledger.policy import (
    DEFAULTS,
    POLICY_KINDS,
    Policy,
    change_policy,
    declared,
    policy_of,
)
from memoranda.ledger.validate_events import validate_log
from tests.ledger.objects import NOW

DIGESTS: dict[str, str] = {kind: policy.digest for kind, policy in DEFAULTS.items()}
BEFORE = Fingerprint(index="index/1", policies=DIGESTS, log=LogHead(3, "aa"))
GROWN = replace(BEFORE, log=LogHead(5, "bb"))


def causes(
    now: Fingerprint, recorded: Collection[str] = (), root_then: str | None = "aa"
) -> list[str]:
    found = compare(BEFORE, now, recorded, root_then=root_then)
    return [one.cause for one in found]


# ------------------------------------------------------------ how policies change


def test_there_is_a_default_of_each_kind() -> None:
    assert sorted(DEFAULTS) == sorted(POLICY_KINDS)
    assert all(policy.version == 1 for policy in DEFAULTS.values())
    assert all(policy_of(policy.document) == policy for policy in DEFAULTS.values())


def test_the_defaults_are_these_for_ever() -> None:
    assert {kind: digest[:12] for kind, digest in DIGESTS.items()} == {
        "consolidation": "265f336e5940",
        "forgetting": "6620ec800a46",
        "source_hierarchy": "665058d78591",
        "models": "f3e0173fae7b",
        "oversight": "662c5ab90a40",
        "maintenance": "d4c69286af60",
    }


@pytest.mark.rule("GOV-BREAK")
def test_a_change_is_an_event_with_the_hashes_before_and_after() -> None:
    before = DEFAULTS["consolidation"]
    after = Policy("consolidation", 2, {**before.rules, "on_conflict": ["record"]})

    event = event_document(
        event_id="1",
        event_type="policy_change",
        at=NOW,
        actor="human",
        **change_policy(before, after, reason="conflicts are to be seen"),
    )

    assert event["memory_object_id"] == "policy/consolidation"
    assert event["prev_hash"] == f"sha256:{before.digest}"
    assert event["new_hash"] == f"sha256:{after.digest}"
    assert validate_log([event]) == []


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (DEFAULTS["consolidation"], "x"),
        (replace(DEFAULTS["forgetting"], version=2), "x"),
        (replace(DEFAULTS["consolidation"], version=2), " "),
    ],
)
def test_a_change_without_a_new_version_or_a_reason_is_refused(after: Policy, reason: str) -> None:
    with pytest.raises(InvalidPolicy) as caught:
        change_policy(DEFAULTS["consolidation"], after, reason=reason)

    assert caught.value.code == "input.policy"


@pytest.mark.parametrize(
    "document",
    [
        None,
        {"kind": "consolidation", "version": 1},
        {"kind": "mood", "version": 1, "rules": {}},
        {**DEFAULTS["forgetting"].document, "version": 0},
        {**DEFAULTS["forgetting"].document, "version": True},
        {"kind": "source_hierarchy", "version": 1, "rules": {"order": [float("nan")]}},
        {**DEFAULTS["forgetting"].document, "more": 1},
    ],
)
def test_what_is_no_policy_is_refused(document: Any) -> None:
    with pytest.raises(InvalidPolicy):
        policy_of(document)


# ------------------------------------------------------------ what is a break


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"index": "index/2"}, "index_rebuilt"),
        ({"policies": {**DIGESTS, "consolidation": "0"}}, "policy_changed"),
        ({"policies": {**DIGESTS, "forgetting": "0"}}, "policy_changed"),
        ({"policies": {**DIGESTS, "source_hierarchy": "0"}}, "hierarchy_changed"),
    ],
)
def test_a_change_without_a_trail_is_a_break(change: dict[str, Any], cause: str) -> None:
    now = replace(GROWN, **change)

    assert causes(now) == [cause]
    assert compare(BEFORE, now, root_then="aa")[0].reason


@pytest.mark.rule("GOV-BREAK")
def test_a_log_that_grew_is_no_break_and_one_that_was_rewritten_is() -> None:
    assert causes(BEFORE) == causes(GROWN) == []
    assert causes(GROWN, root_then="cc") == ["log_lost"]
    assert causes(GROWN, root_then=None) == ["log_lost"]
    assert compare(replace(BEFORE, log=LogHead(0, "")), replace(GROWN, log=None)) == []


@pytest.mark.rule("GOV-BREAK")
def test_what_was_logged_is_no_break() -> None:
    now = replace(GROWN, index="index/2", policies={**DIGESTS, "forgetting": "new"})

    assert causes(now) == ["index_rebuilt", "policy_changed"]
    recorded = {"new", "index/2"}
    assert causes(now, recorded) == []
    assert causes(replace(now, index="index/3"), recorded) == ["index_rebuilt"]


def test_what_is_named_for_the_first_time_or_no_longer_is_no_break() -> None:
    assert compare(None, GROWN) == []
    assert causes(replace(GROWN, index=None, policies={})) == []


@pytest.mark.rule("GOV-BREAK")
def test_a_model_is_a_break_where_its_role_is_declared_without_it() -> None:
    models = declared(DEFAULTS["models"], {"chat": ["m/1", "m/2"]})

    assert outside(models, {"chat": ["m/1"], "embedder": ["e/1"]}) == []
    assert undeclared(models, {"chat": ["m/3"], "embedder": ["e/1"]}) == {"embedder": ["e/1"]}
    (found,) = outside(models, {"chat": ["m/2", "m/3"]})
    assert (found.cause, found.what, found.now) == ("model_changed", "chat", "m/3")
    again = declared(models, {"chat": ["m/1", "m/2"]})
    assert outside(again, {"chat": ["m/3"]})[0].id != found.id, "another state, another break"


@given(st.integers(0, 9), st.text(max_size=4))
def test_a_break_has_the_same_id_however_the_log_goes_on(size: int, root: str) -> None:
    lost = Break("log_lost", "log", "3/aa", "2/a")

    assert replace(lost, now=f"{size}/{root}").id == lost.id
    assert replace(lost, since=7).id != lost.id
    assert Break("model_changed", "m", "1", "2").id != Break("model_changed", "m", "1", "3").id


# ------------------------------------------------------------------------- damage


@pytest.mark.rule("GOV-BREAK")
def test_whatever_is_wrong_with_an_entry_is_one_damage_of_it() -> None:
    body, its_object = Damage("body", 5, "edited"), Damage("object", 5, "no verdict")
    row, word = Damage("row", 5, "another id"), Damage("index", 5, "not its words")
    other = Damage("index", 9, "not its words")

    assert [one.name for one in first_damages([body, its_object, row, word])] == ["entry/5"]
    assert [one.name for one in first_damages([word, other])] == ["index"]
    assert first_damages([word], known=[5]) == []
    assert [one.accepted_as for one in first_damages([body, other])] == ["5", "index"]


@pytest.mark.rule("GOV-BREAK")
def test_what_follows_from_an_entry_that_is_gone_is_no_damage_of_its_own() -> None:
    gone = Damage("seq", 3, "it is not there")
    after, head = Damage("previous", 4, "another hash"), Damage("head", None, "one too few")

    assert first_damages([gone, after, head]) == [gone]
    assert first_damages([after, head]) == [after]
    assert first_damages([head]) == [head]


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize(
    ("check", "cause"), [("body", "damaged"), ("seq", "log_lost"), ("row", "damaged")]
)
def test_damage_of_an_entry_is_one_break_for_ever(check: Check, cause: str) -> None:
    (found,) = of_damages([Damage(check, 5, "why")], {5: "digest"}, -1)
    (later,) = of_damages([Damage(check, 5, "in other words")], {5: "digest"}, 77)

    assert (found.cause, found.id) == (cause, later.id)


@pytest.mark.rule("GOV-BREAK")
def test_damage_of_an_index_is_another_break_after_a_re_audit() -> None:
    words = [Damage("index", 5, "why"), Damage("index", 6, "why")]
    (found,) = of_damages(first_damages(words), {}, -1)
    (later,) = of_damages(first_damages(words), {}, 77)

    assert found.cause == "damaged"
    assert found.id != later.id


@pytest.mark.rule("GOV-BREAK")
def test_a_break_and_its_re_audit_are_valid_events() -> None:
    (found,) = compare(BEFORE, replace(GROWN, index="index/2"), root_then="aa")
    before = Governance(fingerprint=BEFORE, standing={found.id: StandingBreak(found.reason, 7)})
    audit = ReAudit("audit/1", "drift checks passed", 8, "00", [found.id], [])
    events = [
        event_document(
            event_id="1", event_type="conformance_break", at=NOW, actor="system", **found.members
        ),
        event_document(
            event_id="2",
            event_type="policy_change",
            at=NOW,
            actor="human",
            **re_audited(before, audit),
        ),
    ]

    assert validate_log(events) == []
    assert events[1]["prev_hash"] != events[1]["new_hash"]
