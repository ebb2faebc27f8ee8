"""Forgetting: verbs, reasons, legal transitions, what stays and what goes."""

from collections.abc import Callable
from typing import Any, get_args

import pytest

from memoranda.identity import Frozen
from memoranda.kernel.errors import IllegalTransition, ReasonMissing
from memoranda.ledger.event import event_document, event_of
from memoranda.ledger.lifecycle import (
    LEGAL,
    StatusChange,
    archive,
    erase,
    invalidate,
    reinstate,
    supersede,
)
from memoranda.ledger.object import CAUSES, Status, sealed, status_of, version_of
from memoranda.ledger.validate import validate_object
from memoranda.ledger.validate_events import validate_log
from tests.ledger.objects import NONCE, NOW, OTHER_NONCE, a_fact, an_object

WHY: dict[str, Any] = {"reason": "no longer so", "cause": "obsolescence"}
THEN: dict[str, Any] = {"at": NOW + 1, "nonce": OTHER_NONCE}

VERBS: dict[str, Callable[[Frozen], StatusChange]] = {
    "invalidated": lambda one: invalidate(one, **WHY, **THEN),
    "archived": lambda one: archive(one, **WHY, **THEN),
    "superseded": lambda one: supersede(one, a_fact("other"), **WHY, **THEN)[0],
    "erased": lambda one: erase(one, **WHY, **THEN),
    "active": lambda one: reinstate(one, reason="it is so again", **THEN),
}


def in_status(status: Status) -> Frozen:
    return a_fact() if status == "active" else VERBS[status](a_fact()).object


def logged(*changes: StatusChange) -> list[dict[str, Any]]:
    return [
        event_document(
            event_id=str(number),
            event_type=change.event_type,
            at=NOW + number,
            actor="human",
            **change.members,
        )
        for number, change in enumerate(changes, start=1)
    ]


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize(
    ("verb", "event_type"),
    [("invalidated", "invalidate"), ("archived", "archive"), ("superseded", "invalidate")],
)
def test_what_is_forgotten_is_a_new_version_with_its_reason(verb: str, event_type: str) -> None:
    current = a_fact()

    change = VERBS[verb](current)

    document = change.object.thaw()
    assert (status_of(document), version_of(document)) == (verb, 2)
    assert (document["reason"], document["cause"]) == ("no longer so", "obsolescence")
    assert document["statement"] == current.thaw()["statement"]
    assert change.event_type == event_type
    assert change.members["prev_hash"] == f"sha256:{current.digest}"
    assert change.members["new_hash"] == f"sha256:{change.object.digest}"
    assert validate_object(sealed(document)) == []


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("verb", list(VERBS))
@pytest.mark.parametrize("status", get_args(Status))
def test_only_legal_transitions_happen(status: Status, verb: Status) -> None:
    current = in_status(status)

    if verb in LEGAL[status]:
        assert status_of(VERBS[verb](current).object.thaw()) == verb
    else:
        with pytest.raises(IllegalTransition) as caught:
            VERBS[verb](current)
        assert (caught.value.code, caught.value.status) == ("record.illegal_transition", status)


def test_the_table_of_transitions_is_this_one() -> None:
    assert {status: sorted(after) for status, after in LEGAL.items()} == {
        "active": ["archived", "erased", "invalidated", "superseded"],
        "invalidated": ["active", "archived", "erased"],
        "archived": ["active", "erased", "invalidated"],
        "superseded": ["archived", "erased"],
        "erased": [],
    }


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("reason", ["", " \t\n", None])
@pytest.mark.parametrize("verb", [invalidate, archive, erase])
def test_nothing_is_forgotten_without_a_reason(verb: Any, reason: Any) -> None:
    with pytest.raises(ReasonMissing) as caught:
        verb(a_fact(), reason=reason, cause="policy", **THEN)

    assert caught.value.code == "input.reason"


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("reason", ["", " "])
def test_nothing_is_superseded_or_reinstated_without_a_reason(reason: str) -> None:
    with pytest.raises(ReasonMissing):
        supersede(a_fact(), a_fact("b"), reason=reason, cause="conflict", **THEN)
    with pytest.raises(ReasonMissing):
        reinstate(in_status("archived"), reason=reason, **THEN)


