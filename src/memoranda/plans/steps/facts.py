"""Steps that keep what a turn taught: ExtractFacts finds facts, RememberFacts stages them.

A fact is what the person said, or follows from it; what the model answered is no source of facts,
and whoever extracts is not shown it. What becomes of a fact, beside all that is known already, is
decided where the cycle lands.
"""

from collections.abc import Mapping
from typing import Final

from memoranda.kernel.errors import CycleFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.plans.facts import (
    ChatMessage,
    ExtractedFact,
    FactExtractor,
    check_no_response,
    checked_facts,
)
from memoranda.plans.items import check_session_ref
from memoranda.plans.steps import ShippedStep
from memoranda.plans.steps.answer import Staging

_MEMBERS: Final = frozenset({"text", "subject"})


class ExtractFactsPayload(WireModel):
    """Nothing: what is read is the turn's."""


class ExtractFacts(ShippedStep, type="ExtractFacts"):
    """Asks an extractor, checks what it made, and stores nothing.

    Whatever extractor it is handed, a fact that repeats the whole response ends the cycle
    (ING-RAW).
    """

    payload: Final = ExtractFactsPayload
    limit = "llmMs"

    def __init__(self, extractor: FactExtractor) -> None:
        self._extractor = extractor

    async def run(
        self, payload: ExtractFactsPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """The facts of what was said; ModelFailed if the extractor's answer holds no facts."""
        del payload
        response, said = self.text(inputs, "response"), [ChatMessage(self.text(inputs, "text"))]
        made = await self._extractor.extract(said)
        facts = checked_facts(made, said, type(self._extractor).__name__)
        check_no_response([fact.text for fact in facts], response, self.name)
        return {"facts": [_to_wire(fact) for fact in facts]}


class RememberFactsPayload(WireModel):
    """Nothing: what is remembered comes from another step."""


class RememberFacts(ShippedStep, type="RememberFacts"):
    """Stages facts, and writes nothing (ING-PERSIST)."""

    payload: Final = RememberFactsPayload

    def __init__(self, staging: Staging) -> None:
        self._staging = staging

    async def run(
        self, payload: RememberFactsPayload, inputs: Mapping[str, JsonValue]
    ) -> Mapping[str, JsonValue]:
        """Stage each fact; ModelFailed, or CycleFailed, if what came are none."""
        del payload
        session_ref = check_session_ref(self.text(inputs, "sessionRef"))
        given = inputs.get("facts")
        if not isinstance(given, list | tuple):
            raise CycleFailed(self.name, "its input facts is not a list")
        facts = [self._read(fact) for fact in given]
        for fact in checked_facts(facts, [ChatMessage("")], self.name):
            self._staging.stage_fact(session_ref, fact)
        return {"status": "staged"}  # what each comes to is known only when the cycle lands

    def _read(self, given: JsonValue) -> ExtractedFact:
        if not isinstance(given, dict) or not {"text"} <= given.keys() <= _MEMBERS:
            raise CycleFailed(self.name, "a fact is not an object of text and subject")
        return ExtractedFact(given["text"], 0, given.get("subject"))


def _to_wire(fact: ExtractedFact) -> dict[str, JsonValue]:
    return {"text": fact.text} | ({} if fact.subject is None else {"subject": fact.subject})
