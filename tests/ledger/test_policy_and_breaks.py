"""Policies change in the open; what changed otherwise is a conformance break."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.kernel.errors import InvalidPolicy
from recollect.ledger import (
    Break,
    Fingerprint,
    LogHead,
    Policy,
    ReAudit,
    Trail,
    change_policy,
    compare,
    open_breaks,
    validate_log,
)
from recollect.ledger.breaks import re_audited
from recollect.ledger.event import event_document
from recollect.ledger.policy import DEFAULTS, POLICY_KINDS, policy_of, rank
from tests.ledger.objects import NOW

DIGESTS: dict[str, str] = {kind: policy.digest for kind, policy in DEFAULTS.items()}
BEFORE = Fingerprint(
    models={"embedder": "mini/1"},
    tokenizer="words/1",
    index="index/1",
    policies=DIGESTS,
    log=LogHead(3, "aa"),
)
GROWN = replace(BEFORE, log=LogHead(5, "bb"))


def causes(now: Fingerprint, trail: Trail | None = None, root_then: str | None = "aa") -> list[str]:
    found = compare(BEFORE, now, trail or Trail(), root_then=root_then)
    return [one.cause for one in found]


# ------------------------------------------------------------ how policies change


def test_there_is_a_default_of_each_kind() -> None:
    assert sorted(DEFAULTS) == sorted(POLICY_KINDS)
    assert all(policy.version == 1 for policy in DEFAULTS.values())
    assert all(policy_of(policy.document) == policy for policy in DEFAULTS.values())


def test_the_defaults_are_these_for_ever() -> None:
    assert {kind: digest[:12] for kind, digest in DIGESTS.items()} == {
        "consolidation": "3d7526750a69",
        "forgetting": "155daf96d847",
        "source_hierarchy": "665058d78591",
    }


@pytest.mark.rule("GOV-BREAK")
def test_a_change_is_an_event_with_the_hashes_before_and_after() -> None:
    before = DEFAULTS["consolidation"]
    after = Policy("consolidation", 2, {**before.rules, "on_conflict": "record"})

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
        (Policy("consolidation", 1, {"gates": []}), "x"),
        (Policy("forgetting", 2, {}), "x"),
        (Policy("consolidation", 2, {}), " "),
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
        {"kind": "forgetting", "version": 0, "rules": {}},
        {"kind": "forgetting", "version": True, "rules": {}},
        {"kind": "forgetting", "version": 1, "rules": {"a": float("nan")}},
        {"kind": "forgetting", "version": 1, "rules": {}, "more": 1},
    ],
)
def test_what_is_no_policy_is_refused(document: Any) -> None:
    with pytest.raises(InvalidPolicy):
        policy_of(document)


def test_sources_rank_by_the_hierarchy() -> None:
    hierarchy = Policy("source_hierarchy", 2, {"order": ["https://law.", "https://wiki."]})

    assert rank(hierarchy, [{"uri": "https://wiki.x"}, {"uri": "https://law.x"}]) == 0
    assert rank(hierarchy, [{"uri": "https://wiki.x"}]) == 1
    assert rank(hierarchy, [{"uri": "chat"}]) == rank(hierarchy, []) == 2


# ------------------------------------------------------------ what is a break


@pytest.mark.rule("GOV-BREAK")
@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"models": {"embedder": "mini/2"}}, "model_changed"),
        ({"tokenizer": "words/2"}, "index_rebuilt"),
        ({"index": "index/2"}, "index_rebuilt"),
        ({"policies": {**DIGESTS, "consolidation": "0"}}, "policy_changed"),
        ({"policies": {**DIGESTS, "forgetting": "0"}}, "policy_changed"),
        ({"policies": {**DIGESTS, "source_hierarchy": "0"}}, "hierarchy_changed"),
        ({"log": LogHead(2, "a")}, "log_lost"),
        ({"log": None}, "log_lost"),
    ],
)
def test_a_change_without_a_trail_is_a_break(change: dict[str, Any], cause: str) -> None:
    now = replace(GROWN, **change)

    assert causes(now) == [cause]
    found = compare(BEFORE, now, root_then="aa")[0]
    assert found.reason
    audit = ReAudit("audit/1", breaks=frozenset({found.id}))
    assert causes(now, Trail(re_audits=[audit])) == []
    other = ReAudit("audit/2", breaks=frozenset({"another"}))
    assert causes(now, Trail(re_audits=[other])) == [cause]


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
    trail = Trail(policy_changes=frozenset({"new"}), rebuilds=frozenset({"index/2"}))
    assert causes(now, trail) == []
    assert causes(replace(now, index="index/3"), trail) == ["index_rebuilt"]


@pytest.mark.rule("GOV-BREAK")
def test_a_logged_rebuild_does_not_excuse_a_model() -> None:
    now = replace(GROWN, models={"embedder": "mini/2"})

    assert causes(now, Trail(rebuilds=frozenset({"mini/2"}))) == ["model_changed"]


def test_an_audit_of_the_state_of_now_excuses_all_but_a_lost_log() -> None:
    now = replace(GROWN, models={"embedder": "mini/2"}, tokenizer="words/2", log=None)
    audit = ReAudit("audit/1", fingerprint=now.digest)

    assert causes(now) == ["model_changed", "index_rebuilt", "log_lost"]
    assert causes(now, Trail(re_audits=[audit])) == ["log_lost"]
    assert causes(replace(now, tokenizer="words/3"), Trail(re_audits=[audit])) == [
        "model_changed",
        "index_rebuilt",
        "log_lost",
    ]


def test_what_is_named_for_the_first_time_or_no_longer_is_no_break() -> None:
    assert compare(None, GROWN) == []
    assert causes(replace(GROWN, models={"writer": "x/1"}, tokenizer=None, policies={})) == []


@given(st.integers(0, 9), st.text(max_size=4))
def test_a_break_has_the_same_id_however_the_log_goes_on(size: int, root: str) -> None:
    lost = Break("log_lost", "log", "3/aa", "2/a")

    assert replace(lost, now=f"{size}/{root}").id == lost.id
    assert Break("model_changed", "m", "1", "2").id != Break("model_changed", "m", "1", "3").id


@pytest.mark.rule("GOV-BREAK")
def test_a_break_and_its_re_audit_are_valid_events() -> None:
    now = replace(GROWN, models={"embedder": "mini/2"})
    found = compare(BEFORE, now, root_then="aa")[0]
    audit = ReAudit("audit/1", breaks=frozenset({found.id}))
    events = [
        event_document(
            event_id="1", event_type="conformance_break", at=NOW, actor="system", **found.members
        ),
        event_document(
            event_id="2",
            event_type="policy_change",
            at=NOW,
            actor="human",
            **re_audited(BEFORE, now, audit, "drift checks passed"),
        ),
    ]

    assert validate_log(events) == []
    assert open_breaks(events[:1]) == [found.id]
    assert open_breaks(events) == []
