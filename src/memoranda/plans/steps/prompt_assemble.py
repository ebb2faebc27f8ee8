"""PromptAssemble: what the model is asked, from values alone.

Its constructor takes a number and nothing else: there is no way from here to a store (ING-STAGE).
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from memoranda.kernel.errors import CycleFailed, InvalidInput
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.plans.models import Prompt
from memoranda.plans.plan import NOT_NULL
from memoranda.plans.quoted import framed
from memoranda.plans.step import TURN, Fails, Limit
from memoranda.plans.steps.context_select import ContextEntry
from memoranda.plans.steps.inputs import text_input
from memoranda.plans.steps.template import check_template, filled
from memoranda.text.estimate import estimate
from memoranda.text.frame import Quoted
from memoranda.text.quoting import quotable

NAME: Final = "PromptAssemble"
_LONGEST: Final = 65_536
_SAID: Final = {"repo": "the version of the files", "turn": "what the user says"}

Template = Annotated[
    str, STORABLE, Field(min_length=1, max_length=_LONGEST), AfterValidator(check_template)
]


class PromptAssemblePayload(WireModel):
    """What stands around the turn's text and the context; and the instructions, if any."""

    template: Template
    system: Annotated[str | None, NOT_NULL, STORABLE, Field(min_length=1, max_length=_LONGEST)] = (
        None
    )


class PromptOutput(WireModel):
    """What is said for the user's side, and the instructions."""

    user: str
    system: str | None = None


class PromptAssembleOutput(WireModel):
    """The prompt."""

    prompt: PromptOutput


class PromptAssemble:
    """Puts the context into its frame, as quoted data, and both texts into the template.

    The plan's budget of tokens is kept by an estimate (`text.estimate`): context that does not fit
    is left out from its end, whole pieces only, and the prompt says how many. If not even the
    rest fits, the cycle fails: what the user said is never cut.
    """

    name: Final = NAME
    stage: Final = "PromptAssemble"
    payload: Final = PromptAssemblePayload
    takes: Final[Mapping[str, Sequence[str]]] = {"text": (TURN,), "context": ("ContextSelect",)}
    gives: Final = ("prompt",)
    fails: Final[Fails] = "cycle"
    limit: Final[Limit] = "ioMs"

    def __init__(self, prompt_tokens: int | None) -> None:
        """The plan's budget of tokens for a prompt; None where the plan has none."""
        self._budget = prompt_tokens

    async def run(
        self, payload: PromptAssemblePayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The longest prompt within the budget."""
        text, context = text_input(NAME, inputs, "text"), _context(inputs.get("context"))
        for count in range(self._at_most(context), -1, -1):
            shown = _shown(context[:count], len(context) - count)
            user = filled(payload.template, {"text": text, "context": shown})
            prompt = Prompt(user, payload.system)
            if self._budget is None or _tokens(prompt) <= self._budget:
                return PromptAssembleOutput(
                    prompt=PromptOutput(user=prompt.user, system=prompt.system)
                ).model_dump(exclude_none=True)
        why = f"without any context the prompt is beyond the budget of {self._budget} tokens"
        raise CycleFailed(NAME, why)

    def _at_most(self, context: Sequence[ContextEntry]) -> int:
        """How many pieces could fit by their texts alone: no more of them are tried."""
        if self._budget is None:
            return len(context)
        left = self._budget
        for count, entry in enumerate(context):
            left -= estimate(quotable(entry.text)) - 1  # each estimate is rounded up
            if left < 0:
                return count
        return len(context)


def _tokens(prompt: Prompt) -> int:
    return estimate(prompt.user) + estimate(prompt.system or "")


def _context(given: JsonValue) -> Sequence[ContextEntry]:
    if not isinstance(given, list | tuple):
        raise CycleFailed(NAME, "its input context is not a list")
    try:
        return [ContextEntry.model_validate(entry) for entry in given]
    except InvalidInput as refused:
        raise CycleFailed(NAME, f"its input context is none: {refused}") from refused


def _shown(context: Sequence[ContextEntry], left_out: int) -> str:
    """The context in its frame; where there never was any, nothing at all."""
    if not context and not left_out:
        return ""
    return framed([_quoted(entry) for entry in context]) + (
        f"\n({left_out} more left out: the prompt is full)" if left_out else ""
    )


def _quoted(entry: ContextEntry) -> Quoted:
    if entry.kind != "memory":
        return Quoted(entry.text, [_SAID[entry.kind]])
    said = ["not reviewed", *([f"of {entry.timestamp}"] if entry.timestamp else [])]
    return Quoted(entry.text, said, f"memory {entry.id}" if entry.id else "memory")
