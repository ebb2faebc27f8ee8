"""The interpreter makes plans of a profile, outside the engine, and fixes the mode of a session."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidPlan
from memoranda.plans.plan import plan_hash
from memoranda.plans.policy import Interpreter, Profile
from memoranda.plans.steps import CONTRACT
from tests.plans.documents import FORMS

PROMPT = {"type": "PromptAssemble", "payload": {"template": "{context} {text}"}}


def mode(id: str, *types: str, **metadata: Any) -> dict[str, Any]:
    steps = [PROMPT if name == "PromptAssemble" else {"type": name} for name in types]
    return {"id": id, "metadata": metadata, "plan": steps}


def whole(id: str, **metadata: Any) -> dict[str, Any]:
    return mode(id, *CONTRACT.by_type, **metadata)


def short(id: str) -> dict[str, Any]:
    return mode(id, "ContextSelect", "PromptAssemble", "LLMCall", "PersistSession")


def profile_document(**others: Any) -> dict[str, Any]:
    return {
        "id": "house",
        "modes": [short("default"), whole("deep", topK=5)],
        "triggers": [
            {"condition": "기억해", "targetMode": "deep"},
            {"condition": "re:^recall\\b", "targetMode": "deep"},
        ],
        "bundles": [{"modeId": "deep", "files": ["docs/house.md"]}],
        **others,
    }


def interpreter(**others: Any) -> Interpreter:
    return Interpreter(Profile.from_wire(profile_document(**others)), CONTRACT, FORMS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hello", "default"),
        ("이걸 기억해 줘", "deep"),
        ("\u1100\u1175\u110b\u1165\u11a8\u1112\u1162", "deep"),  # the same, decomposed
        ("recall what I said", "deep"),
        ("I recall", "default"),
    ],
)
def test_the_first_trigger_that_is_met_chooses_the_mode(text: str, expected: str) -> None:
    begun = interpreter().begin(text)

    assert begun.plan.metadata.mode == expected
    assert begun.policy_ref["modeLabel"] == expected


def test_a_condition_counts_letters_whatever_their_case() -> None:
    triggers = [
        {"condition": "STRASSE", "targetMode": "deep"},
        {"condition": "strasse", "targetMode": "default"},
    ]

    assert interpreter(triggers=triggers).begin("Die Straße").plan.metadata.mode == "deep"


def test_what_a_mode_leaves_out_is_filled_in_from_the_contract() -> None:
    plan = interpreter().modes["deep"].plan

    assert [(step.id, step.type) for step in plan.steps] == [
        (f"step-{place}", name) for place, name in enumerate(CONTRACT.by_type, start=1)
    ]
    assert [step.stage for step in plan.steps] == [rule.stage for rule in CONTRACT.rules]
    assert plan.steps[3].to_wire()["inputs"] == {
        "text": {"from": "$turn", "output": "text"},
        "items": {"from": "step-2", "output": "items"},
        "memories": {"from": "step-3", "output": "memories"},
        "repo": {"from": "step-1", "output": "versionId"},
    }


def test_what_a_mode_says_itself_stays() -> None:
    said = short("default")
    said["plan"][0] = {
        "type": "ContextSelect",
        "id": "pick",
        "inputs": {"text": {"from": "$turn", "output": "text"}},
    }
    plan = interpreter(modes=[said], triggers=[], bundles=[]).begin("x").plan

    assert plan.steps[0].id == "pick"
    assert plan.steps[1].inputs["context"].from_ == "pick"


@pytest.mark.rule("ING-TOPK")
def test_the_interpreter_adds_no_top_k() -> None:
    with pytest.raises(InvalidPlan) as caught:
        interpreter(modes=[short("default"), whole("deep")])

    assert [one.rpartition(": ")[0] for one in caught.value.violations] == [
        "mode deep: $.metadata.topK"
    ] * 2, "for RetrieveMemory and for RecallMemory"


@pytest.mark.rule("ING-TOPK")
def test_a_top_k_in_a_payload_is_none() -> None:
    deep = whole("deep")
    deep["plan"][1] = {"type": "RetrieveMemory", "payload": {"topK": 3}}

    with pytest.raises(InvalidPlan):
        interpreter(modes=[short("default"), deep])


def test_a_mode_in_another_order_is_refused_at_once() -> None:
    upside_down = mode(
        "deep", "ContextSelect", "RepoScan", "PromptAssemble", "LLMCall", "PersistSession"
    )

    with pytest.raises(InvalidPlan) as caught:
        interpreter(modes=[short("default"), upside_down])

    assert "mode deep: $.steps[1].type" in [
        one.rpartition(": ")[0] for one in caught.value.violations
    ]


def test_a_step_is_never_added() -> None:
    with pytest.raises(InvalidPlan):
        interpreter(modes=[mode("default", "ContextSelect", "PromptAssemble", "LLMCall")])


@pytest.mark.rule("ING-HASH")
def test_a_session_is_resumed_in_its_mode_whatever_is_said() -> None:
    one = interpreter()
    begun = one.begin("recall")

    resumed = one.resume(begun.hash)

    assert resumed is not None
    assert resumed == begun
    assert resumed != one.begin("hello")


@pytest.mark.rule("ING-HASH")
def test_a_session_of_another_plan_is_of_no_mode() -> None:
    changed = interpreter(modes=[short("default"), whole("deep", topK=6)])

    assert changed.resume(interpreter().begin("recall").hash) is None


@pytest.mark.rule("ING-HASH")
def test_the_documents_of_a_mode_are_hashed_with_it() -> None:
    one, other = interpreter(), interpreter(bundles=[])

    assert one.modes["deep"].hash != other.modes["deep"].hash
    assert one.modes["default"].hash == other.modes["default"].hash
    deep = one.modes["deep"]
    assert deep.hash == plan_hash(deep.plan, deep.policy_ref)
    assert deep.policy_ref == {
        "policyId": "house",
        "modeLabel": "deep",
        "docBundleRefs": ["docs/house.md"],
    }


@pytest.mark.rule("ING-HASH")
@given(st.text(max_size=20))
def test_nothing_of_the_text_gets_into_the_plan(text: str) -> None:
    one = interpreter()

    assert one.begin(text) in one.modes.values()


@pytest.mark.parametrize(
    "others",
    [
        {"modes": []},
        {"modes": [whole("deep", topK=1)]},
        {"modes": [short("default"), short("default")], "triggers": [], "bundles": []},
        {"modes": [{**short("default"), "extra": 1}], "triggers": [], "bundles": []},
        {"triggers": [{"condition": "x", "targetMode": "nowhere"}]},
        {"triggers": [{"condition": "re:(", "targetMode": "deep"}]},
        {"triggers": [{"condition": "re:a{99999999999999}", "targetMode": "deep"}]},
        {"triggers": [{"condition": "", "targetMode": "deep"}]},
        {"bundles": [{"modeId": "nowhere", "files": []}]},
        {"bundles": [{"modeId": "deep", "files": []}, {"modeId": "deep", "files": []}]},
        {"modes": [{**short("default"), "metadata": {"mode": "other"}}]},
        {"flags": {"memory": True}},
    ],
)
def test_a_profile_that_contradicts_itself_is_refused(others: dict[str, Any]) -> None:
    with pytest.raises(InvalidPlan):
        Profile.from_wire(profile_document(**others))


def test_a_type_that_is_unknown_or_there_twice_is_named() -> None:
    default = mode(
        "default", "Wish", "ContextSelect", "PromptAssemble", "LLMCall", "LLMCall", "PersistSession"
    )
    with pytest.raises(InvalidPlan) as caught:
        interpreter(modes=[default], triggers=[], bundles=[])

    assert [one.rpartition(": ")[0] for one in caught.value.violations] == [
        "mode default: $.steps[0].type",
        "mode default: $.steps[4].type",
    ]
