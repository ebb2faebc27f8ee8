"""The first step contract, as data: order, stages, and what hangs on what."""

import pytest

from memoranda.plans.plan import TURN
from memoranda.plans.steps import CONTRACT


def test_the_types_stand_in_the_canonical_order() -> None:
    assert list(CONTRACT.by_type) == [
        "RepoScan",
        "RetrieveMemory",
        "RecallMemory",
        "ContextSelect",
        "PromptAssemble",
        "LLMCall",
        "SummarizeMemory",
        "ExtractFacts",
        "PersistMemory",
        "RememberFacts",
        "PersistSession",
    ]


def test_four_types_must_be_there() -> None:
    mandatory = [rule.type for rule in CONTRACT.rules if rule.is_mandatory]

    assert mandatory == ["ContextSelect", "PromptAssemble", "LLMCall", "PersistSession"]


@pytest.mark.rule("ING-PASSING")
def test_every_input_comes_from_an_output_of_a_type_before_it() -> None:
    given = {TURN: set(CONTRACT.turn)}
    for rule in CONTRACT.rules:
        for source in rule.inputs.values():
            assert source.output in given[source.type]
        given[rule.type] = set(rule.gives)


@pytest.mark.rule("ING-STAGE")
def test_only_retrieval_and_selection_share_a_stage_before_the_prompt() -> None:
    in_stage = [rule.type for rule in CONTRACT.rules if rule.stage == "ContextSelect"]

    assert in_stage == ["RetrieveMemory", "RecallMemory", "ContextSelect"]
    for finds in ("RetrieveMemory", "RecallMemory"):
        assert CONTRACT.by_type[finds].goes_to == "ContextSelect"
        takers = [
            rule.type
            for rule in CONTRACT.rules
            if any(source.type == finds for source in rule.inputs.values())
        ]
        assert takers == ["ContextSelect"], "PromptAssemble can't name what was found"


@pytest.mark.rule("ING-TOPK")
def test_whatever_finds_memory_needs_the_plans_top_k() -> None:
    assert [rule.type for rule in CONTRACT.rules if "topK" in rule.needs] == [
        "RetrieveMemory",
        "RecallMemory",
    ]


@pytest.mark.rule("ING-PASSING")
def test_facts_come_from_one_type_and_only_it_feeds_what_remembers() -> None:
    givers = [rule.type for rule in CONTRACT.rules if "facts" in rule.gives]

    assert givers == ["ExtractFacts"]
    assert CONTRACT.by_type["RememberFacts"].inputs["facts"] == ("ExtractFacts", "facts")


@pytest.mark.rule("ING-SUMMARY-STEP")
def test_only_one_type_gives_a_summary_and_only_it_feeds_what_persists() -> None:
    givers = [rule.type for rule in CONTRACT.rules if {"summary", "keywords"} & set(rule.gives)]
    persist = CONTRACT.by_type["PersistMemory"]

    assert givers == ["SummarizeMemory"]
    assert persist.inputs["summary"] == ("SummarizeMemory", "summary")
    assert persist.inputs["keywords"] == ("SummarizeMemory", "keywords")
    assert {"summary", "keywords"} <= set(persist.required)
