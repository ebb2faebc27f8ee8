"""The selectors that are shipped; all but the last need no model.

=============  ==========================================================================
name           what it picks
=============  ==========================================================================
``recent``     the records that were made last, whatever is asked
``keyword``    by how many words of the question a record has; then the newest
``full-text``  by BM25
``context``    by words, with what stands around a record, who says it and when, and by its
               meaning where there is a model; the usual one
``words``      the same, and no model is asked
``worlds``     past worlds, by the words of what was done to reach them
``meaning``    what is nearest by its vector alone; its similarity is its score
=============  ==========================================================================

All are deterministic as far as the model is: the same state and the same question give the same
result, on every database.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoranda.identity import decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter
from memoranda.ledger.fields import text_of
from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from memoranda.recall.reasons import ago
from memoranda.recall.selector import (
    Below,
    Chosen,
    Request,
    Selection,
    Selector,
    Sources,
    check_selector,
)
from memoranda.text import fold

LEFT_OUT: Final = 3
"""How many of those are named that were left out just below the line."""

WORLDS_LOOKED_AT: Final = 1_000
"""How many of the newest worlds are compared with a question."""

UNASKED: Final = 0.1
"""How sure it is that what was made last helps: nobody has looked at what it says."""


@dataclass(frozen=True)
class MostRecent:
    """The newest records, whatever is asked."""

    name: str = "recent"
    actor: ActorRef | None = None

    async def select(self, request: Request, sources: Sources) -> Selection:
        return await sources.newest(request, request.top_k)


@dataclass(frozen=True)
class ByWords:
    """Records by the words of the question, in the order of a mode."""

    mode: RankingMode
    actor: ActorRef | None = None
    with_model: bool = True

    @property
    def name(self) -> str:
        return self.mode.value if self.with_model else "words"

    async def select(self, request: Request, sources: Sources) -> Selection:
        return await sources.ranked(
            self.mode, request, request.top_k, LEFT_OUT, with_model=self.with_model
        )


@dataclass(frozen=True)
class ByMeaning:
    """The records whose vectors are nearest to the question's; CapabilityMissing without a model.

    Vectors are of what is current: of what was known at another time there are none.
    """

    name: str = "meaning"
    actor: ActorRef | None = None

    async def select(self, request: Request, sources: Sources) -> Selection:
        if request.constraints.as_of is not None:
            return Selection((), notes=("vectors are kept of what is current only",))
        near = await sources.nearest(request, request.top_k + LEFT_OUT)
        least = request.constraints.min_confidence
        chosen = [choice for choice in near.chosen if choice.confidence >= least]
        below = [Below(str(one.id), one.score or 0.0) for one in chosen[request.top_k :]]
        notes = [f"{near.missing:,} records have no embedding yet"] if near.missing else []
        return Selection(chosen[: request.top_k], below, notes)


@dataclass(frozen=True)
class PastWorlds:
    """Worlds by the words of the action that led to them, its input, and why it was proposed.

    Of a branch, the newest thousand are looked at; that there were more is said.
    """

    mode: RankingMode = RankingMode.FULL_TEXT
    name: str = "worlds"
    actor: ActorRef | None = None

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The worlds whose making fits the question best."""
        worlds = await sources.worlds(WORLDS_LOOKED_AT + 1)
        looked_at = worlds[:WORLDS_LOOKED_AT][::-1]
        corpus = Corpus(
            of_text(world.execution, world.seq, world.text, world.created_at) for world in looked_at
        )
        wanted = asked(request.query, at=request.at)
        found = corpus.find(self.mode, wanted, limit=request.top_k + LEFT_OUT)
        by_key = {world.execution: world for world in looked_at}
        sure = [
            scored for scored in found if scored.confidence >= request.constraints.min_confidence
        ]
        chosen = [
            Chosen(
                scored.reason.readable(created_at=scored.created_at, at=request.at),
                scored.confidence,
                world=by_key[scored.id].world,
                score=scored.score,
                seq=by_key[scored.id].seq,
            )
            for scored in sure[: request.top_k]
        ]
        below = [Below(by_key[scored.id].world, scored.score) for scored in sure[request.top_k :]]
        notes = list(wanted.notes)
        if len(worlds) > WORLDS_LOOKED_AT:
            notes.append(f"only the newest {WORLDS_LOOKED_AT} worlds were looked at")
        return Selection(chosen, below, notes)


def newest_reason(created_at: int, at: int) -> str:
    return f"one of the newest; {ago(at - created_at)}"


SHIPPED: Final[Mapping[str, Selector]] = {
    "recent": MostRecent(),
    **{mode.value: ByWords(mode) for mode in RankingMode},
    "words": ByWords(RankingMode.CONTEXT, with_model=False),
    "worlds": PastWorlds(),
    "meaning": ByMeaning(),
}
"""Those that every handle has, by name."""

