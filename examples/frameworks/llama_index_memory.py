"""LlamaIndex: a memory block that keeps what falls out of the window, and recalls it.

Run it with `python -m examples.frameworks.llama_index_memory`, in the environment that
`make frameworks` makes. The model is a script.
"""

import asyncio
import tempfile
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.memory import Memory as ChatMemory
from pydantic import PrivateAttr

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda import Memo, Memory


class GovernedBlock(BaseMemoryBlock[str]):
    """Remembers the messages that leave the window; recalls what the last message asks for."""

    _memory: Memory[Any] = PrivateAttr()
    _traces: list[str] = PrivateAttr(default_factory=list)

    @classmethod
    def over(cls, memory: Memory[Any]) -> "GovernedBlock":
        """A block over a scope."""
        block = cls(name="remembered", description="What was said before.")
        block._memory = memory
        return block

    @property
    def traces(self) -> list[str]:
        """The recalls that were made."""
        return self._traces

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = next((one.content for one in reversed(messages or []) if one.content), None)
        if asked is None:
            return ""
        found = await self._memory.recall(asked, top_k=2)
        self._traces.append(found.trace_id)
        return str(found.framed)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said = [Memo(one.content, speaker=str(one.role.value)) for one in messages if one.content]
        await self._memory.remember_many(said, thread="chat/7")


async def main(file: str) -> None:
    """A long conversation with a short window; then a question about its beginning."""
    async with memoranda.open(file, scope="chat", actor="agent:chat", app=APP) as memory:
        block = GovernedBlock.over(memory)
        chat = ChatMemory.from_defaults(
            token_limit=120, token_flush_size=40, chat_history_token_ratio=0.5,
            memory_blocks=[block],
        )  # fmt: skip
        await chat.aput(ChatMessage(role="user", content="I am Kim and I prefer email."))
        for number in range(12):
            await chat.aput(ChatMessage(role="assistant", content=f"Step {number} is done, Kim."))
        await chat.aput(ChatMessage(role="user", content="Which do I prefer, email or letters?"))
        shown = "\n".join(str(one.content) for one in await chat.aget())
        print("the prompt has it:", "I am Kim and I prefer email." in shown)
        await answer(memory, "By email.", block.traces[-1])  # a model answers here


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
