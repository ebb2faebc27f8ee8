"""The selectors that are shipped; all but the last need no model.

=============  ==========================================================================
name           what it picks
=============  ==========================================================================
``recent``     the records that were made last, whatever is asked
``keyword``    by how many words of the question a record has; then the newest
``full-text``  by BM25
``context``    by BM25 with what stands around a record, who says it and when; the usual one
``worlds``     past worlds, by the words of what was done to reach them
``hybrid``     words and meaning together, where the handle has an embedder (`hybrid`)
=============  ==========================================================================

All but that one are deterministic: the same state and the same question give the same result, on
every database. Confidence is calibrated for each (`confidence`, docs/evaluation.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidFilter
from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.hybrid import Hybrid
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
        """The newest ones."""
        return await sources.newest(request, request.top_k)


@dataclass(frozen=True)
class ByWords:
    """Records by the words of the question, in the order of a mode."""

    mode: RankingMode
    actor: ActorRef | None = None

    @property
    def name(self) -> str:
        """That of the mode."""
        return self.mode.value

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The best ones."""
        return await sources.ranked(self.mode, request, request.top_k, LEFT_OUT)


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
    "worlds": PastWorlds(),
    "hybrid": Hybrid(),
}
"""Those that every handle has, by name."""

USUAL: Final = RankingMode.CONTEXT.value
"""The one that is taken where none is named: the best that needs no model."""


def named(selector: str | Selector) -> Selector:
    """The selector of a name, or the one that was given; InvalidFilter for what is neither."""
    if not isinstance(selector, str):
        check_selector(selector)
        return selector
    if selector not in SHIPPED:
        why = f"there is no {selector!r}; name one of {', '.join(sorted(SHIPPED))}"
        raise InvalidFilter("selector", why)
    return SHIPPED[selector]
