"""The validator of logs: every violation, by its label; nothing makes it fail."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import parse
from memoranda.ledger.event import event_document, event_of
from memoranda.ledger.lifecycle import erase, invalidate
from memoranda.ledger.log import write_log
from memoranda.ledger.object import next_version, sealed
from memoranda.ledger.validate_events import validate_log
from tests.ledger.objects import (
    NONCE,
    NOW,
    OTHER_NONCE,
    a_fact,
    an_object,
    checks,
    json_values,
    shared_file,
)

A, B, C = (f"sha256:{digit * 64}" for digit in "abc")
CONSOLIDATION = {
    "input_ids": ["x", "y"],
    "output_id": "a",
    "justification": "duplicates",
    "diff": "- x\n+ a",
}
NOTHING_BEFORE = {"prev_hash": None, "new_hash": A}
BOTH = {"prev_hash": A, "new_hash": B}


def an_event(event_type: Any = "create", **members: Any) -> dict[str, Any]:
    event = {
        "event_id": "1",
        "event_type": event_type,
        "memory_object_id": "a",
        "timestamp": "2026-02-15T10:22:33Z",
        "actor": "system",
        "reason": "because",
        **(BOTH if event_type in ("invalidate", "archive", "policy_change") else NOTHING_BEFORE),
        **members,
    }
    return {name: member for name, member in event.items() if member is not ...}


def a_log(*events: dict[str, Any]) -> list[dict[str, Any]]:
    """Events with ids and times of their own."""
    return [
        {**event, "event_id": f"evt_{number}", "timestamp": f"2026-02-15T10:22:{number:02d}Z"}
        for number, event in enumerate(events)
    ]


# ------------------------------------------------------------------------ one event


@pytest.mark.rule("GOV-LOG")
def test_every_case_of_the_reference_has_the_listed_result() -> None:
    cases = [parse(line) for line in shared_file("cases.ndjson").read_bytes().splitlines()]
    events = [case for case in cases if case["kind"] == "event"]

    found = {case["name"]: checks(validate_log([case["record"]])) for case in events}

    assert found == {case["name"]: sorted(case["rules_violated"]) for case in events}
    assert {name: "L1" not in labels for name, labels in found.items()} == {
        case["name"]: case["schema_valid"] for case in events
    }


@pytest.mark.rule("GOV-LOG", "GOV-FORGET", "GOV-CONS-4")
@pytest.mark.parametrize(
    ("event", "labels"),
    [
        (an_event(), []),
        (an_event(more={"a": 1}), []),
        (an_event(reason=...), []),
        (an_event(event_id=...), ["L1"]),
        (an_event(event_id=""), ["L1"]),
        (an_event(memory_object_id=None), ["L1"]),
        (an_event(timestamp=5), ["L1"]),
        (an_event(reason=5), ["L1"]),
        (an_event("update"), ["L1", "L2"]),
        (an_event(None), ["L1", "L2"]),
        (an_event(...), ["L1", "L2"]),
        (an_event(["create"]), ["L1", "L2"]),
        (an_event(actor="agent"), ["L3"]),
        (an_event(actor=""), ["L1", "L3"]),
        (an_event(actor={}), ["L1", "L3"]),
        (an_event("invalidate"), []),
        (an_event("invalidate", reason=...), ["L4"]),
        (an_event("archive", reason=" \t"), ["L4"]),
        (an_event("conformance_break", reason=""), ["L4"]),
        (an_event("invalidate", reason=1), ["L1", "L4"]),
        (an_event("policy_change", reason=None), []),
        (an_event(new_hash=...), ["L5"]),
        (an_event(new_hash="a" * 64), ["L5"]),
        (an_event(new_hash=A.upper()), ["L5"]),
        (an_event(new_hash=5), ["L1", "L5"]),
        (an_event(prev_hash=B), ["L5"]),
        (an_event("invalidate", prev_hash=None), ["L5"]),
        (an_event("archive", new_hash=None), ["L5"]),
        (an_event("policy_change", prev_hash=...), ["L5"]),
        (an_event("conformance_break", new_hash=None), []),
        (an_event("conformance_break", new_hash="x"), ["L5"]),
        (an_event("consolidate", **CONSOLIDATION), []),
        (an_event("consolidate", **CONSOLIDATION, prev_hash=B), ["L5"]),
        (an_event("consolidate", **{**CONSOLIDATION, "diff": ..., "reconstruction": {"a": 1}}), []),
        (an_event("consolidate", **{**CONSOLIDATION, "diff": ...}), ["L8"]),
        (an_event("consolidate", **{**CONSOLIDATION, "diff": ""}), ["L8"]),
        (an_event("consolidate", **{**CONSOLIDATION, "input_ids": []}), ["L8"]),
        (an_event("consolidate", **{**CONSOLIDATION, "input_ids": [1]}), ["L8"]),
        (an_event("consolidate", **{**CONSOLIDATION, "output_id": ...}), ["L8"]),
        (an_event("consolidate", **{**CONSOLIDATION, "justification": " "}), ["L8"]),
    ],
)
def test_an_event_has_exactly_these_violations(event: dict[str, Any], labels: list[str]) -> None:
    assert checks(validate_log([event])) == labels
    assert checks(validate_log([canonical_bytes(event)])) == labels


# ------------------------------------------------------------------- event after event


@pytest.mark.rule("GOV-LOG")
@pytest.mark.parametrize(
    ("name", "errors", "warnings"),
    [
        ("log.ok.ndjson", [], []),
        ("log.broken-continuity.ndjson", ["L6"], []),
        ("log.duplicate-event_id.ndjson", ["L7"], []),
        ("log.time-goes-back.ndjson", [], ["L7"]),
        ("original/memory-log.example.ndjson", ["L5"], []),
        ("original/legacy-redirect-stub.memory-log.ndjson", ["L1", "L2", "L3"], []),
    ],
)
def test_the_logs_of_the_reference_have_these_violations(
    name: str, errors: list[str], warnings: list[str]
) -> None:
    raw = shared_file(name).read_bytes()

    found = validate_log(raw)

    assert (checks(found), checks(found, "warning")) == (errors, warnings)
    assert validate_log(raw.decode()) == found
    assert validate_log(raw.splitlines(keepends=True)) == found


@pytest.mark.rule("GOV-LOG")
def test_a_state_must_follow_the_last_one_of_its_id() -> None:
    other = an_event(memory_object_id="b", new_hash=C)
    log = a_log(an_event(), other, an_event("invalidate", prev_hash=C, new_hash=B))

    assert [(one.check, one.line) for one in validate_log(log)] == [("L6", 3)]
    assert validate_log(a_log(an_event(), other, an_event("invalidate"))) == []


@pytest.mark.rule("GOV-LOG")
def test_a_new_version_must_supersede_the_last_one_of_its_id() -> None:
    again = an_event(new_hash=B)

    assert validate_log(a_log(an_event(), again | {"supersedes": A})) == []
    assert checks(validate_log(a_log(an_event(), again | {"supersedes": C}))) == ["L6"]
    assert checks(validate_log(a_log(an_event(), again)), "warning") == ["L6"]


def test_a_log_may_begin_in_the_middle_of_a_history() -> None:
    assert validate_log(a_log(an_event("invalidate", prev_hash=C))) == []


def test_violations_name_their_lines_and_blank_lines_say_nothing() -> None:
    twice = canonical_bytes(an_event("conformance_break"))
    text = b"\n".join([b"", twice, b"  ", b"{", twice])

    assert [(one.check, one.line) for one in validate_log(text + b"\n\n")] == [("L1", 4), ("L7", 5)]


def test_a_line_that_can_be_read_in_two_ways_is_none() -> None:
    assert checks(validate_log([b'{"event_id":"1","event_id":"2"}'])) == ["L1"]


@given(st.lists(json_values | st.binary(max_size=40) | st.text(max_size=40), max_size=4))
def test_no_lines_make_it_fail(lines: list[Any]) -> None:
    validate_log(lines, objects=lines, earlier=b"x")


@given(st.binary(max_size=80) | st.text(max_size=80))
def test_no_text_makes_it_fail(text: Any) -> None:
    validate_log(text)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from([*an_event(), *CONSOLIDATION, "supersedes", "audit_ref", "erasure"]),
            json_values | st.sampled_from([A, B, "create", "consolidate", "invalidate", "a"]),
        ),
        max_size=4,
    )
)
def test_no_member_makes_it_fail(changes: list[dict[str, Any]]) -> None:
    validate_log([an_event(**change) for change in changes])


# --------------------------------------------------------------------- the log as a whole


def a_history() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A log of two objects, one of them updated and forgotten, and all of their versions."""
    first = an_object("a")
    second = next_version(first, at=NOW + 1, nonce=OTHER_NONCE, statement="By phone")
    gone = invalidate(second, reason="old", cause="obsolescence", at=NOW + 2, nonce=NONCE)
    versions: list[tuple[Any, Any]] = [
        ("create", first),
        ("create", second),
        ("invalidate", gone.object),
        ("create", a_fact("b")),
    ]
    ids = itertools.count(1)
    events = [
        event_of(
            kind, one.thaw(), digest=one.digest, event_id=f"evt_{next(ids)}", at=NOW, actor="human"
        )
        for kind, one in versions
    ]
    return events, [sealed(one.thaw()) for _, one in versions]


