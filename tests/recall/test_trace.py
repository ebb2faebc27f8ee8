"""A trace says who selected what, why, when and how sure; everything wrong is told at once."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidWorld
from memoranda.recall.trace import (
    MemoryRef,
    SelectedMemory,
    TraceError,
    merged,
    trace_context,
    traces_in,
    validate_memory_trace,
)
from memoranda.worlds.proposal import Proposal
from tests.recall.tracing import DATA, evidence, odd_values, read, selected, trace, vectors

SHARED = Path(__file__).parents[3] / "shared" / "data" / "vectors"


def nested(depth: int) -> Any:
    found: Any = []
    for _ in range(depth - 1):
        found = [found]
    return found


def rules_of(given: Any) -> list[tuple[str, str]]:
    return [(error.where, error.rule) for error in validate_memory_trace(given).errors]


# ---------------------------------------------------------------------- verdicts


@pytest.mark.rule("TRACE-SHAPE", "C-2", "C-3", "CONF-RANGE")
@pytest.mark.parametrize("case", vectors(), ids=lambda case: str(case["name"]))
def test_each_vector_has_its_verdict(case: dict[str, Any]) -> None:
    result = validate_memory_trace(case["trace"])

    assert result.valid is case["valid"]
    assert bool(result.errors) is not case["valid"]


def test_our_copy_is_the_shared_vectors() -> None:
    shared = SHARED / "memory-trace.json"
    if not shared.is_file():
        pytest.skip(f"the shared vectors are not here: {shared}")

    assert (DATA / "memory-trace.json").read_bytes() == shared.read_bytes()


@pytest.mark.rule("C-2")
@pytest.mark.parametrize(
    ("selector", "wheres"),
    [
        (None, ["$.selector"]),
        ("agent:a", ["$.selector"]),
        ([], ["$.selector"]),
        ({}, ["$.selector.actorId", "$.selector.kind"]),
        ({"actorId": "", "kind": "agent"}, ["$.selector.actorId"]),
        ({"actorId": "a" * 257, "kind": "agent"}, ["$.selector.actorId"]),
        ({"actorId": 1, "kind": "agent"}, ["$.selector.actorId"]),
        ({"actorId": "a\x00", "kind": "agent"}, ["$.selector.actorId"]),
        ({"actorId": "a", "kind": "robot"}, ["$.selector.kind"]),
        ({"actorId": "a", "kind": ["agent"]}, ["$.selector.kind"]),
        ({"actorId": "a", "kind": "agent", "name": 1}, ["$.selector.name"]),
        ({"actorId": "a", "kind": "agent", "meta": []}, ["$.selector.meta"]),
        ({"actorId": "a", "kind": "agent", "meta": {"n": 2**53}}, ["$.selector.meta.n"]),
        (
            {"actorId": 1, "kind": 1, "name": 1, "meta": 1},
            ["$.selector.actorId", "$.selector.kind", "$.selector.name", "$.selector.meta"],
        ),
    ],
)
def test_a_selector_that_is_no_actor_is_told_member_by_member(
    selector: Any, wheres: list[str]
) -> None:
    assert rules_of(trace(selector=selector)) == [(where, "C-2") for where in wheres]


@pytest.mark.rule("C-2")
@pytest.mark.parametrize("kind", ["human", "agent", "system"])
def test_a_selector_may_have_a_name_and_meta(kind: str) -> None:
    selector = {"actorId": "a", "kind": kind, "name": "Ann", "meta": {"team": [1]}}

    assert validate_memory_trace(trace(selector=selector)).valid
    assert read(trace(selector=selector)).to_wire()["selector"] == selector


@pytest.mark.rule("C-3")
@pytest.mark.parametrize("wrong", [None, "", 1, [], "a" * 513, "a\x00", "\ud800"])
def test_a_world_id_is_a_text_and_all_wrong_ones_are_told(wrong: Any) -> None:
    given = trace(selected(wrong), selected(), selected(wrong))

    assert rules_of(given) == [
        ("$.selected[0].ref.worldId", "C-3"),
        ("$.selected[2].ref.worldId", "C-3"),
    ]
    assert rules_of(trace(selected(ref={}))) == [("$.selected[0].ref.worldId", "C-3")]


@pytest.mark.rule("C-3")
def test_an_id_of_a_world_is_opaque() -> None:
    assert validate_memory_trace(trace(selected("w"), selected("0" * 64))).valid


@pytest.mark.rule("CONF-RANGE")
@pytest.mark.parametrize(
    "wrong",
    [float("nan"), float("inf"), float("-inf"), -0.1, 1.0000001, 2, 10**400, True, "0.5", None, []],
)
def test_a_confidence_outside_of_0_to_1_is_told(wrong: Any) -> None:
    assert rules_of(trace(selected(confidence=wrong))) == [
        ("$.selected[0].confidence", "CONF-RANGE")
    ]
    with pytest.raises(InvalidWorld):
        SelectedMemory(ref=MemoryRef(world_id="w"), reason="r", confidence=wrong, verified=True)


@pytest.mark.rule("CONF-RANGE")
@pytest.mark.parametrize("right", [0, 1, 0.0, 1.0, 0.5, -0.0, 5e-324])
def test_a_confidence_from_0_to_1_is_one(right: float) -> None:
    assert read(trace(selected(confidence=right))).selected[0].confidence == right


@pytest.mark.rule("R-4")
@pytest.mark.parametrize("member", ["ref", "reason", "confidence", "verified"])
def test_how_incomplete_a_memory_is_can_not_be_left_out(member: str) -> None:
    without = {name: value for name, value in selected().items() if name != member}

    assert rules_of(trace(without)) == [(f"$.selected[0].{member}", "TRACE-SHAPE")]
    with pytest.raises(InvalidWorld):
        SelectedMemory.from_wire(without)


@pytest.mark.rule("TRACE-SHAPE")
@pytest.mark.parametrize("member", ["selector", "query", "selectedAt", "atWorldId", "selected"])
@pytest.mark.parametrize("wrong", [None, 0, 1.5, True, {"a": 1}])
def test_a_trace_has_its_five_members(member: str, wrong: Any) -> None:
    without = {name: value for name, value in trace().items() if name != member}

    assert {where.split(".")[1] for where, _ in rules_of(without)} == {member}
    assert {where.split(".")[1] for where, _ in rules_of(trace(**{member: wrong}))} == {member}


@pytest.mark.rule("TRACE-SHAPE")
def test_everything_that_is_wrong_is_told_at_once() -> None:
    wrong = trace(
        selected(reason="", confidence=2, verified="yes"),
        selected(evidence=evidence(method="", verifiedAt=0, verifiedBy={"kind": "agent"})),
        selected(evidence=[]),
        {},
        selector="me",
        query="",
        selectedAt=-1,
        atWorldId=None,
    )
    wrong["selected"].append(5)

    assert rules_of(wrong) == [
        ("$.selector", "C-2"),
        ("$.query", "TRACE-SHAPE"),
        ("$.selectedAt", "TRACE-SHAPE"),
        ("$.atWorldId", "TRACE-SHAPE"),
        ("$.selected[0].reason", "TRACE-SHAPE"),
        ("$.selected[0].verified", "TRACE-SHAPE"),
        ("$.selected[0].confidence", "CONF-RANGE"),
        ("$.selected[1].evidence.method", "TRACE-SHAPE"),
        ("$.selected[1].evidence.verifiedAt", "TRACE-SHAPE"),
        ("$.selected[1].evidence.verifiedBy.actorId", "TRACE-SHAPE"),
        ("$.selected[2].evidence", "TRACE-SHAPE"),
        ("$.selected[3].reason", "TRACE-SHAPE"),
        ("$.selected[3].verified", "TRACE-SHAPE"),
        ("$.selected[3].ref", "TRACE-SHAPE"),
        ("$.selected[3].confidence", "TRACE-SHAPE"),
        ("$.selected[4]", "TRACE-SHAPE"),
    ]
    first = validate_memory_trace(wrong).errors[0]
    assert first == TraceError("$.selector", "C-2", first.why)
    assert str(first).startswith("$.selector: ")


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"proof": float("nan")}, "$.proof"),
        ({"proof": {"a": [object()]}}, "$.proof.a[0]"),
        ({"proof": nested(61)}, "$.proof" + "[0]" * 60),
        ({"checkpoint": "note"}, "$.checkpoint"),
        ({"checkpoint": {}}, "$.checkpoint.note"),
        ({"checkpoint": {"note": "n", "path": "x"}}, "$.checkpoint.path"),
        ({"checkpoint": {"note": "n", "path": [1]}}, "$.checkpoint.path"),
    ],
)
def test_evidence_that_is_none_is_told(wrong: dict[str, Any], where: str) -> None:
    given = trace(selected(evidence=evidence(**wrong)))

    assert [found for found, _ in rules_of(given)] == [where.replace("$", "$.selected[0].evidence")]


@pytest.mark.rule("TRACE-SHAPE")
def test_a_trace_may_have_selected_nothing() -> None:
    empty = read(trace(selected=[]))

    assert empty.selected == ()
    assert validate_memory_trace(empty).valid


# --------------------------------------------------------------- reading and writing

UNKNOWN: dict[str, Any] = {"summary": "the customer prefers email", "n": None}


@pytest.mark.rule("TRACE-SHAPE")
def test_members_that_are_not_known_are_read_and_never_written() -> None:
    known = trace(selected(evidence=evidence(checkpoint={"note": "n", "path": ["h"]})))
    actor = {**known["selector"], **UNKNOWN}
    told = evidence(verifiedBy=actor, checkpoint={"note": "n", "path": ["h"], **UNKNOWN}, **UNKNOWN)
    more = trace(
        selected(ref={"worldId": "world-100", "snapshotHash": "x"}, evidence=told, **UNKNOWN),
        selector=actor,
        **UNKNOWN,
    )

    assert validate_memory_trace(more).valid
    assert read(more) == read(known)
    assert read(more).to_wire() == known


def test_a_trace_is_made_of_members_that_are_known() -> None:
    with pytest.raises(InvalidWorld):
        MemoryRef(world_id="w", snapshot_hash="x")  # type: ignore[call-arg]


def test_a_trace_that_was_read_is_by_value_and_frozen() -> None:
    wire = trace(
        selected(evidence=evidence()), selector={"actorId": "a", "kind": "agent", "meta": {"a": {}}}
    )
    kept = copy.deepcopy(wire)
    held = read(wire)

    wire["selector"]["meta"]["a"]["spoilt"] = wire["selected"][0]["evidence"]["proof"]["spoilt"] = (
        True
    )
    wire["selected"].clear()

    assert held.to_wire() == kept
    with pytest.raises(ValueError, match="frozen"):
        held.query = "other"


@pytest.mark.rule("TRACE-SHAPE")
@given(st.data())
def test_what_is_valid_is_read_and_what_is_not_is_refused(data: st.DataObject) -> None:
    wire = trace(selected(evidence=evidence(checkpoint={"note": "n", "path": []})), selected())
    for _ in range(data.draw(st.integers(0, 3))):
        place: Any = wire
        while True:
            steps = list(place) if isinstance(place, dict) else range(len(place))
            if not steps:
                break
            step = data.draw(st.sampled_from(steps))
            if isinstance(place[step], dict | list) and data.draw(st.booleans()):
                place = place[step]
                continue
            place[step] = data.draw(odd_values)
            break

    result = validate_memory_trace(wire)

    if result.valid:
        assert read(read(wire).to_wire()) == read(wire)
        assert validate_memory_trace(read(wire)).valid
    else:
        with pytest.raises(InvalidWorld) as caught:
            read(wire)
        assert caught.value.where == result.errors[0].where


# --------------------------------------------------------------------- several

FIRST = read(trace(selected("a"), query="orders", selectedAt=5))
SECOND = read(
    trace(
        selected("b"),
        selected("a"),
        query="refunds",
        selectedAt=9,
        atWorldId="world-7",
        selector={"actorId": "other", "kind": "human"},
    )
)
THIRD = read(trace(selected=[], query="returns", selectedAt=7))
TAKER = ActorRef(actor_id="taker", kind="agent")
BOTH = trace_context([FIRST, SECOND], TAKER)


def test_one_trace_stays_itself() -> None:
    assert merged([FIRST], TAKER) == (FIRST, ())
    assert trace_context([FIRST], TAKER) == {"memory": FIRST.to_wire()}


def test_several_traces_are_one_with_all_that_was_selected_and_asked() -> None:
    memory, traces = merged([FIRST, SECOND, THIRD], TAKER)

    assert traces == (FIRST, SECOND, THIRD)
    assert [one.ref.world_id for one in memory.selected] == ["a", "b", "a"]
    assert memory.query == "orders; refunds; returns"
    assert (memory.selected_at, memory.at_world_id) == (9, "world-7")
    assert validate_memory_trace(memory).valid


@pytest.mark.rule("R-3")
def test_in_a_merged_trace_nobody_answers_for_what_another_one_selected() -> None:
    memory, _ = merged([FIRST, SECOND], TAKER)

    assert memory.selector == TAKER
    assert [one.selector for one in memory.selected] == [
        FIRST.selector,
        SECOND.selector,
        SECOND.selector,
    ]
    assert read(memory.to_wire()) == memory


@pytest.mark.rule("R-3")
def test_a_merged_trace_of_one_selector_is_that_ones() -> None:
    memory, _ = merged([FIRST, THIRD], TAKER)

    assert memory.selector == FIRST.selector
    assert [one.selector for one in memory.selected] == [FIRST.selector]


@pytest.mark.rule("C-2")
def test_the_selector_of_one_memory_is_an_actor_too() -> None:
    wrong = trace(selected("a", selector={"actorId": "", "kind": "robot"}))

    found = validate_memory_trace(wrong)

    assert {error.where for error in found.errors} == {
        "$.selected[0].selector.actorId",
        "$.selected[0].selector.kind",
    }


def test_of_traces_of_one_time_the_last_one_counts() -> None:
    again = read(trace(selectedAt=9, atWorldId="world-8"))

    assert merged([SECOND, again], TAKER)[0].at_world_id == "world-8"


def test_there_is_nothing_to_merge_in_no_trace() -> None:
    with pytest.raises(InvalidWorld):
        merged([], TAKER)
    assert trace_context([], TAKER) == {}


@pytest.mark.rule("MIN-INVASION")
@pytest.mark.parametrize("traces", [(), (FIRST,), (FIRST, SECOND), (FIRST, FIRST, THIRD)])
def test_traces_stand_in_the_context_and_are_read_from_there(traces: Any) -> None:
    context = trace_context(traces, TAKER)

    assert context.keys() <= {"memory", "memoryTraces"}
    assert traces_in({"other": 1, **context}) == traces
    assert not {name for name in Proposal.model_fields if "memory" in name}


def test_a_proposal_without_context_rests_on_no_memory() -> None:
    assert traces_in(None) == traces_in({}) == traces_in({"other": 1}) == ()


@pytest.mark.parametrize(
    ("context", "where"),
    [
        ({"memory": None}, "$.memory"),
        ({"memory": {}}, "$.memory.selector"),
        ({"memoryTraces": [trace()]}, "$.memory"),
        ({**BOTH, "memoryTraces": []}, "$.memoryTraces"),
        ({**BOTH, "memoryTraces": {}}, "$.memoryTraces"),
        ({**BOTH, "memoryTraces": [trace(), 5]}, "$.memoryTraces[1]"),
        ({**BOTH, "memoryTraces": [FIRST.to_wire()]}, "$.memory"),
        ({**BOTH, "memory": SECOND.to_wire()}, "$.memory"),
    ],
)
def test_a_context_whose_traces_do_not_fit_is_refused(context: Any, where: str) -> None:
    with pytest.raises(InvalidWorld) as caught:
        traces_in(context)

    assert caught.value.where == where
