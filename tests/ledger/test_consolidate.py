"""Consolidation: the gates, the output, its event, and the output from its event."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import Frozen, canonical_bytes, freeze
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger.consolidate import Refusal, consolidate, rebuild
from memoranda.ledger.event import event_document
from memoranda.ledger.gates import ConsolidationDraft, find_conflicts, is_borne
from memoranda.ledger.lifecycle import TRUST, StatusChange, archive
from memoranda.ledger.model import read
from memoranda.ledger.object import VERDICT_TYPES, VerdictType, sealed
from memoranda.ledger.pieces import pieces_of, text_of
from memoranda.ledger.time import Validity, validity_of
from memoranda.ledger.validate import validate_object
from memoranda.ledger.validate_events import validate_log
from tests.ledger.objects import (
    DAY,
    NONCE,
    NOW,
    OTHER_NONCE,
    a_fact,
    json_values,
    texts,
    validities,
)

EMAIL = "The customer prefers to be written to by email"
TIME = "The customer answers in the morning and not at night"
MERGED = "The customer prefers to be written to by email and answers in the morning"


def outcome(
    inputs: list[Frozen], *, justification: str = "they say the same", **draft: Any
) -> StatusChange | Refusal:
    said = [one.thaw()["statement"] for one in inputs]
    statement = MERGED if EMAIL in said and TIME in said else ". ".join(said) or MERGED
    defaults: dict[str, Any] = {"statement": statement, "verdict_type": "Factual"}
    return consolidate(
        inputs,
        ConsolidationDraft(**defaults | draft),
        justification,
        id="merged",
        at=NOW + 1,
        nonce=OTHER_NONCE,
    )


def passed(inputs: list[Frozen], **draft: Any) -> StatusChange:
    result = outcome(inputs, **draft)
    assert isinstance(result, StatusChange), result
    return result


def failing(inputs: list[Frozen], **draft: Any) -> tuple[str, ...]:
    result = outcome(inputs, **draft)
    assert isinstance(result, Refusal), result
    return result.gates


def two(**members: Any) -> list[Frozen]:
    return [a_fact("a", EMAIL, **members), a_fact("b", TIME)]


# ------------------------------------------------------------------------ the output


@pytest.mark.rule("GOV-CONS-1", "GOV-CONS-2", "GOV-CONS-3")
def test_the_output_is_a_consolidated_statement_with_all_sources_and_types() -> None:
    inputs = two(statement_type="UserProvidedStatement", source_refs=[{"uri": "x"}, {"uri": "y"}])

    done = passed(inputs, source_refs=[{"uri": "y"}, {"uri": "new"}])

    document = done.object.thaw()
    assert document["statement_type"] == "ConsolidatedStatement"
    assert document["statement"] == MERGED
    assert [source["uri"] for source in document["source_refs"]] == [
        "x",
        "y",
        "https://example.org/b",
        "new",
    ]
    assert [(one["id"], one["statement_type"], one["hash"]) for one in document["inputs"]] == [
        ("a", "UserProvidedStatement", f"sha256:{inputs[0].digest}"),
        ("b", "SourceStatement", f"sha256:{inputs[1].digest}"),
    ]
    assert validate_object(sealed(document)) == []


@pytest.mark.rule("GOV-CONS-4")
def test_the_event_has_inputs_output_justification_and_a_reconstruction() -> None:
    done = passed(two(), justification="they say the same")

    event = event_document(
        event_id="1", event_type=done.event_type, at=NOW, actor="policy-engine", **done.members
    )

    assert event["input_ids"] == ["a", "b"]
    assert event["output_id"] == event["memory_object_id"] == "merged"
    assert event["justification"] == "they say the same"
    assert validate_log([event]) == []


@pytest.mark.rule("GOV-CONS-4")
def test_the_diff_says_what_was_copied_from_where() -> None:
    done = passed(two())

    assert done.object.thaw()["reconstruction"]["pieces"] == [
        {"of": "a", "from": 0, "to": len(EMAIL)},
        {"text": " and"},
        {"of": "b", "from": TIME.index(" answers"), "to": TIME.index(" and")},
    ]


@pytest.mark.parametrize("low", TRUST)
def test_the_output_has_the_lowest_trust_of_inputs_and_door(low: Any) -> None:
    inputs = [a_fact("a", EMAIL, trust=low), a_fact("b", TIME, trust="approved")]

    lowest = min(low, "unreviewed", key=TRUST.index)
    assert passed(inputs).object.thaw()["trust"] == lowest


def test_the_output_applies_where_all_inputs_do() -> None:
    apart = [a_fact("a", scope={"audience": "x"}), a_fact("b", scope={"audience": "y"})]
    free = [a_fact("a", scope=None), a_fact("b", jurisdiction="CA-QC", subject="kim")]

    both = passed(apart).object.thaw()
    one = passed(free).object.thaw()

    assert both["applicability_scope"] == {"all_of": [{"audience": "x"}, {"audience": "y"}]}
    assert one["applicability_scope"] == {"scope": "support"}
    assert one["jurisdiction"] == "CA-QC"
    assert "subject" not in one
    assert passed([a_fact(id, subject="kim") for id in "ab"]).object.thaw()["subject"] == "kim"


def test_the_output_expires_with_the_first_of_its_inputs() -> None:
    inputs = [a_fact("a", expires=NOW + 500), a_fact("b", expires=NOW + DAY), a_fact("c")]

    assert passed(inputs).object.thaw()["expires"] == format_time(NOW + 500)


# ---------------------------------------------------------------------------- gates


@pytest.mark.rule("GOV-CONS-3")
def test_gate_a_wants_several_distinct_active_typed_objects() -> None:
    gone = archive(a_fact("b"), reason="x", cause="policy", at=NOW, nonce=NONCE).object
    untyped = freeze({**a_fact("b").thaw(), "statement_type": "Rumour"})
    foreign = freeze({**a_fact("b").thaw(), "trust": ["high"]})

    for inputs in ([], [a_fact()], [a_fact(), a_fact()], [a_fact(), gone], [a_fact(), untyped]):
        assert "A" in failing(inputs)
    assert failing([a_fact(), foreign]) == ("A",)


@pytest.mark.rule("GOV-CONS-5")
def test_gate_b_refuses_when_any_input_has_no_source() -> None:
    bare = a_fact(
        "b", source_refs=[], statement_type="UserProvidedStatement", verdict_type="Inference"
    )

    result = outcome([a_fact(), bare], verdict_type="Inference")

    assert isinstance(result, Refusal)
    assert [(one.gate, one.rule, one.ids) for one in result.failures] == [
        ("B", "GOV-CONS-5", ("b",))
    ]


@pytest.mark.rule("GOV-CONS-1")
@pytest.mark.parametrize("output", VERDICT_TYPES)
@pytest.mark.parametrize("weakest", VERDICT_TYPES)
def test_gate_b_lets_no_verdict_be_stronger_than_the_weakest_input(
    weakest: VerdictType, output: VerdictType
) -> None:
    inputs = [a_fact("a"), a_fact("b", "Another", verdict_type=weakest)]
    borne = {
        "Factual": {"Factual", "Inference", "Unanswered"},
        "Inference": {"Inference", "Unanswered"},
        "Unanswered": {"Unanswered"},
        "False": {"Unanswered"},
    }

    result = outcome(inputs, verdict_type=output)

    assert isinstance(result, StatusChange) == (output in borne[weakest])


@given(st.lists(st.sampled_from(VERDICT_TYPES), min_size=1), st.sampled_from(VERDICT_TYPES))
def test_one_more_input_never_strengthens_a_verdict(
    inputs: list[VerdictType], verdict: VerdictType
) -> None:
    assert not is_borne(verdict, inputs) or is_borne(verdict, inputs[1:] or inputs)
    assert is_borne("Unanswered", inputs)
    assert is_borne("False", ["False"] * 2)


def test_gate_b_wants_unsourced_fragments_marked_and_the_whole_not_factual() -> None:
    fragment = {"derived_fragments": ["in the morning"]}

    assert failing(two(), **fragment) == ("B",)
    assert failing(two(), derived_fragments=["at noon"], verdict_type="Inference") == ("B",)
    kept = passed(two(), **fragment, verdict_type="Inference").object.thaw()
    assert kept["derived_fragments"] == ["in the morning"]


def test_gate_b_wants_new_sources_to_be_named() -> None:
    assert "B" in failing(two(), source_refs=[{"anchor": "x"}])
    assert failing(two(), statement="") == ("B",)


@pytest.mark.rule("GOV-TIME-3")
def test_gate_c_keeps_the_most_restrictive_validity() -> None:
    inputs = [
        a_fact("a", validity=Validity(NOW, NOW + 9 * DAY, "bounded")),
        a_fact("b", validity=Validity(NOW + DAY, None, "unbounded")),
    ]

    document = passed(inputs).object.thaw()

    assert validity_of(document) == Validity(NOW + DAY, NOW + 9 * DAY, "bounded")


@pytest.mark.rule("GOV-TIME-3")
def test_gate_c_lets_validity_widen_only_with_a_justification() -> None:
    inputs = [a_fact(id, validity=Validity(NOW, NOW + DAY, "bounded")) for id in "ab"]
    wider = Validity(NOW, NOW + 2 * DAY, "bounded")
    tighter = Validity(NOW, NOW + 1, "bounded")

    assert failing(inputs, validity=wider) == ("C",)
    assert failing(inputs, validity=wider, widening=" ") == ("C",)
    assert failing(inputs, validity=Validity(NOW, None, "unbounded")) == ("C",)
    assert validity_of(passed(inputs, validity=tighter).object.thaw()) == tighter
    widened = passed(inputs, validity=wider, widening="the contract was renewed")
    assert widened.members["reconstruction"]["widening"] == "the contract was renewed"
    assert validity_of(widened.object.thaw()) == wider


@pytest.mark.rule("GOV-TIME-3")
def test_gate_c_refuses_inputs_that_never_hold_together() -> None:
    inputs = [
        a_fact("a", validity=Validity(NOW, NOW + 1, "bounded")),
        a_fact("b", validity=Validity(NOW + 2, NOW + 3, "bounded")),
    ]

    assert failing(inputs) == ("C",)


@pytest.mark.rule("GOV-TIME-2")
def test_gate_c_refuses_an_input_that_does_not_say_when_it_holds() -> None:
    silent = freeze({**a_fact("b").thaw(), "temporal_scope": None})

    assert failing([a_fact(), silent]) == ("C",)


def test_gate_d_refuses_a_conflict_or_records_it_without_a_fact() -> None:
    inputs = [
        a_fact("a", EMAIL, verdict_type="Inference"),
        a_fact("b", EMAIL.upper(), verdict_type="False"),
    ]

    assert failing(inputs, verdict_type="Unanswered") == ("D",)
    assert failing(inputs, verdict_type="Unanswered", on_conflict="refuse") == ("D",)
    recorded = passed(inputs, verdict_type="Unanswered", on_conflict="record")
    assert recorded.object.thaw()["conflicts"][0]["ids"] == ["a", "b"]


def test_gate_d_refuses_two_jurisdictions() -> None:
    assert failing([a_fact("a", jurisdiction="CA"), a_fact("b", jurisdiction="KR")]) == ("D",)


def test_data_about_one_subject_conflicts_where_a_member_differs() -> None:
    def data(id: str, statement: str, **members: Any) -> dict[str, Any]:
        return cast("dict[str, Any]", a_fact(id, statement, format="json", **members).thaw())

    one = data("a", '{"channel":"email","name":"Kim"}', subject="kim")
    other = data("b", '{"channel":"phone","name":"Kim"}', subject="kim")

    assert [conflict.why for conflict in find_conflicts([one, other])] == ["they differ in channel"]
    assert find_conflicts([one, {**other, "subject": "lee"}]) == []
    assert find_conflicts([one, {**other, "verdict_type": "False"}]) == []
    assert find_conflicts([{**both, "verdict_type": "False"} for both in (one, other)]) == []
    assert find_conflicts([one, {**other, "statement": "[1]"}]) == []


@pytest.mark.rule("GOV-CONS-4")
@pytest.mark.parametrize("justification", ["", " \n"])
def test_gate_e_wants_a_justification(justification: str) -> None:
    assert failing(two(), justification=justification) == ("E",)


def test_a_refusal_names_all_gates_that_failed() -> None:
    inputs = [
        a_fact("a", validity=Validity(NOW, NOW + 1, "bounded"), jurisdiction="CA"),
        a_fact("a", source_refs=[], validity=Validity(NOW + 2, NOW + 3), jurisdiction="KR"),
    ]

    assert failing(inputs, justification="") == ("A", "B", "C", "D", "E")


# -------------------------------------------------------------------------- rebuilding


def over_the_wire(done: StatusChange) -> dict[str, Any]:
    return cast("dict[str, Any]", read(canonical_bytes(done.members)))


@pytest.mark.rule("GOV-CONS-4")
@given(
    statements=st.lists(texts, min_size=2, max_size=4),
    words=st.lists(st.integers(0, 30), max_size=20),
    new=texts,
    validity=st.none() | validities(),
    tags=st.none() | st.lists(texts, max_size=2),
    meta=st.none() | st.dictionaries(texts, json_values, max_size=2),
)
def test_the_event_rebuilds_the_output(
    statements: list[str], words: list[int], new: str, **draft: Any
) -> None:
    inputs = [a_fact(str(number), text) for number, text in enumerate(statements)]
    cut = " ".join(statements).split() or ["x"]
    statement = new + " ".join(cut[word % len(cut)] for word in words)

    done = passed(
        inputs,
        statement=statement,
        verdict_type="Inference",
        widening="generated",
        on_conflict="record",
        **draft,
    )

    assert rebuild(over_the_wire(done), inputs) == done.object.canonical


@pytest.mark.rule("GOV-CONS-4")
def test_other_inputs_rebuild_nothing() -> None:
    inputs = two()
    event = over_the_wire(passed(inputs))

    for others in (inputs[::-1], inputs[:1], [inputs[0], a_fact("b", "Another")]):
        with pytest.raises(InvalidProof):
            rebuild(event, others)


def test_an_unknown_method_rebuilds_nothing() -> None:
    event = over_the_wire(passed(two()))
    event["reconstruction"]["method"] = "guess"

    with pytest.raises(InvalidProof):
        rebuild(event, two())


@given(st.lists(st.sampled_from(["a ", "b ", "c", " ", "a b c "]), max_size=30), st.data())
def test_pieces_make_the_text_again(words: list[str], data: st.DataObject) -> None:
    sources = {str(number): "".join(data.draw(st.permutations(words))) for number in range(2)}

    assert text_of(pieces_of("".join(words), sources), sources) == "".join(words)


@pytest.mark.parametrize(
    "piece", [{"of": "x", "from": 0, "to": 1}, {"of": "a", "from": 0, "to": 99}, {}, 5]
)
def test_a_piece_of_nothing_is_refused(piece: Any) -> None:
    with pytest.raises(InvalidProof):
        text_of([piece], {"a": "abc"})
