"""What a recall selects by: the shipped selectors, what wraps one, and how to write your own."""

from memoranda.recall.asking import asked
from memoranda.recall.composed import Deduplicated, Filtered, Limited, WeighedByRecency
from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.hybrid import Hybrid
from memoranda.recall.ranking import Mode
from memoranda.recall.selector import (
    Below,
    Chosen,
    Constraints,
    Nearest,
    PastWorld,
    Request,
    Selection,
    Selector,
    Sources,
)
from memoranda.recall.selectors import ByWords, MostRecent, PastWorlds

__all__ = [
    "Below",
    "ByWords",
    "Chosen",
    "Constraints",
    "Corpus",
    "Deduplicated",
    "Filtered",
    "Hybrid",
    "Limited",
    "Mode",
    "MostRecent",
    "Nearest",
    "PastWorld",
    "PastWorlds",
    "Request",
    "Selection",
    "Selector",
    "Sources",
    "WeighedByRecency",
    "asked",
    "of_text",
]
