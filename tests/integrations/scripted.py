"""A model of the OpenAI Agents SDK that answers from a list, and keeps what it was asked."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import ModelResponse, Usage
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText


class ScriptedAgentModel(Model):
    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = iter(answers)
        self.asked: list[list[Any]] = []

    async def get_response(self, *_: Any, **asked: Any) -> Any:
        self.asked.append(list(asked["input"]))
        text = ResponseOutputText(annotations=[], text=next(self._answers), type="output_text")
        message = ResponseOutputMessage(
            id="m", content=[text], role="assistant", status="completed", type="message"
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def texts(items: Sequence[Any]) -> list[Any]:
    """Who said what, of the items that a model was given."""
    return [(item.get("role"), item.get("content")) for item in items]
