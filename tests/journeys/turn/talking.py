"""Plans, models and steps for turns: simulators, and readers of what they leave."""

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.turn.facts import Cycle, cycles
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.ledger.attachments import CYCLE
from memoranda.plans.items import RetrievedItem
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.plan import Fails, Limit
from memoranda.plans.steps.answer import PromptAssemblePayload
from tests.handles import inside
from tests.plans.documents import plan_document

ANSWER = (
    "The invoice of Ada Lovelace was paid on Monday by bank transfer. "
    "The reminder that went out on Tuesday can be ignored. "
    "The next invoice is due at the end of the month, as always."
)


def talk(
    *, without: str = "scan", top_k: int | None = 3, is_governed: bool = False, **metadata: Any
) -> dict[str, Any]:
    """A plan that the steps that we ship can run."""
    document = plan_document(without=without, top_k=top_k, is_governed=is_governed)
    document["metadata"] |= metadata
    for step in document["steps"]:
        if step["type"] == "SummarizeMemory":
            step["inputs"]["text"] = {"from": "$turn", "output": "text"}
    return document


class Answering:
    """A model that answers the same each time, and keeps what it was asked."""

    def __init__(self, answer: str = ANSWER) -> None:
        self.answer = answer
        self.asked: list[Prompt] = []

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        _ = settings
        self.asked.append(prompt)
        return self.answer

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        for word in (await self.complete(prompt, settings)).split(" "):
            yield word + " "


class Counting(Answering):
    """A model that answers something else each time: what it leads to is not the same either."""

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        self.answer = ANSWER.replace("Ada", f"Ada {len(self.asked)}")
        return await super().complete(prompt, settings)


class Replaced:
    """A type of step in the place of another, that does what it is told."""

    def __init__(
        self,
        name: str,
        stage: str,
        takes: Mapping[str, tuple[str, ...]],
        gives: tuple[str, ...],
        doing: Callable[[Mapping[str, JsonValue]], Any],
        payload: type[WireModel],
        fails: Fails = "cycle",
        limit: Limit = "ioMs",
    ) -> None:
        self.name, self.stage, self.takes, self.gives = name, stage, takes, gives
        self.payload, self.fails, self.limit = payload, fails, limit
        self._doing = doing

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        _ = payload
        done = self._doing(inputs)
        return await done if hasattr(done, "__await__") else done  # type: ignore[no-any-return]


def prompting(doing: Callable[[Mapping[str, JsonValue]], Any], limit: Limit = "ioMs") -> Replaced:
    """A PromptAssemble of one's own."""
    return Replaced(
        "PromptAssemble",
        "PromptAssemble",
        {"text": ("$turn",), "context": ("ContextSelect",)},
        ("prompt",),
        doing,
        PromptAssemblePayload,
        limit=limit,
    )


# -------------------------------------------------------------------------- what is there


async def found(memory: Memory[Any], session_ref: str, query: str) -> list[RetrievedItem]:
    """The items of a session that a text finds."""
    items = await inside(memory).turning.scope.items(session_ref)
    return list(await items.search(query, 100))


async def told(memory: Memory[Any], cycle_id: str) -> list[Cycle]:
    """What the journal says of a cycle."""
    return await cycles(inside(memory).turning.scope.table.ledger, cycle_id)


async def bodies(memory: Memory[Any]) -> list[dict[str, Any]]:
    """The facts of all cycles of the scope."""
    ledger = inside(memory).turning.scope.table.ledger
    stored = [entry for name, _ in await ledger.marks(CYCLE) for entry in await ledger.marked(name)]
    stored.sort(key=lambda entry: entry.seq)
    return [decode(entry.body) for entry in stored if entry.body is not None]


async def salt_of(memory: Memory[Any], cycle_id: str) -> bytes:
    """What the digests in the fact of a cycle are salted with."""
    salt = await inside(memory).turning.scope.table.ledger.origins.salt(cycle_id)
    assert salt is not None
    return salt


async def size(memory: Memory[Any]) -> int:
    """How many entries the journal has."""
    return (await inside(memory).turning.scope.table.ledger.head()).size