USUAL: Final = RankingMode.CONTEXT.value
"""The one that is taken where none is named."""


def named(selector: str | Selector) -> Selector:
    """The selector of a name, or the one that was given; InvalidFilter for what is neither."""
    if not isinstance(selector, str):
        check_selector(selector)
        return selector
    if selector not in SHIPPED:
        why = f"there is no {selector!r}; name one of {', '.join(sorted(SHIPPED))}"
        raise InvalidFilter("selector", why)
    return SHIPPED[selector]


# ------------------------------------------------------------------------------------------------
# Selectors made of others: filtered, limited, weighed by recency, without repetitions.
#
# Each asks the one that it is made of, changes what it picked, and hands on what that one noted and
# who it was. What is taken away may leave fewer than were asked for, so more are asked of the inner
# one: `SPARE` times as many. None of them falls back to another selector: a selection that failed
# is no selection.

SPARE: Final = 4
"""So many times what is asked for is asked of a selector from which some is taken away."""


@dataclass(frozen=True)
class _Composed:
    selector: Selector

    @property
    def actor(self) -> ActorRef | None:
        """Whoever the inner one is."""
        return self.selector.actor


@dataclass(frozen=True)
class Filtered(_Composed):
    """What a selector picks, where a condition holds; `condition` says in words which."""

    predicate: Callable[[Chosen], bool]
    condition: str

    @property
    def name(self) -> str:
        """Such as ``context, only what is approved``."""
        return f"{self.selector.name}, only {self.condition}"

    async def select(self, request: Request, sources: Sources) -> Selection:
        found = await self.selector.select(_more(request), sources)
        kept = [chosen for chosen in found.chosen if self.predicate(chosen)]
        return _cut(found, kept, request.top_k)


@dataclass(frozen=True)
class Limited(_Composed):
    """The first few that a selector picks."""

    most: int

    def __post_init__(self) -> None:
        if type(self.most) is not int or self.most < 0:
            raise InvalidFilter("most", "it is a whole number from 0")

    @property
    def name(self) -> str:
        """Such as ``context, limited to 5``."""
        return f"{self.selector.name}, limited to {self.most}"

    async def select(self, request: Request, sources: Sources) -> Selection:
        """No more than so many, however many are asked for."""
        fewer = replace(request, top_k=min(request.top_k, self.most))
        return await self.selector.select(fewer, sources)


@dataclass(frozen=True)
class WeighedByRecency(_Composed):
    """What a selector picks, its scores weighed by how new it is: a half after so many ms.

    Confidence stays: it says how well a record fits the question, and its age doesn't change that.
    """

    half_after: int

    def __post_init__(self) -> None:
        if type(self.half_after) is not int or self.half_after <= 0:
            raise InvalidFilter("half_after", "it is a time in milliseconds, above 0")

    @property
    def name(self) -> str:
        """Such as ``context, weighed by recency (half after 7 days)``."""
        half = ago(self.half_after).removesuffix(" before")
        return f"{self.selector.name}, weighed by recency (half after {half})"

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The best of them by their new scores; those of equal ones stay in their order.

        What has no score, or no time, such as a world, comes after those that have.
        """
        found = await self.selector.select(_more(request), sources)
        weighed = [self._weighed(chosen, request.at) for chosen in found.chosen]
        weighed.sort(key=lambda chosen: (chosen.score is None, -(chosen.score or 0.0)))
        return _cut(found, weighed, request.top_k)

    def _weighed(self, chosen: Chosen, at: int) -> Chosen:
        if chosen.found is None or chosen.score is None:
            return chosen._replace(score=None)
        age = at - chosen.found.created_at
        return chosen._replace(score=chosen.score * freshness(age, self.half_after))


@dataclass(frozen=True)
class Deduplicated(_Composed):
    """What a selector picks, each text once: the first of those that are equal when folded."""

    @property
    def name(self) -> str:
        """Such as ``context, each text once``."""
        return f"{self.selector.name}, each text once"

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The first of each text; case, the form of characters and white space don't count."""
        found = await self.selector.select(_more(request), sources)
        once: dict[Hashable, Chosen] = {}
        for chosen in found.chosen:
            once.setdefault(_said(chosen), chosen)
        return _cut(found, list(once.values()), request.top_k)


def freshness(age: int, half_after: int) -> float:
    """1 for what is new or of the future, 1/2 at `half_after`, falling towards 0.

    Hyperbolic, not exponential: what is old is worth less, and never nothing.
    """
    return half_after / (half_after + max(age, 0))


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
