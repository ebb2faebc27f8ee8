"""Anthropic's memory tool: files that Claude keeps, with history, undo, and reasons.

Run it with `python -m examples.frameworks.claude_files`. The SDK's own runner is at work; what it
is answered is a script, and no request leaves this process.
"""

import asyncio
import tempfile
from typing import Any

import httpx2
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda.integrations import MemorandaMemoryTool

FILE = "/memories/customers/kim.md"
SCRIPT = iter(
    [
        {"command": "view", "path": "/memories"},
        {"command": "create", "path": FILE, "file_text": "Kim prefers letters\n"},
        {"command": "str_replace", "path": FILE, "old_str": "letters", "new_str": "email"},
        "I noted that Kim prefers email.",
    ]
)


def answered(request: httpx2.Request) -> httpx2.Response:
    """Stands for Anthropic's API: the next turn of the script."""
    del request
    turn = next(SCRIPT)
    said: dict[str, Any] = {"type": "text", "text": turn}
    if isinstance(turn, dict):
        said = {"type": "tool_use", "id": "t1", "name": "memory", "input": turn}
    return httpx2.Response(
        200,
        json={
            "id": "m", "type": "message", "role": "assistant", "model": "script",
            "content": [said], "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use",
            "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    )  # fmt: skip


async def main(file: str) -> None:
    """Claude keeps a file; we look at its history, and answer by what is in it."""
    transport = httpx2.MockTransport(answered)
    client = AsyncAnthropic(
        api_key="none", http_client=DefaultAsyncHttpxClient(transport=transport)
    )
    async with memoranda.open(file, scope="desk", actor="agent:claude", app=APP) as memory:
        tool = MemorandaMemoryTool(memory)
        message = await client.beta.messages.tool_runner(
            model="script", max_tokens=100, tools=[tool],
            messages=[{"role": "user", "content": "Kim wrote: letters. No, email."}],
        ).until_done()  # fmt: skip
        print("claude:", message.content[0].text)  # type: ignore[union-attr]
        for event in await tool.history(FILE):
            said = None if event.remembered is None else event.remembered.data["text"]
            print("history:", event.act, repr(said))

        found = await memory.recall("what does Kim prefer, email or letters?", top_k=1)
        await answer(memory, "By email.", found.trace_id)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
