"""Selectors made of others: filtered, limited, weighed by recency, without repetitions.

Each asks the one that it is made of, changes what it picked, and hands on what that one noted and
who it was. What is taken away may leave fewer than were asked for, so more are asked of the inner
one: `SPARE` times as many. None of them falls back to another selector: a selection that failed
is no selection.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.identity import decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter
from memoranda.recall.hybrid import LEFT_OUT
from memoranda.recall.reasons import ago
from memoranda.recall.recency import freshness
from memoranda.recall.selector import Below, Chosen, Request, Selection, Selector, Sources
from memoranda.recall.vectors import text_of
from memoranda.text import fold

SPARE: Final = 4
"""So many times what is asked for is asked of a selector from which some is taken away."""


@dataclass(frozen=True)
class Filtered:
    """What a selector picks, where a condition holds; `condition` says in words which."""

    selector: Selector
    predicate: Callable[[Chosen], bool]
    condition: str

    @property
    def name(self) -> str:
        """Such as ``context, only what is approved``."""
        return f"{self.selector.name}, only {self.condition}"

    @property
    def actor(self) -> ActorRef | None:
        """Whoever the inner one is."""
        return self.selector.actor

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The first ones for which it holds."""
        found = await self.selector.select(_more(request), sources)
        kept = [chosen for chosen in found.chosen if self.predicate(chosen)]
        return _cut(found, kept, request.top_k)


@dataclass(frozen=True)
class Limited:
    """The first few that a selector picks."""

    selector: Selector
    most: int

    def __post_init__(self) -> None:
        if type(self.most) is not int or self.most < 0:
            raise InvalidFilter("most", "it is a whole number from 0")

    @property
    def name(self) -> str:
        """Such as ``context, limited to 5``."""
        return f"{self.selector.name}, limited to {self.most}"

    @property
    def actor(self) -> ActorRef | None:
        """Whoever the inner one is."""
        return self.selector.actor

    async def select(self, request: Request, sources: Sources) -> Selection:
        """No more than so many, however many are asked for."""
        fewer = replace(request, top_k=min(request.top_k, self.most))
        return await self.selector.select(fewer, sources)


@dataclass(frozen=True)
class WeighedByRecency:
    """What a selector picks, its scores weighed by how new it is: a half after so many ms.

    Confidence stays: it says how well a record fits the question, and its age doesn't change that.
    """

    selector: Selector
    half_after: int

    def __post_init__(self) -> None:
        if type(self.half_after) is not int or self.half_after <= 0:
            raise InvalidFilter("half_after", "it is a time in milliseconds, above 0")

    @property
    def name(self) -> str:
        """Such as ``context, weighed by recency (half after 7 days)``."""
        half = ago(self.half_after).removesuffix(" before")
        return f"{self.selector.name}, weighed by recency (half after {half})"

    @property
    def actor(self) -> ActorRef | None:
        """Whoever the inner one is."""
        return self.selector.actor

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The best of them by their new scores; those of equal ones stay in their order.

        What has no score, or no time, such as a world, comes after those that have.
        """
        found = await self.selector.select(_more(request), sources)
        weighed = [self._weighed(chosen, request.at) for chosen in found.chosen]
        weighed.sort(key=lambda one: (one.score is None, -(one.score or 0.0)))
        return _cut(found, weighed, request.top_k)

    def _weighed(self, chosen: Chosen, at: int) -> Chosen:
        if chosen.found is None or chosen.score is None:
            return chosen._replace(score=None)
        age = at - chosen.found.created_at
        return chosen._replace(score=chosen.score * freshness(age, self.half_after))


@dataclass(frozen=True)
class Deduplicated:
    """What a selector picks, each text once: the first of those that are equal when folded."""

    selector: Selector

    @property
    def name(self) -> str:
        """Such as ``context, each text once``."""
        return f"{self.selector.name}, each text once"

    @property
    def actor(self) -> ActorRef | None:
        """Whoever the inner one is."""
        return self.selector.actor

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The first of each text; case, the form of characters and white space don't count."""
        found = await self.selector.select(_more(request), sources)
        once: dict[Hashable, Chosen] = {}
        for chosen in found.chosen:
            once.setdefault(_said(chosen), chosen)
        return _cut(found, list(once.values()), request.top_k)


def _said(chosen: Chosen) -> Hashable:
    """What something says, folded; what was not read is like nothing else."""
    if chosen.found is None:
        return chosen.id, chosen.world
    return " ".join(fold(text_of(decode(chosen.found.body))).split())


def _more(request: Request) -> Request:
    return replace(request, top_k=request.top_k * SPARE)


def _cut(found: Selection, kept: Sequence[Chosen], top_k: int) -> Selection:
    rest = kept[top_k : top_k + LEFT_OUT]
    below = [Below(chosen.id or chosen.world or "", chosen.score or 0.0) for chosen in rest]
    return found._replace(chosen=kept[:top_k], below=below)
