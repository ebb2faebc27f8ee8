"""OpenAI Agents SDK: a session that is a journal, and a tool that recalls.

Run it with `python -m examples.frameworks.openai_agent`. The model is a script.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputItem,
    ResponseOutputMessage,
    ResponseOutputText,
)

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda.integrations import MemorandaSession


def says(text: str) -> ResponseOutputItem:
    """A message of the model."""
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(
        id="m", content=[content], role="assistant", status="completed", type="message"
    )


def calls(name: str, arguments: str) -> ResponseOutputItem:
    """A call of a tool."""
    return ResponseFunctionToolCall(
        arguments=arguments, call_id="c1", name=name, type="function_call"
    )


class Script(Model):
    """Stands for a model: it says one thing after the other."""

    def __init__(self, *turns: ResponseOutputItem) -> None:
        self._turns = iter(turns)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        """The next turn."""
        return ModelResponse(output=[next(self._turns)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """It does not stream."""
        raise NotImplementedError


async def main(file: str) -> None:
    """Two runs of one conversation; then why the second one said what it said."""
    set_tracing_disabled(disabled=True)
    traces: list[str] = []
    async with memoranda.open(file, scope="desk", actor="agent:desk", app=APP) as memory:

        @function_tool
        async def remember(text: str) -> str:
            """Remember something about the customer."""
            await memory.remember(text, source="chat/7")
            return "noted"

        @function_tool
        async def recall(question: str) -> str:
            """Look up what is remembered."""
            found = await memory.recall(question, top_k=3)
            traces.append(found.trace_id)
            return str(found.framed)

        model = Script(
            calls("remember", '{"text": "Kim prefers email"}'),
            says("I'll remember that."),
            calls("recall", '{"question": "how does Kim prefer to be reached?"}'),
            says("By email."),
        )
        agent = Agent(name="desk", model=model, tools=[remember, recall])
        session = MemorandaSession("chat/7", memory)
        await Runner.run(agent, "Please write to me by email. Kim", session=session)
        result = await Runner.run(agent, "How will you reach me?", session=session)
        print("the session has", len(await session.get_items()), "items")
        await answer(memory, result.final_output, traces[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
