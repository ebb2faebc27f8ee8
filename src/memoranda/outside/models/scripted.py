"""A model that answers by rules from a list: for tests and demos, without a key or a network."""

import re
from collections.abc import AsyncGenerator, Sequence
from typing import ClassVar, Final

from memoranda.kernel.errors import InvalidRecord, ModelFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import Refusal, WireModel
from memoranda.plans.models import Prompt, Settings
from memoranda.text import fold
from memoranda.text.frame import parted

NAME: Final = "scripted"
_PIECE: Final = re.compile(r"\s*\S+\s*")


class ScriptedAnswer(WireModel):
    """What is answered when a text is said; an empty text is said in every prompt.

    With `given`, only where this text stands in what was quoted into the prompt, from memory or
    otherwise: so a script can answer from what reached it.
    """

    refusal: ClassVar[Refusal] = InvalidRecord

    when: str
    answer: str
    given: str = ""


class ScriptedModel:
    """The first rule whose text occurs in what the user says answers, in whatever case.

    What is quoted in a frame, such as memory, was not said now: it does not make a
    rule answer, unless the rule asks for it. ModelFailed if no rule does: it makes nothing up. What
    it was asked can be read in `asked`.
    """

    def __init__(self, rules: Sequence[ScriptedAnswer]) -> None:
        self._rules = tuple(rules)
        self.identity = NAME
        self.asked: list[tuple[Prompt, Settings]] = []
        """Every prompt so far, with its settings, the last at the end."""

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The answer of the first rule that applies."""
        self.asked.append((prompt, settings))
        said, quoted = map(fold, parted(prompt.user))
        for rule in self._rules:
            if fold(rule.when) in said and fold(rule.given) in quoted:
                return rule.answer
        raise ModelFailed(settings.model or NAME, "none of its rules answers this prompt")

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same, word by word."""
        for piece in _PIECE.findall(await self.complete(prompt, settings)):
            yield piece


def scripted(document: JsonValue) -> ScriptedModel:
    """The model of a list of ``{"when": …, "answer": …}``, and ``given`` where it is asked for.

    InvalidRecord if it is anything else.
    """
    if not isinstance(document, list | tuple):
        raise InvalidRecord("$", "it is not a list of answers")
    return ScriptedModel([ScriptedAnswer.model_validate(rule) for rule in document])
