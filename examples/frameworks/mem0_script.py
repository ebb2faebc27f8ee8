"""mem0's names: what was written for mem0 runs here, and can say why.

Run it with `python -m examples.frameworks.mem0_script`. Rules find the facts: there is no model.
"""

import asyncio
import tempfile

import memoranda
from examples.frameworks.desk import APP, answer
from memoranda.integrations.mem0 import AsyncMemory

SAID = [
    {"role": "user", "content": "My name is Min. I prefer tea to coffee."},
    {"role": "assistant", "content": "Nice to meet you."},
]


async def main(file: str) -> None:
    """Add, search, and answer by what was found."""
    async with memoranda.open(file, scope="chat", actor="agent:chat", app=APP) as memory:
        m = AsyncMemory(memory)
        for one in (await m.add(SAID, user_id="min"))["results"]:
            print("learned:", one["memory"])
        found = await m.search("tea or coffee?", filters={"user_id": "min"}, top_k=1)
        await answer(memory, "Here is your tea.", found["trace_id"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"{folder}/memory.db"))