@pytest.mark.rule("GOV-FORGET")
def test_a_log_and_its_objects_agree() -> None:
    events, objects = a_history()

    assert validate_log(events, objects=objects) == []


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("missing", range(4))
def test_an_object_that_vanished_is_a_silent_deletion(missing: int) -> None:
    events, objects = a_history()
    del objects[missing]

    assert checks(validate_log(events, objects=objects)) == ["L9"]


@pytest.mark.rule("GOV-FORGET")
def test_an_object_that_was_erased_is_no_silent_deletion() -> None:
    events, objects = a_history()
    gone = erase(a_fact("b"), reason="asked", cause="user_request", at=NOW, nonce=NONCE)
    events.append(
        event_document(
            event_id="evt_5", event_type=gone.event_type, at=NOW, actor="human", **gone.members
        )
    )

    assert validate_log(events, objects=[*objects[:3], gone.object.thaw()]) == []


@pytest.mark.rule("GOV-LOG")
def test_an_object_without_an_event_is_found() -> None:
    events, objects = a_history()
    objects[1]["statement"] = "By pigeon"

    found = validate_log(events, objects=objects)

    assert [one.check for one in found] == ["L9", "L9"]  # one without event, one not to be had


@pytest.mark.rule("GOV-LOG")
def test_an_earlier_export_is_the_beginning_of_a_later_one() -> None:
    events, _ = a_history()
    earlier, later = b"".join(write_log(events[:2])), b"".join(write_log(events))

    assert validate_log(later, earlier=earlier) == []
    assert validate_log(later, earlier=b"") == []
    assert validate_log(list(write_log(events)), earlier=earlier) == []
    assert checks(validate_log(earlier, earlier=later)) == ["L10"]
    assert checks(validate_log(later, earlier=earlier[:-9])) == ["L10"]
    changed = earlier.replace(b'"human"', b'"system"', 1)
    assert [(one.check, one.line) for one in validate_log(changed, earlier=earlier)] == [("L10", 1)]


@pytest.mark.rule("GOV-BREAK")
def test_nothing_becomes_factual_while_a_break_stands() -> None:
    fact = a_fact("b")
    create = event_of(
        "create", fact.thaw(), digest=fact.digest, event_id="3", at=NOW, actor="human"
    )
    broken = an_event("conformance_break", memory_object_id="model", new_hash=None)
    audited = an_event("policy_change", memory_object_id="re_audit", audit_ref="audit/1")

    during = validate_log(a_log(broken, create), objects=[fact.thaw()])
    after = validate_log(a_log(broken, audited, create), objects=[fact.thaw()])

    assert (checks(during), after) == (["L11"], [])
