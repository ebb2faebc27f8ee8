"""Plan documents that are right, to be made wrong by tests."""

from collections.abc import Mapping
from typing import Any

from memoranda.kernel.wire import WireModel
from memoranda.plans.steps import CONTRACT


class Nothing(WireModel):
    """A payload without members."""


class Template(WireModel):
    """A payload with one that must be there."""

    template: str
    system: str | None = None


FORMS: Mapping[str, type[WireModel]] = {
    **{rule.type: Nothing for rule in CONTRACT.rules},
    "PromptAssemble": Template,
}


def turn(output: str) -> dict[str, str]:
    return {"from": "$turn", "output": output}


def of(step: str, output: str) -> dict[str, str]:
    return {"from": step, "output": output}


def step(
    id: str, type_: str, stage: str, payload: Any = None, **inputs: dict[str, str]
) -> dict[str, Any]:
    return {
        "id": id,
        "type": type_,
        "stage": stage,
        "payload": payload or {},
        "inputs": inputs,
    }


def steps() -> dict[str, dict[str, Any]]:
    """All eleven, by a short name, wired."""
    return {
        "scan": step("scan", "RepoScan", "RepoScan"),
        "retrieve": step("retrieve", "RetrieveMemory", "ContextSelect", query=turn("text")),
        "recall": step("recall", "RecallMemory", "ContextSelect", query=turn("text")),
        "select": step(
            "select",
            "ContextSelect",
            "ContextSelect",
            text=turn("text"),
            items=of("retrieve", "items"),
            memories=of("recall", "memories"),
            repo=of("scan", "versionId"),
        ),
        "assemble": step(
            "assemble",
            "PromptAssemble",
            "PromptAssemble",
            {"template": "{context}\n{text}"},
            text=turn("text"),
            context=of("select", "context"),
        ),
        "call": step("call", "LLMCall", "LLMCall", prompt=of("assemble", "prompt")),
        "summarize": step(
            "summarize", "SummarizeMemory", "SummarizeMemory", response=of("call", "response")
        ),
        "extract": step(
            "extract",
            "ExtractFacts",
            "ExtractFacts",
            text=turn("text"),
            response=of("call", "response"),
        ),
        "keep": step(
            "keep",
            "PersistMemory",
            "Persist",
            summary=of("summarize", "summary"),
            keywords=of("summarize", "keywords"),
            sessionRef=turn("sessionRef"),
        ),
        "remember": step(
            "remember",
            "RememberFacts",
            "Persist",
            facts=of("extract", "facts"),
            sessionRef=turn("sessionRef"),
        ),
        "end": step(
            "end",
            "PersistSession",
            "Persist",
            sessionRef=turn("sessionRef"),
            repo=of("scan", "versionId"),
        ),
    }


GOVERNED = "recall extract remember"
"""The steps that lead to governed memory and from it."""


def plan_document(
    *, without: str = "", top_k: int | None = 3, is_governed: bool = False
) -> dict[str, Any]:
    """A plan of the seeds' steps; `without` some, by their short names, and what they would feed.

    One that `is_governed` has the steps to governed memory as well.
    """
    left_out = [*without.split(), *([] if is_governed else GOVERNED.split())]
    kept = {name: one for name, one in steps().items() if name not in left_out}
    for one in kept.values():
        one["inputs"] = {
            name: source for name, source in one["inputs"].items() if source["from"] not in left_out
        }
    metadata: dict[str, Any] = {"policyProfile": "default", "mode": "default"}
    if top_k is not None:
        metadata["topK"] = top_k
    return {
        "step_contract_version": "1",
        "extensions": [],
        "metadata": metadata,
        "steps": list(kept.values()),
    }
