"""What a recall selects by: the shipped selectors, what wraps one, and how to write your own."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.recall.corpus import Corpus, of_text
    from memoranda.recall.question import asked
    from memoranda.recall.ranking import RankingMode
    from memoranda.recall.selector import (
        Below,
        Chosen,
        Constraints,
        ModelUsed,
        Nearest,
        PastWorld,
        Request,
        Selection,
        Selector,
        Sources,
    )
    from memoranda.recall.selectors import (
        ByMeaning,
        ByWords,
        Deduplicated,
        Filtered,
        Limited,
        MostRecent,
        PastWorlds,
        WeighedByRecency,
    )

__all__ = [
    "Below",
    "ByMeaning",
    "ByWords",
    "Chosen",
    "Constraints",
    "Corpus",
    "Deduplicated",
    "Filtered",
    "Limited",
    "ModelUsed",
    "MostRecent",
    "Nearest",
    "PastWorld",
    "PastWorlds",
    "RankingMode",
    "Request",
    "Selection",
    "Selector",
    "Sources",
    "WeighedByRecency",
    "asked",
    "of_text",
]

__getattr__, __dir__ = lazy_names(__name__)
