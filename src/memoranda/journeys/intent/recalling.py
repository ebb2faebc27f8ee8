"""Recall for an execution: asked once, within a time limit, and frozen by value at once.

A provider that raises, hangs or answers something that is not JSON neither blocks the run nor
reaches it: the outcome is frozen as what it is (MEM-INT-4, MEM-INT-5, MEM-CONTEXT-1).
"""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from memoranda.identity import Frozen, freeze
from memoranda.journeys.intent.phases import unnoted
from memoranda.journeys.records.foreign import GOES_THROUGH, TookTooLong, answer_of, within
from memoranda.kernel.errors import InvalidJson, MemoryOutOfReach
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import check_reach, observed
from memoranda.recall.provider import MemoryProvider, MemoryQuery
from memoranda.worlds.effects import text_of

RECALL_LIMIT_S: Final = 5.0
LONGEST_WHY: Final = 500

RecallOutcome = Literal["answered", "none", "failed", "timed out", "not JSON", "erased"]

log = logging.getLogger("memoranda.intent")


class Recalled(NamedTuple):
    """What a recall came to."""

    outcome: RecallOutcome
    context: Frozen
    why: str | None = None
    sources: Sequence[str] = ()
    """What was read meanwhile, through any handle."""
    size: int | None = None
    """How many entries the journal had when they had been read."""

    @property
    def is_failed(self) -> bool:
        """Whether a provider was asked, and its answer can't be used."""
        return self.outcome not in ("answered", "none")

    def to_wire(self) -> dict[str, JsonValue]:
        """How the journal says it."""
        said: dict[str, JsonValue] = {"outcome": self.outcome, "digest": self.context.digest}
        if self.why is not None:
            said["why"] = self.why
        if self.size is not None:
            said["size"] = self.size
        return said


class _NotJson(Exception):
    """What the provider answered can't be frozen."""


NOTHING: Final = freeze(None)


async def recalled(
    provider: MemoryProvider[Any] | None, query: MemoryQuery, limit: float
) -> Recalled:
    """Ask the provider, if there is one, and freeze what it answers."""
    if provider is None:
        return Recalled("none", NOTHING)
    try:
        check_reach()  # whoever runs something from an action reaches no memory by that
    except MemoryOutOfReach as refused:
        return Recalled("failed", NOTHING, described(refused))
    with observed() as seen, unnoted():
        try:
            answer = await within(limit, _frozen(provider, query), "recall")
        except _NotJson as refused:
            return Recalled("not JSON", NOTHING, str(refused), seen.ids)
        except TookTooLong as late:
            log.warning("recall took too long; the run goes on without memory")
            return Recalled("timed out", NOTHING, str(late), seen.ids)
        except GOES_THROUGH:
            raise
        except BaseException as error:
            log.warning("recall failed; the run goes on without memory", exc_info=error)
            return Recalled("failed", NOTHING, described(error), seen.ids)
        return Recalled("answered", answer, sources=seen.ids)


def described(error: BaseException) -> str:
    """An error in a line, for the journal."""
    return f"{type(error).__name__}: {text_of(error)}"[:LONGEST_WHY]


async def _frozen(provider: MemoryProvider[Any], query: MemoryQuery) -> Frozen:
    answer = await answer_of(partial(provider.recall, query))
    try:
        # In the same step as the answer arrives: nobody can change it in between.
        return freeze(answer)
    except InvalidJson as refused:
        raise _NotJson(text_of(refused)[:LONGEST_WHY]) from None
