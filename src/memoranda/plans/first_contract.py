"""The step contract, version 1: the eight types of steps that memoranda brings along.

=================  ===============  ==========  ==================================================
type               stage            must be     takes
=================  ===============  ==========  ==================================================
RepoScan           RepoScan         no          nothing
RetrieveMemory     ContextSelect    no          the turn's text; needs topK; goes to ContextSelect
ContextSelect      ContextSelect    yes         the turn's text, what was retrieved, the version
PromptAssemble     PromptAssemble   yes         the turn's text, the context
LLMCall            LLMCall          yes         the prompt
SummarizeMemory    SummarizeMemory  no          the response, the turn's text
PersistMemory      Persist          no          summary and keywords of SummarizeMemory
PersistSession     Persist          yes         the version
=================  ===============  ==========  ==================================================

A type stands in a plan once, in this order. So a summary comes from SummarizeMemory or there is
none (ING-SUMMARY-STEP), and PersistMemory can't be fed with anything else.
"""

from typing import Final

from memoranda.plans.plan import TURN
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
            "ContextSelect",
            "ContextSelect",
            {"text": _TEXT, "items?": Source("RetrieveMemory", "items"), "repo?": _VERSION},
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
