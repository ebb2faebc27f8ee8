"""Pydantic AI: a handle as a dependency, and two tools over it.

Run it with `python -m examples.frameworks.pydantic_agent`. The model is a script.
"""

import asyncio
import tempfile
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, ModelMessage, ModelResponse, RunContext, TextPart, ToolCallPart
from pydantic_ai.messages import ModelResponsePart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda import Memory


@dataclass
class Deps:
    """What its tools work with."""

    memory: Memory[Any]
    traces: list[str] = field(default_factory=list)


TURNS: list[ModelResponsePart] = [
    ToolCallPart("remember", {"text": "Kim prefers email"}),
    ToolCallPart("recall", {"question": "how does Kim prefer to be reached?"}),
    TextPart("By email."),
]
SCRIPT = iter(TURNS)


def script(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    """Stands for a model: it does one thing after the other."""
    return ModelResponse(parts=[next(SCRIPT)])


agent = Agent(FunctionModel(script), deps_type=Deps)


@agent.tool
async def remember(ctx: RunContext[Deps], text: str) -> str:
    """Remember something about the customer."""
    receipt = await ctx.deps.memory.remember(text, source="chat/7")
    return f"noted as {receipt.id}"


@agent.tool
async def recall(ctx: RunContext[Deps], question: str) -> str:
    """Look up what is remembered; it comes as quoted data."""
    found = await ctx.deps.memory.recall(question, top_k=3)
    ctx.deps.traces.append(found.trace_id)
    return str(found.framed)


async def main(file: str) -> None:
    """One run of the agent, and why it said what it said."""
    async with memoranda.open(file, scope="desk", actor="agent:desk", app=APP) as memory:
        deps = Deps(memory)
        result = await agent.run("Write me by email. How will you reach me?", deps=deps)
        await answer(memory, result.output, deps.traces[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
