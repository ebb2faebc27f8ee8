"""The eleven types of steps that memoranda brings along; each can be replaced by another.

What a step needs beyond its inputs is handed to its constructor as a small port: so a step that is
handed no store has no way to one (ING-STAGE). What each takes and gives is said once, by the step
contract, version 1:

=================  ===============  ==========  ==================================================
type               stage            must be     takes
=================  ===============  ==========  ==================================================
RepoScan           RepoScan         no          nothing
RetrieveMemory     ContextSelect    no          the turn's text; needs topK; goes to ContextSelect
RecallMemory       ContextSelect    no          the turn's text; needs topK; goes to ContextSelect
ContextSelect      ContextSelect    yes         the turn's text, what was found, the version
PromptAssemble     PromptAssemble   yes         the turn's text, the context
LLMCall            LLMCall          yes         the prompt
SummarizeMemory    SummarizeMemory  no          the response, the turn's text
ExtractFacts       ExtractFacts     no          the turn's text, the response
PersistMemory      Persist          no          summary and keywords of SummarizeMemory
RememberFacts      Persist          no          the facts of ExtractFacts
PersistSession     Persist          yes         the version
=================  ===============  ==========  ==================================================

A type stands in a plan once, in this order. So a summary comes from SummarizeMemory or there is
none (ING-SUMMARY-STEP), and PersistMemory can't be fed with anything else.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue
from memoranda.plans.plan import TURN, Fails, Limit
from memoranda.plans.validation import Source, StepContract, StepRule

_TEXT: Final = Source(TURN, "text")
_SESSION: Final = Source(TURN, "sessionRef")
_VERSION: Final = Source("RepoScan", "versionId")

CONTRACT: Final = StepContract(
    "1",
    turn=("text", "sessionRef"),
    rules=(
        StepRule("RepoScan", "RepoScan", {}, ("versionId", "fileCount")),
        StepRule(
            "RetrieveMemory",
            "ContextSelect",
            {"query": _TEXT},
            ("items",),
            needs=("topK",),
            goes_to="ContextSelect",
        ),
        StepRule(
            "RecallMemory",
            "ContextSelect",
            {"query": _TEXT},
            ("memories", "traceId"),
            needs=("topK",),
            goes_to="ContextSelect",
        ),
        StepRule(
            "ContextSelect",
            "ContextSelect",
            {
                "text": _TEXT,
                "items?": Source("RetrieveMemory", "items"),
                "memories?": Source("RecallMemory", "memories"),
                "repo?": _VERSION,
            },
            ("context",),
            is_mandatory=True,
        ),
        StepRule(
            "PromptAssemble",
            "PromptAssemble",
            {"text": _TEXT, "context": Source("ContextSelect", "context")},
            ("prompt",),
            is_mandatory=True,
        ),
        StepRule(
            "LLMCall",
            "LLMCall",
            {"prompt": Source("PromptAssemble", "prompt")},
            ("response",),
            is_mandatory=True,
        ),
        StepRule(
            "SummarizeMemory",
            "SummarizeMemory",
            {"response": Source("LLMCall", "response"), "text?": _TEXT},
            ("summary", "keywords"),
        ),
        StepRule(
            "ExtractFacts",
            "ExtractFacts",
            {"text": _TEXT, "response": Source("LLMCall", "response")},
            ("facts",),
        ),
        StepRule(
            "PersistMemory",
            "Persist",
            {
                "summary": Source("SummarizeMemory", "summary"),
                "keywords": Source("SummarizeMemory", "keywords"),
                "sessionRef": _SESSION,
            },
            ("id",),
            fails="fast",
        ),
        StepRule(
            "RememberFacts",
            "Persist",
            {"facts": Source("ExtractFacts", "facts"), "sessionRef": _SESSION},
            ("status",),
            fails="fast",
        ),
        StepRule(
            "PersistSession",
            "Persist",
            {"sessionRef": _SESSION, "repo?": _VERSION},
            ("status",),
            is_mandatory=True,
            fails="fast",
        ),
    ),
)
"""The contract of our own steps: what each takes, gives, and how it fails."""


class ShippedStep:
    """A type of step that is in our contract: all but its payload and its limit stands there."""

    name: ClassVar[str]
    stage: ClassVar[str]
    takes: ClassVar[Mapping[str, Sequence[str]]]
    gives: ClassVar[Sequence[str]]
    fails: ClassVar[Fails]
    limit: ClassVar[Limit] = "ioMs"

    def __init_subclass__(cls, *, type: str = "") -> None:  # noqa: A002 - as in a plan
        if type:  # else it is made of one of ours
            rule = CONTRACT.by_type[type]
            cls.name, cls.stage, cls.gives, cls.fails = type, rule.stage, rule.gives, rule.fails
            cls.takes = {name: (source.type,) for name, source in rule.takes.items()}

    def text(self, inputs: Mapping[str, JsonValue], name: str) -> str:
        """An input that is a text; CycleFailed if there is none, or it is something else."""
        if name not in inputs:
            raise CycleFailed(self.name, f"its input {name} is missing")
        if not isinstance(inputs[name], str):
            raise CycleFailed(self.name, f"its input {name} is not a text")
        return str(inputs[name])

    def optional_text(self, inputs: Mapping[str, JsonValue], name: str) -> str | None:
        """The same, for an input that may be absent; null is something else too."""
        return self.text(inputs, name) if name in inputs else None
