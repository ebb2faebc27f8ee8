"""A model that answers by rules from a list: for tests and demos, without a key or a network."""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, Final

from recollect.kernel.errors import InvalidRecord, ModelFailed
from recollect.kernel.json import JsonValue
from recollect.kernel.wire import Refusal, WireModel
from recollect.plans.models import Prompt, Settings
from recollect.text import fold

NAME: Final = "scripted"
_PIECE: Final = re.compile(r"\s*\S+\s*")


class ScriptedAnswer(WireModel):
    """What is answered when a text occurs in a prompt; an empty text occurs in every one."""

    refusal: ClassVar[Refusal] = InvalidRecord

    when: str
    answer: str


class ScriptedModel:
    """The first rule whose text occurs in what the user's side says answers, in whatever case.

    ModelFailed if no rule does: it makes nothing up. What it was asked can be read in `asked`.
    """

    def __init__(self, rules: Sequence[ScriptedAnswer]) -> None:
        self._rules = tuple(rules)
        self.asked: list[tuple[Prompt, Settings]] = []
        """Every prompt so far, with its settings, the last at the end."""

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The answer of the first rule that applies."""
        self.asked.append((prompt, settings))
        said = fold(prompt.user)
        for rule in self._rules:
            if fold(rule.when) in said:
                return rule.answer
        raise ModelFailed(settings.model or NAME, "none of its rules answers this prompt")

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same, word by word."""
        for piece in _PIECE.findall(await self.complete(prompt, settings)):
            yield piece


def scripted(document: JsonValue) -> ScriptedModel:
    """The model of a list of ``{"when": …, "answer": …}``; InvalidRecord if it is none."""
    if not isinstance(document, list | tuple):
        raise InvalidRecord("$", "it is not a list of answers")
    return ScriptedModel([ScriptedAnswer.model_validate(rule) for rule in document])
