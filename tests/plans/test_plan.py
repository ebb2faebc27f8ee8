"""A plan is a frozen value that comes out as the document that went in."""

from typing import Any

import pytest
from pydantic import ValidationError

from memoranda.identity import freeze
from memoranda.kernel.errors import InvalidPlan
from memoranda.plans.plan import (
    Budgets,
    ExecutionPlan,
    PlanMetadata,
    Step,
    StepInput,
    Timeouts,
)
from tests.plans.documents import plan_document


def test_a_document_comes_out_as_it_went_in() -> None:
    document = plan_document()
    document["metadata"] |= {
        "timeouts": {"llmMs": 30_000, "ioMs": 5_000},
        "budgets": {"promptTokens": 4_000},
    }

    assert ExecutionPlan.from_wire(document).to_wire() == document


def test_what_is_absent_stays_absent() -> None:
    document = plan_document(top_k=None)

    assert ExecutionPlan.from_wire(document).to_wire()["metadata"].keys() == {
        "policyProfile",
        "mode",
    }


def test_python_objects_make_the_same_plan() -> None:
    made = ExecutionPlan(
        step_contract_version="1",
        extensions=(),
        metadata=PlanMetadata(
            policy_profile="p",
            mode="m",
            top_k=0,
            timeouts=Timeouts(llm_ms=1),
            budgets=Budgets(prompt_tokens=9),
        ),
        steps=[
            Step(
                id="a",
                type="T",
                stage="S",
                payload=freeze({"deep": [None, {"x": 1.5}]}),
                inputs={"text": StepInput(from_="$turn", output="text")},
            )
        ],
    )

    assert ExecutionPlan.from_wire(made.to_wire()) == made
    assert made.limit("llmMs") == 0.001
    assert made.limit("ioMs") is None


def test_a_model_has_a_time_limit_even_if_the_plan_has_none() -> None:
    plan = ExecutionPlan.from_wire(plan_document())

    assert plan.metadata.timeouts is None
    assert (plan.limit("llmMs"), plan.limit("ioMs")) == (120, None)


def test_nothing_reaches_a_plan_once_it_is_made() -> None:
    document = plan_document()
    plan = ExecutionPlan.from_wire(document)
    before = plan.to_wire()

    document["steps"][3]["payload"]["template"] = "another"
    plan.to_wire()["steps"][3]["payload"]["template"] = "another"
    plan.steps[3].payload.thaw()["template"] = "another"
    with pytest.raises(TypeError):
        plan.steps[3].inputs["text"] = StepInput(from_="x", output="y")  # type: ignore[index]
    with pytest.raises(ValidationError):
        plan.metadata.top_k = 9

    assert plan.to_wire() == before


@pytest.mark.rule("ING-TOPK")
@pytest.mark.parametrize("top_k", [True, -1, 1.0, 1.5, "3", None, 2**53])
def test_top_k_is_a_non_negative_integer_or_absent(top_k: Any) -> None:
    document = plan_document()
    document["metadata"]["topK"] = top_k

    with pytest.raises(InvalidPlan) as caught:
        ExecutionPlan.from_wire(document)

    assert [one.partition(":")[0] for one in caught.value.violations] == ["$.metadata.topK"]


@pytest.mark.parametrize(
    ("place", "member"),
    [
        ((), "step_contract_version"),
        ((), "extensions"),
        ((), "metadata"),
        ((), "steps"),
        (("metadata",), "policyProfile"),
        (("metadata",), "mode"),
        (("steps", 3), "id"),
        (("steps", 3), "type"),
        (("steps", 3), "stage"),
        (("steps", 3), "payload"),
        (("steps", 3), "inputs"),
        (("steps", 3, "inputs", "text"), "from"),
        (("steps", 3, "inputs", "text"), "output"),
    ],
)
def test_every_member_must_be_there(place: tuple[Any, ...], member: str) -> None:
    document = plan_document()
    at: Any = document
    for part in place:
        at = at[part]
    del at[member]

    with pytest.raises(InvalidPlan) as caught:
        ExecutionPlan.from_wire(document)

    assert len(caught.value.violations) == 1


@pytest.mark.parametrize(
    "place",
    [(), ("metadata",), ("steps", 3), ("steps", 3, "inputs", "text"), ("metadata", "timeouts")],
)
def test_a_member_that_is_unknown_is_refused(place: tuple[Any, ...]) -> None:
    document = plan_document()
    document["metadata"]["timeouts"] = {}
    at: Any = document
    for part in place:
        at = at[part]
    at["onFail"] = "skip"

    with pytest.raises(InvalidPlan) as caught:
        ExecutionPlan.from_wire(document)

    assert len(caught.value.violations) == 1
    assert ".onFail: " in caught.value.violations[0]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("extensions",), ["x"]),
        (("extensions",), None),
        (("steps",), []),
        (("steps", 0, "id"), ""),
        (("steps", 0, "id"), "$turn"),
        (("steps", 0, "id"), 7),
        (("steps", 0, "payload"), None),
        (("steps", 0, "payload"), {"x": 2**60}),
        (("steps", 0, "payload"), {"x": float("nan")}),
        (("metadata", "timeouts"), None),
        (("metadata", "timeouts"), {"llmMs": 0}),
        (("metadata", "timeouts"), {"ioMs": True}),
        (("metadata", "budgets"), {"promptTokens": None}),
        (("metadata", "budgets"), {"prompt_tokens": 1}),
    ],
)
def test_a_value_of_a_wrong_form_is_refused(place: tuple[Any, ...], value: Any) -> None:
    document = plan_document()
    at: Any = document
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = value

    with pytest.raises(InvalidPlan) as caught:
        ExecutionPlan.from_wire(document)

    assert caught.value.code == "input.plan"


@pytest.mark.parametrize("document", [None, [], "plan", 3])
def test_what_is_no_object_is_no_plan(document: Any) -> None:
    with pytest.raises(InvalidPlan):
        ExecutionPlan.from_wire(document)
