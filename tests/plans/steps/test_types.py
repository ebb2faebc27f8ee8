"""The eleven steps are what the contract says of them, and are handed no more than they need."""

import inspect

import pytest

from memoranda.outside.files import FolderScanner
from memoranda.outside.models.scripted import ScriptedModel
from memoranda.plans.extractive import ExtractiveSummariser
from memoranda.plans.plan import StepType
from memoranda.plans.spoken import SpokenFacts
from memoranda.plans.steps import CONTRACT
from memoranda.plans.steps.answer import (
    LLMCall,
    PersistMemory,
    PersistSession,
    PromptAssemble,
    SummarizeMemory,
)
from memoranda.plans.steps.context import ContextSelect, RecallMemory, RepoScan, RetrieveMemory
from memoranda.plans.steps.facts import ExtractFacts, RememberFacts
from tests.plans.steps.standing_in import (
    AnsweringRecall,
    AnsweringStore,
    KeepingStaging,
    StandingClock,
    counted_randomness,
)

STAGING = KeepingStaging()
STEPS: list[StepType] = [
    RepoScan(FolderScanner()),
    RetrieveMemory(AnsweringStore([]), 1),
    RecallMemory(AnsweringRecall(), 1),
    ContextSelect(),
    PromptAssemble(None),
    LLMCall(ScriptedModel([])),
    SummarizeMemory(ExtractiveSummariser()),
    ExtractFacts(SpokenFacts()),
    PersistMemory(STAGING, StandingClock(), counted_randomness()),
    RememberFacts(STAGING),
    PersistSession(STAGING),
]


def test_there_is_a_step_for_each_type_of_the_contract_in_its_order() -> None:
    assert [step.name for step in STEPS] == [rule.type for rule in CONTRACT.rules]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_takes_and_gives_what_the_contract_says(step: StepType) -> None:
    rule = CONTRACT.by_type[step.name]

    assert step.stage == rule.stage
    assert {name: tuple(types) for name, types in step.takes.items()} == {
        name: (source.type,) for name, source in rule.takes.items()
    }
    assert tuple(step.gives) == tuple(rule.gives)


def test_only_what_writes_stops_everything() -> None:
    assert [step.name for step in STEPS if step.fails == "fast"] == [
        "PersistMemory",
        "RememberFacts",
        "PersistSession",
    ]


@pytest.mark.rule("ING-STAGE")
def test_only_what_finds_memory_is_handed_a_way_to_it_and_prompt_assemble_a_number() -> None:
    handed = {
        type(step).__name__: [
            str(one.annotation) for one in inspect.signature(type(step)).parameters.values()
        ]
        for step in STEPS
    }

    reaching = [
        name
        for name, kinds in handed.items()
        if any("Store" in kind or "Search" in kind or "Recall" in kind for kind in kinds)
    ]
    assert reaching == ["RetrieveMemory", "RecallMemory"]
    assert handed["PromptAssemble"] == ["int | None"]
    assert handed["ContextSelect"] == []


@pytest.mark.rule("ING-STAGE")
def test_prompt_assemble_keeps_nothing_that_could_lead_to_a_store() -> None:
    assert vars(PromptAssemble(100)) == {"_budget": 100}
