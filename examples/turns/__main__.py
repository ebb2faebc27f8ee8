"""Two conversations over several turns, in English and in Korean: what was said before comes back.

Run it with `python -m examples.turns`. It needs no network, no key and no model, and leaves nothing
behind. The plan is in plan.yaml, what stands for the model in script.yaml.
"""

import asyncio
import tempfile
from pathlib import Path

import memoranda
from memoranda.formats import read_document
from memoranda.models import scripted

HERE = Path(__file__).parent

CONVERSATIONS = {
    "english": (
        "Has a gravel bike arrived for me?",
        "Can you change the saddle as well?",
        "Which day was that for the saddle?",
        "And the brakes of the bike?",
    ),
    "korean": (
        "자전거를 언제 찾을 수 있나요?",
        "헬멧도 살 수 있나요?",
        "자전거는 무슨 요일이었죠?",
        "헬멧은 얼마였죠?",
    ),
}


async def main(url: str) -> None:
    """Both conversations; each turn has a handle of its own, as after a restart."""
    plan = read_document(HERE / "plan.yaml")
    model = scripted(read_document(HERE / "script.yaml"))
    for session, said in CONVERSATIONS.items():
        print(f"# {session}")
        for text in said:
            async with memoranda.open(url, scope="shop", actor="agent:shop") as memory:
                turns = await memory.turns.open(plan, model=model, session=session)
                turn = await turns.take(text)
            print(">", text)
            for item in turn.retrieved:
                print("  remembered:", item.summary)
            print(" ", turn.response)
    async with memoranda.open(url, scope="shop", actor="human:lee") as memory:
        audit = await memory.verify()
        print("# is the record sound?", audit.is_sound)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"sqlite:///{folder}/turns.db"))
