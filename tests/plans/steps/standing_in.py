"""What stands in for the ports of steps: stores that lie, fail and count; a staging that keeps."""

from collections.abc import Sequence
from typing import Any

from memoranda.kernel.clock import Randomness
from memoranda.plans.facts import ExtractedFact
from memoranda.plans.items import MemoryItem, RetrievedItem
from memoranda.plans.steps.context import MemoryAnswer
from memoranda.plans.summary import Limits, Summary

ID = "0f0e0d0c-0b0a-4908-8706-050403020100"
OTHER_ID = "1f0e0d0c-0b0a-4908-8706-050403020100"
AT = "2026-11-16T08:00:00.000Z"
SESSION = "7f0e0d0c-0b0a-4908-8706-050403020100"


def item(summary: str = "The customer prefers email", id: str = ID) -> RetrievedItem:
    return RetrievedItem(id=id, summary=summary, timestamp=AT)


def entry(summary: str = "The customer prefers email", id: str = ID) -> dict[str, Any]:
    return {"id": id, "summary": summary, "timestamp": AT}


class AnsweringStore:
    """An item store that gives whatever it is told to give, and never keeps anything."""

    def __init__(self, found: Any) -> None:
        self.found = found
        self.searched: list[tuple[str, int]] = []

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        self.searched.append((query, top_k))
        if isinstance(self.found, Exception):
            raise self.found
        return self.found  # type: ignore[no-any-return]  # a lie is what is wanted

    async def save(self, item: MemoryItem) -> None:
        raise AssertionError(item)


class AnsweringRecall:
    """Governed memory that answers what it is told to answer."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer or MemoryAnswer("trace-1", "empty")
        self.asked: list[tuple[str, int]] = []

    async def recall(self, query: str, top_k: int) -> MemoryAnswer:
        self.asked.append((query, top_k))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class KeepingStaging:
    """Keeps what was staged, or breaks."""

    def __init__(self, broken: Exception | None = None) -> None:
        self.broken = broken
        self.items: list[MemoryItem] = []
        self.facts: list[tuple[str, ExtractedFact]] = []
        self.sessions: list[tuple[str, str | None]] = []

    def stage_item(self, item: MemoryItem) -> None:
        if self.broken:
            raise self.broken
        self.items.append(item)

    def stage_fact(self, session_ref: str, fact: ExtractedFact) -> None:
        if self.broken:
            raise self.broken
        self.facts.append((session_ref, fact))

    def stage_session(self, session_ref: str, repo_scan_version: str | None) -> None:
        if self.broken:
            raise self.broken
        self.sessions.append((session_ref, repo_scan_version))


class StandingClock:
    """It is always the same time."""

    def now_ms(self) -> int:
        return 1_794_816_000_000


class SayingSummariser:
    """Says what it is told to say."""

    def __init__(self, summary: Any, keywords: Any = ("email",)) -> None:
        self.made = Summary(summary, keywords)
        self.asked: list[tuple[str, str | None, Limits]] = []

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
        self.asked.append((response, text, limits))
        return self.made


def counted_randomness() -> Randomness:
    """Bytes that go up: the same ids in every run."""
    return Randomness(lambda count: bytes(at % 256 for at in range(count)))
