"""Before anything runs, everything that is wrong with a plan is named."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from memoranda.kernel.errors import InvalidPlan
from memoranda.plans.steps import CONTRACT
from memoranda.plans.validation import validated, violations
from tests.plans.documents import FORMS, of, plan_document, step, steps, turn

OPTIONAL = ("scan", "retrieve", "summarize", "keep")


def wrong(document: Any) -> list[str]:
    """The places of the violations."""
    return [one.partition(": ")[0] for one in violations(document, CONTRACT, FORMS)]


def test_a_whole_plan_can_be_run() -> None:
    assert validated(plan_document(), CONTRACT, FORMS).to_wire() == plan_document()


@pytest.mark.rule("ING-SUMMARY-STEP")
@pytest.mark.parametrize(
    "without", ["", "scan", "retrieve", "keep", "summarize keep", "scan retrieve summarize keep"]
)
def test_optional_steps_may_be_left_out(without: str) -> None:
    assert wrong(plan_document(without=without)) == []


@pytest.mark.parametrize("name", ["select", "assemble", "call", "end"])
def test_mandatory_steps_may_not(name: str) -> None:
    found = violations(plan_document(without=name), CONTRACT, FORMS)

    assert f"$.steps: {steps()[name]['type']} is missing" in found


@pytest.mark.rule("ING-TOPK")
def test_retrieval_without_top_k_is_refused() -> None:
    assert wrong(plan_document(top_k=None)) == ["$.metadata.topK"]


@pytest.mark.rule("ING-TOPK")
def test_a_plan_that_does_not_retrieve_needs_no_top_k() -> None:
    assert wrong(plan_document(without="retrieve", top_k=None)) == []


@pytest.mark.rule("ING-TOPK")
def test_no_limit_means_nothing_and_is_allowed() -> None:
    assert wrong(plan_document(top_k=0)) == []


@pytest.mark.rule("ING-STAGE")
@pytest.mark.parametrize("stage", ["PromptAssemble", "RetrieveMemory", "Persist", "contextselect"])
def test_retrieval_outside_its_stage_is_refused(stage: str) -> None:
    document = plan_document()
    document["steps"][1]["stage"] = stage

    assert wrong(document) == ["$.steps[1].stage"]


@pytest.mark.rule("ING-STAGE")
def test_retrieval_after_the_selection_is_refused() -> None:
    document = plan_document()
    retrieve, select = document["steps"][1:3]
    document["steps"][1:3] = [select, retrieve]

    assert wrong(document) == ["$.steps[2].type", "$.steps[1].inputs.items.from"]


@pytest.mark.rule("ING-STAGE")
def test_retrieval_that_no_selection_takes_is_refused() -> None:
    document = plan_document()
    del document["steps"][2]["inputs"]["items"]

    assert wrong(document) == ["$.steps[1]"]


@pytest.mark.rule("ING-STAGE")
@pytest.mark.rule("ING-PASSING")
def test_a_prompt_can_not_take_what_was_retrieved() -> None:
    document = plan_document()
    document["steps"][3]["inputs"]["context"] = of("retrieve", "items")
    document["steps"][3]["inputs"]["items"] = of("retrieve", "items")

    assert wrong(document) == ["$.steps[3].inputs.context", "$.steps[3].inputs.items"]


@pytest.mark.rule("ING-SUMMARY-STEP")
def test_what_persists_without_a_summary_is_refused() -> None:
    document = plan_document(without="summarize")

    assert wrong(document) == ["$.steps[5].inputs", "$.steps[5].inputs"]


@pytest.mark.rule("ING-SUMMARY-STEP")
@pytest.mark.parametrize("source", [of("call", "response"), turn("text"), of("assemble", "prompt")])
def test_what_persists_takes_a_summary_from_nothing_else(source: dict[str, str]) -> None:
    document = plan_document()
    document["steps"][6]["inputs"]["summary"] = source

    assert wrong(document) == ["$.steps[6].inputs.summary"]


@pytest.mark.rule("ING-PASSING")
@pytest.mark.parametrize(
    ("source", "place"),
    [
        (of("nowhere", "prompt"), ".from"),
        (of("end", "status"), ".from"),
        (of("call", "response"), ".from"),
        (of("assemble", "text"), ".output"),
        (turn("prompt"), ".output"),
        (of("select", "context"), ""),
        (turn("text"), ""),
    ],
)
def test_an_input_names_what_there_is_before_it(source: dict[str, str], place: str) -> None:
    document = plan_document()
    document["steps"][4]["inputs"]["prompt"] = source

    assert wrong(document) == ["$.steps[4].inputs.prompt" + place]


@pytest.mark.rule("ING-PASSING")
def test_an_input_that_is_missing_is_named() -> None:
    document = plan_document()
    document["steps"][4]["inputs"] = {}

    assert wrong(document) == ["$.steps[4].inputs"]


def test_an_id_that_is_there_twice_is_named() -> None:
    document = plan_document()
    document["steps"][7]["id"] = "keep"

    assert wrong(document) == ["$.steps[7].id"]


def test_a_type_that_is_there_twice_is_named() -> None:
    document = plan_document()
    document["steps"].insert(5, {**copy.deepcopy(document["steps"][4]), "id": "again"})

    assert wrong(document) == ["$.steps[5].type"]


def test_a_type_that_is_unknown_is_named() -> None:
    document = plan_document()
    document["steps"].insert(0, step("x", "Wish", "RepoScan"))

    assert wrong(document) == ["$.steps[0].type"]


def test_another_version_is_refused() -> None:
    document = plan_document()
    document["step_contract_version"] = "1.1"

    assert wrong(document) == ["$.step_contract_version"]


def test_a_version_that_is_no_text_is_refused() -> None:
    assert wrong({**plan_document(), "step_contract_version": 1}) == ["$.step_contract_version"]


def test_an_extension_is_refused() -> None:
    assert wrong({**plan_document(), "extensions": [{}]}) == ["$.extensions"]


def test_every_payload_is_checked_and_all_of_it_is_named() -> None:
    document = plan_document()
    document["steps"][1]["payload"] = {"topK": 3}
    document["steps"][3]["payload"] = {"templates": "x", "system": 1}

    assert wrong(document) == [
        "$.steps[1].payload.topK",
        "$.steps[3].payload.template",
        "$.steps[3].payload.system",
        "$.steps[3].payload.templates",
    ]


def test_a_type_that_nobody_brings_is_named() -> None:
    forms = {name: form for name, form in FORMS.items() if name != "RepoScan"}

    found = violations(plan_document(), CONTRACT, forms)

    assert [one.partition(": ")[0] for one in found] == ["$.steps[0].type"]


@pytest.mark.parametrize("name", [None, 1, (), 1.5])
def test_an_input_whose_name_is_no_text_is_refused(name: Any) -> None:
    document = plan_document()
    document["steps"][0]["inputs"] = {name: {"from": "$turn", "output": "text"}}

    assert wrong(document)


def test_a_form_that_is_anybodys_own_model_is_read_like_ours() -> None:
    class Own(BaseModel):
        size: int

    found = violations(plan_document(), CONTRACT, {**FORMS, "LLMCall": Own})  # type: ignore[dict-item]

    assert any(one.startswith("$.steps[4].payload.size: ") for one in found)


def test_steps_in_a_tuple_are_those_of_a_list() -> None:
    document = plan_document()

    assert wrong({**document, "steps": tuple(document["steps"])}) == []


def test_everything_is_named_at_once() -> None:
    document = plan_document(top_k=None)
    document["step_contract_version"] = "9"
    document["extensions"] = ["x"]
    document["metadata"]["flags"] = {}
    document["steps"][0]["loop"] = True
    document["steps"][1]["stage"] = "Persist"
    document["steps"][4]["inputs"]["prompt"]["from"] = "later"
    document["steps"][5]["id"] = "call"
    document["steps"][6]["payload"] = {"raw": "x"}
    del document["steps"][7]

    with pytest.raises(InvalidPlan) as caught:
        validated(document, CONTRACT, FORMS)

    assert [one.partition(": ")[0] for one in caught.value.violations] == [
        "$.extensions",
        "$.metadata.flags",
        "$.steps[0].loop",
        "$.step_contract_version",
        "$.steps[5].id",
        "$.steps",
        "$.steps[1].stage",
        "$.steps[4].inputs.prompt.from",
        "$.steps[6].inputs.summary.from",
        "$.steps[6].inputs.keywords.from",
        "$.metadata.topK",
        "$.steps[6].payload.raw",
    ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.data())
def test_whatever_stands_in_a_document_is_an_answer_and_never_an_error(data: st.DataObject) -> None:
    document = plan_document()
    at: Any = document
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not at[key] or isinstance(at[key], str | int) or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(anything)

    found = violations(document, CONTRACT, FORMS)

    if not found:
        assert validated(document, CONTRACT, FORMS).to_wire() == document


@given(st.permutations(list(steps())), st.sets(st.sampled_from(OPTIONAL)))
def test_only_the_canonical_order_can_be_run(order: list[str], left_out: set[str]) -> None:
    if "summarize" in left_out:
        left_out.add("keep")
    document = plan_document(without=" ".join(left_out))
    of_id = {one["id"]: one for one in document["steps"]}
    document["steps"] = [of_id[name] for name in order if name in of_id]

    is_canonical = [one["id"] for one in document["steps"]] == [
        name for name in steps() if name in of_id
    ]

    assert (violations(document, CONTRACT, FORMS) == ()) == is_canonical
