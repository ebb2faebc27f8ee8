"""Sources for selectors whose lists a test writes down."""

from collections.abc import Sequence
from operator import mul

from memoranda.recall.embedder import unpacked
from memoranda.recall.ranking import RankingMode
from memoranda.recall.selector import Chosen, Nearest, PastWorld, Request, Selection


class ListedSources:
    """Two lists, as they are given; what was asked is noted."""

    def __init__(
        self,
        words: Sequence[Chosen] = (),
        near: Sequence[Chosen] = (),
        missing: int = 0,
        failure: Exception | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._words = words
        self._near = near
        self._missing = missing
        self._failure = failure
        self._notes = notes
        self.asked: list[tuple[str, int]] = []

    async def ranked(
        self,
        mode: RankingMode,
        request: Request,
        limit: int,
        below: int = 0,
        *,
        with_model: bool = True,
    ) -> Selection:
        del below, with_model
        self.asked.append((mode.value, limit))
        sure = request.constraints.min_confidence
        found = [one for one in self._words if one.confidence >= sure]
        return Selection(found[:limit], (), self._notes)

    async def newest(self, request: Request, limit: int) -> Selection:
        raise NotImplementedError

    async def nearest(self, request: Request, limit: int) -> Nearest:
        del request
        self.asked.append(("nearest", limit))
        if self._failure is not None:
            raise self._failure
        return Nearest(self._near[:limit], self._missing)

    async def worlds(self, limit: int) -> Sequence[PastWorld]:
        raise NotImplementedError


def by_definition(vector: bytes, others: Sequence[bytes]) -> list[float]:
    """How near vectors are, number by number."""
    own = unpacked(vector)
    return [round(sum(map(mul, own, unpacked(other))) * 10**6) / 10**6 for other in others]
