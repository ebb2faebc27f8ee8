"""The validator of objects: every violation, by its label; nothing makes it fail."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.clock import format_time
from memoranda.kernel.json import parse
from memoranda.ledger.object import sealed, unsealed
from memoranda.ledger.validate import validate_object, validate_use
from tests.ledger.objects import NOW, a_document, checks, json_values, shared_file

MEMBERS = sorted(a_document())


@pytest.mark.rule("GOV-OBJECT")
def test_every_case_of_the_reference_has_the_listed_result() -> None:
    cases = [parse(line) for line in shared_file("cases.ndjson").read_bytes().splitlines()]
    objects = [case for case in cases if case["kind"] == "object"]

    found = {case["name"]: checks(validate_object(case["record"])) for case in objects}

    assert found == {case["name"]: sorted(case["rules_violated"]) for case in objects}
    assert {name: "O1" not in labels for name, labels in found.items()} == {
        case["name"]: case["schema_valid"] for case in objects
    }


@pytest.mark.rule("GOV-OBJECT", "GOV-TYPE", "GOV-TIME-1", "GOV-TIME-2")
@pytest.mark.parametrize(
    ("members", "labels"),
    [
        ({}, []),
        ({"unknown": [1, {"a": None}]}, []),
        ({"id": ...}, ["O1"]),
        ({"id": ""}, ["O1"]),
        ({"type": "Memory"}, ["O1"]),
        ({"type": None}, ["O1"]),
        ({"statement": 5}, ["O1"]),
        ({"statement_type": "Rumour"}, ["O1", "O2"]),
        ({"statement_type": ...}, ["O1", "O2"]),
        ({"statement_type": None}, ["O1", "O2"]),
        ({"verdict_type": False}, ["O1", "O3"]),
        ({"verdict_type": "factual"}, ["O1", "O3"]),
        (
            {"source_refs": ..., "verdict_type": "Inference", "statement_type": "DerivedStatement"},
            ["O4"],
        ),
        ({"source_refs": ...}, ["O11", "O4"]),
        ({"source_refs": None}, ["O1", "O11", "O4"]),
        ({"source_refs": {"uri": "x"}}, ["O1", "O4"]),
        ({"source_refs": [{"anchor": "x"}]}, ["O1", "O4"]),
        ({"source_refs": [{"uri": ""}]}, ["O1", "O4"]),
        ({"source_refs": ["x"]}, ["O1", "O4"]),
        ({"source_refs": [{"uri": "x", "anchor": 1}]}, ["O1"]),
        ({"source_refs": [{"uri": "x", "retrieved_at": None, "more": {}}]}, []),
        ({"timestamp": ...}, ["O1", "O5"]),
        ({"timestamp": "yesterday"}, ["O5"]),
        ({"timestamp": 5}, ["O1", "O5"]),
        ({"timestamp": "2026-02-15T10:22:31.123456+09:00"}, []),
        ({"temporal_scope": ...}, ["O6"]),
        ({"temporal_scope": "forever"}, ["O1", "O6"]),
        ({"temporal_scope": "unbounded"}, ["O6"]),
        ({"valid_from": "2026-01-01T00:00:00Z", "temporal_scope": "unbounded"}, []),
        ({"valid_from": "2026-01-01T00:00:00Z", "temporal_scope": "bounded"}, ["O6"]),
        ({"valid_to": "2026-01-01T00:00:00Z", "temporal_scope": "bounded"}, ["O6"]),
        ({"valid_to": "2026-01-01T00:00:00Z"}, []),
        ({"valid_to": "soon"}, ["O6"]),
        ({"valid_to": 5}, ["O1", "O6"]),
        (
            {
                "valid_from": "2026-01-01T00:00:00Z",
                "valid_to": "2026-01-01T00:00:00+00:00",
                "temporal_scope": None,
            },
            [],
        ),
        (
            {
                "valid_from": "2026-01-01T00:00:00.0000002Z",
                "valid_to": "2026-01-01T00:00:00.0000001Z",
            },
            ["O6"],
        ),
        ({"applicability_scope": ...}, ["O7"]),
        ({"applicability_scope": None}, []),
        ({"applicability_scope": "all"}, ["O1"]),
        ({"jurisdiction": ...}, []),
        ({"jurisdiction": None}, []),
        ({"jurisdiction": 1}, ["O1", "O8"]),
        ({"version": 1}, ["O1", "O9"]),
        ({"version": ""}, ["O1", "O9"]),
        ({"version": ...}, ["O1", "O9"]),
        ({"source_refs": []}, ["O11"]),
        ({"source_refs": [], "verdict_type": "Inference"}, ["O11"]),
        ({"source_refs": [], "statement_type": "UserProvidedStatement"}, ["O11"]),
        (
            {"source_refs": [], "statement_type": "UserProvidedStatement", "verdict_type": "False"},
            [],
        ),
        ({"source_refs": [], "statement_type": "ConsolidatedStatement"}, ["O11", "O12"]),
        ({"meta": 2**53 - 1}, []),
    ],
)
def test_an_object_has_exactly_these_violations(members: dict[str, Any], labels: list[str]) -> None:
    assert checks(validate_object(a_document(**members))) == labels


@pytest.mark.rule("GOV-OBJECT")
@pytest.mark.parametrize(
    ("stated", "labels"),
    [
        (..., ["O1", "O10"]),
        ("sha256", ["O1", "O10"]),
        ({"algo": "sha256"}, ["O1", "O10"]),
        ({"algo": "sha256", "digest": "abc"}, ["O1", "O10"]),
        ({"algo": "sha256", "digest": "0" * 63}, ["O10"]),
        ({"algo": "sha256", "digest": "0" * 64}, ["O10"]),
        ({"algo": "sha512", "digest": "right"}, ["O1", "O10"]),
        ({"algo": "sha256", "digest": "upper"}, ["O10"]),
        ({"algo": "sha256", "digest": "right", "note": None}, []),
        ({"algo": "sha256", "digest": "right", "note": 1}, ["O1"]),
        ({"algo": "sha256", "digest": "right", "more": 1}, ["O1"]),
    ],
)
def test_a_hash_has_exactly_these_violations(stated: Any, labels: list[str]) -> None:
    document = a_document()
    right = document["integrity_hash"]["digest"]
    spelt = {"right": right, "upper": right.upper()}
    if isinstance(stated, dict) and "digest" in stated:
        stated = {**stated, "digest": spelt.get(stated["digest"], stated["digest"])}
    shown = unsealed(document) | ({} if stated is ... else {"integrity_hash": stated})

    assert checks(validate_object(shown)) == labels


@pytest.mark.rule("GOV-OBJECT")
@pytest.mark.parametrize("member", sorted(unsealed(a_document())))
def test_a_change_of_any_member_is_seen_by_the_hash(member: str) -> None:
    shown = a_document()
    shown[member] = "changed"

    assert "O10" in checks(validate_object(shown))


@pytest.mark.rule("GOV-TIME-1", "GOV-TIME-2")
def test_a_missing_end_breaks_one_rule_or_the_other() -> None:
    start = {"valid_from": "2026-01-01T00:00:00Z"}

    bounded = validate_object(a_document(**start, temporal_scope="bounded"))
    silent = validate_object(a_document(**start, temporal_scope=None))

    assert [(one.rule, one.where) for one in bounded] == [("GOV-TIME-1", "$.valid_to")]
    assert [(one.rule, one.where) for one in silent] == [("GOV-TIME-2", "$.valid_to")]


def test_an_object_whose_end_contradicts_its_scope_is_warned_of() -> None:
    both = {"valid_from": "2026-01-01T00:00:00Z", "valid_to": "2026-01-02T00:00:00Z"}

    found = validate_object(a_document(**both, temporal_scope="unbounded"))

    assert (checks(found), checks(found, "warning")) == ([], ["O6"])


def test_every_violation_names_its_place_and_a_rule() -> None:
    found = validate_object(a_document(version=1, source_refs=[{"uri": "x"}, {}], verdict_type=0))

    assert {(one.check, one.where) for one in found} == {
        ("O1", "$.version"),
        ("O9", "$.version"),
        ("O1", "$.source_refs[1].uri"),
        ("O4", "$.source_refs[1].uri"),
        ("O1", "$.verdict_type"),
        ("O3", "$.verdict_type"),
    }
    assert all(one.rule.startswith("GOV-") for one in found)
    assert all(one.line is None for one in found)


def test_the_text_of_an_object_is_validated_as_the_object_is() -> None:
    original = shared_file("original/memory-object.example.json").read_bytes()

    assert checks(validate_object(original)) == ["O10"]
    assert checks(validate_object(original.decode())) == ["O10"]
    assert checks(validate_object(b'{"id": 1, "id": 2}')) == ["O1"]


def test_the_moved_stub_is_no_object() -> None:
    stub = shared_file("original/legacy-redirect-stub.memory-object.json").read_bytes()

    assert {"O1", "O2", "O3", "O10"} <= set(checks(validate_object(stub)))


@given(json_values | st.floats() | st.binary(max_size=60) | st.text(max_size=60))
def test_nothing_that_is_given_makes_it_fail(value: Any) -> None:
    assert checks(validate_object(value)) != []


@given(st.dictionaries(st.sampled_from(MEMBERS), json_values | st.integers() | st.floats()))
def test_no_member_makes_it_fail(members: dict[str, Any]) -> None:
    validate_object({**a_document(), **members})


@given(st.dictionaries(st.sampled_from(["algo", "digest", "note", "x"]), json_values))
def test_no_hash_makes_it_fail(stated: dict[str, Any]) -> None:
    assert "O10" in checks(validate_object({**a_document(), "integrity_hash": stated}))


def test_an_endless_object_does_not_make_it_fail() -> None:
    document = a_document()
    document["meta"] = document

    assert checks(validate_object(document)) == ["O10"]


# ------------------------------------------------------------------------------ use


@pytest.mark.rule("GOV-TIME-1", "GOV-FORGET", "GOV-BREAK")
def test_what_is_past_forgotten_or_under_a_break_is_not_for_use() -> None:
    document = {"valid_to": format_time(NOW), "expires": format_time(NOW + 1), "status": "archived"}

    assert [one.rule for one in validate_use(document, at=NOW)] == ["GOV-FORGET"]
    assert [one.rule for one in validate_use(document, at=NOW + 1, breaks=["b"])] == [
        "GOV-TIME-1",
        "GOV-TIME-1",
        "GOV-FORGET",
        "GOV-BREAK",
    ]
    assert validate_use(sealed(a_document()), at=NOW) == []
