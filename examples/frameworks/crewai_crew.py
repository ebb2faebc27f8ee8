"""CrewAI: a crew with two tools over one scope.

Run it with `python -m examples.frameworks.crewai_crew`, in the environment that `make frameworks`
makes. The model is a script. CrewAI's own storage hands over vectors and no question, so a recall
could not say what was asked: tools do.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true",
               "CREWAI_TRACING_ENABLED": "false", "CREWAI_TESTING": "true"}  # fmt: skip

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from pydantic import PrivateAttr

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda.types import BlockingMemory

TURNS = (
    'Thought: I note it.\nAction: remember\nAction Input: {"text": "Kim prefers email"}',
    'Thought: I look.\nAction: recall\nAction Input: {"question": "what does Kim prefer?"}',
    "Thought: I know.\nFinal Answer: By email.",
)


class Script(BaseLLM):
    """Stands for a model: it says one thing after the other."""

    _turns: Iterator[str] = PrivateAttr(default_factory=lambda: iter(TURNS))

    def call(self, *_: Any, **__: Any) -> str:
        """The next turn."""
        return next(self._turns)

    def supports_function_calling(self) -> bool:
        """It writes what it wants as text."""
        return False


def crew_on(memory: BlockingMemory[Any], traces: list[str]) -> Crew:
    """A crew of one."""

    @tool("remember")
    def remember(text: str) -> str:
        """Remember something about the customer."""
        return f"noted as {memory.remember(text, source='chat/7').id}"

    @tool("recall")
    def recall(question: str) -> str:
        """Look up what is remembered."""
        found = memory.recall(question, top_k=3)
        traces.append(found.trace_id)
        return str(found.framed)

    clerk = Agent(
        role="clerk", goal="answer", backstory="A desk.", llm=Script(model="script"),
        tools=[remember, recall],
    )  # fmt: skip
    task = Task(description="How is Kim reached?", expected_output="A way.", agent=clerk)
    return Crew(agents=[clerk], tasks=[task])


async def why(file: str, said: str, trace_id: str) -> None:
    """Answer, and say why."""
    async with memoranda.open(file, scope="desk", actor="agent:desk", app=APP) as memory:
        await answer(memory, said, trace_id)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CREWAI_STORAGE_DIR"] = os.environ["HOME"] = folder
        place, made = f"{folder}/memory.db", list[str]()
        with memoranda.open_sync(place, scope="desk", actor="agent:desk") as handle:
            outcome = crew_on(handle, made).kickoff()
        asyncio.run(why(place, outcome.raw, made[0]))