@pytest.mark.rule("GOV-FORGET")
def test_a_cause_is_one_of_the_named_ones() -> None:
    assert CAUSES == (
        "obsolescence",
        "conflict",
        "correction",
        "policy",
        "user_request",
        "other",
    )
    for cause in CAUSES:
        assert archive(a_fact(), reason="x", cause=cause, **THEN).object.thaw()["cause"] == cause
    with pytest.raises(ReasonMissing):
        archive(a_fact(), reason="x", cause="whim", **THEN)  # type: ignore[arg-type]


@pytest.mark.rule("GOV-FORGET")
def test_a_reinstated_object_is_what_it_was_but_for_its_version() -> None:
    first = a_fact()
    gone = archive(first, **WHY, **THEN)

    back = reinstate(gone.object, reason="found to hold", at=NOW + 2, nonce=NONCE)

    document = back.object.thaw()
    of_versions = {"version", "timestamp", "supersedes", "reason", "created_ms", "nonce"}
    assert {k: v for k, v in document.items() if k not in of_versions} == {
        k: v for k, v in first.thaw().items() if k not in of_versions
    }
    assert "cause" not in document
    assert back.event_type == "create"
    assert back.members["supersedes"] == f"sha256:{gone.object.digest}"
    assert "prev_hash" not in back.members


@pytest.mark.rule("GOV-FORGET")
def test_a_superseded_object_and_its_replacement_name_each_other() -> None:
    current = a_fact("old")

    old, new = supersede(current, a_fact("new"), **WHY, **THEN)

    assert old.members["superseded_by"] == old.object.thaw()["superseded_by"] == "new"
    assert new.members["supersedes"] == f"sha256:{current.digest}"
    assert (old.event_type, new.event_type) == ("invalidate", "create")
    assert validate_object(sealed(new.object.thaw())) == []


def test_an_object_can_not_supersede_itself() -> None:
    with pytest.raises(IllegalTransition):
        supersede(a_fact(), a_fact(), **WHY, **THEN)


@pytest.mark.rule("GOV-FORGET")
def test_a_tombstone_holds_nothing_of_what_was_erased() -> None:
    canary = "tweet"
    current = an_object(
        "a",
        f"the {canary}",
        source_refs=[{"uri": canary}],
        subject=canary,
        tags=[canary],
        meta={canary: canary},
        jurisdiction=canary,
        expires=NOW + 12_345,
        nonce=canary,
    )

    change = erase(current, reason="asked to", cause="user_request", **THEN)

    document = change.object.thaw()
    assert canary.encode() not in change.object.canonical
    assert b"12.345" not in change.object.canonical
    assert sorted(document) == [
        "applicability_scope",
        "cause",
        "id",
        "nonce",
        "reason",
        "source_refs",
        "statement",
        "statement_type",
        "status",
        "supersedes",
        "temporal_scope",
        "timestamp",
        "trust",
        "type",
        "valid_from",
        "valid_to",
        "verdict_type",
        "version",
    ]
    assert (change.event_type, change.members["erasure"]) == ("archive", True)
    assert validate_object(sealed(document)) == []


@pytest.mark.rule("GOV-LOG", "GOV-FORGET")
def test_the_log_of_a_whole_life_is_valid() -> None:
    first = a_fact("a")
    created = StatusChange("create", first)
    archived = archive(first, **WHY, **THEN)
    back = reinstate(archived.object, reason="needed", **THEN)
    old, new = supersede(back.object, a_fact("b"), **WHY, **THEN)
    gone = erase(old.object, reason="asked", cause="user_request", **THEN)

    assert validate_log(logged(created, archived, back, old, new, gone)) == []


def test_an_event_derived_from_a_version_is_the_event_of_its_change() -> None:
    for verb in VERBS.values():
        current = in_status("archived") if verb is VERBS["active"] else a_fact()
        change = verb(current)

        derived = event_of(
            change.event_type,
            change.object.thaw(),
            digest=change.object.digest,
            event_id="1",
            at=NOW + 1,
            actor="human",
        )

        assert [derived] == logged(change)
