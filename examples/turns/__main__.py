"""Two conversations over several turns, in English and in Korean: what was said before comes back.

What is remembered in the shop's memory reaches a turn too, and what customers say of themselves is
learned: it stands in the same memory, and comes back like everything else.

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
        "What does a service cost? My name is Ada.",
        "What is my name?",
    ),
    "korean": (
        "자전거를 언제 찾을 수 있나요?",
        "헬멧도 살 수 있나요?",
        "자전거는 무슨 요일이었죠?",
        "헬멧은 얼마였죠?",
        "정비는 얼마예요? 제 이름은 민수예요.",
        "제 이름이 뭐죠?",
    ),
}
PRICES = ("A service costs 80 euros", "정비는 90,000원이다")


async def main(url: str) -> None:
    """Both conversations; each turn has a handle of its own, as after a restart."""
    plan = read_document(HERE / "plan.yaml")
    model = scripted(read_document(HERE / "script.yaml"))
    async with memoranda.open(url, scope="shop", actor="human:lee") as memory:
        for price in PRICES:
            await memory.remember(price, source="price list")
    for session, said in CONVERSATIONS.items():
        print(f"# {session}")
        for text in said:
            async with memoranda.open(url, scope="shop", actor="agent:shop") as memory:
                turns = await memory.turns.open(
                    plan, model=model, session=session, subject=f"{session} customer"
                )
                turn = await turns.take(text)
            print(">", text)
            for item in turn.retrieved:
                print("  remembered:", item.summary)
            for known in turn.recalled:
                print("  known:", known.text)
            print(" ", turn.response)
            for fact in turn.learned.learned:
                print("  learned:", fact.text)
    async with memoranda.open(url, scope="shop", actor="human:lee") as memory:
        audit = await memory.verify()
        print("# is the record sound?", audit.is_sound)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(f"sqlite:///{folder}/turns.db"))
