"""What is kept of a turn: a summary and keywords, never the response itself (ING-RAW).

Whoever makes them, they are checked here before they become a step's output: a summary that holds
the whole response is refused, and so is a keyword.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from unicodedata import normalize

from recollect.kernel.errors import InvalidItem
from recollect.kernel.json import storable
from recollect.plans.items import MAX_KEYWORD
from recollect.plans.raw import Whole
from recollect.text import fold, words
from recollect.text.quoting import is_unseen

MAX_LENGTH: Final = 280
"""Characters of a summary where the plan does not say how many."""

MAX_KEYWORDS: Final = 8
"""Keywords where the plan does not say how many."""

_A_REMARK: Final = 4
"""Words of what the user said that a summary may hold whole: a summary is often about just them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a summary, and how many keywords there may be."""

    max_length: int = MAX_LENGTH
    max_keywords: int = MAX_KEYWORDS


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, and the words that it is found by."""

    summary: str
    keywords: Sequence[str]


class Summariser(Protocol):
    """Makes a summary and keywords; it stores nothing (ING-SUMMARY-STEP)."""

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
        """What to keep of a response, and of what the user had said, if that is known."""
        ...


def checked(made: Summary, response: str, text: str | None, limits: Limits) -> Summary:
    """A summary that may be kept, in NFC, each keyword once; InvalidItem says why it may not be.

    1. the summary is a text, not blank, and not longer than the limit
    2. neither it nor the keywords, each or in a row, hold the whole response          (ING-RAW)
    3. nor the whole of what the user said, if that was more than a remark             (ING-RAW)
    4. keywords are texts, not blank, and no more of them than the limit

    There may be no keywords at all, when there is nothing that could be one.
    """
    # 1.
    summary = _text("$.summary", made.summary)
    if len(summary) > limits.max_length:
        raise InvalidItem("$.summary", f"it has more than {limits.max_length} characters")
    # 4.
    keywords = distinct(_text(f"$.keywords[{at}]", one) for at, one in enumerate(made.keywords))
    if len(keywords) > limits.max_keywords:
        raise InvalidItem("$.keywords", f"there are more than {limits.max_keywords}")
    if any(len(keyword) > MAX_KEYWORD for keyword in keywords):
        raise InvalidItem("$.keywords", f"one has more than {MAX_KEYWORD} characters")
    # 2. and 3.
    for whole in map(Whole, raw_texts(response, text)):
        if whole.is_in(summary):
            raise InvalidItem("$.summary", "it holds a whole response, or all that was said")
        if any(whole.is_in(one) for one in (*keywords, " ".join(keywords))):
            raise InvalidItem("$.keywords", "they hold a whole response, or all that was said")
    return Summary(summary, keywords)


def raw_texts(response: str, text: str | None) -> tuple[str, ...]:
    """What must not be kept whole: the response, and what the user said if it is no mere remark."""
    said = text is not None and len(words(text)) > _A_REMARK
    return (response, text) if said and text is not None else (response,)


def distinct(keywords: Iterable[str]) -> tuple[str, ...]:
    """The keywords without those that read the same as one before, case folded."""
    kept: dict[str, str] = {}
    for keyword in keywords:
        kept.setdefault(fold(keyword), keyword)
    return tuple(kept.values())


def _text(where: str, given: object) -> str:
    if not isinstance(given, str):
        raise InvalidItem(where, "it is not a text")
    if not storable(given):
        raise InvalidItem(where, "it holds U+0000 or a lone surrogate")
    text = normalize("NFC", given).strip()
    if all(one.isspace() or is_unseen(one) for one in text):
        raise InvalidItem(where, "there is nothing in it that can be read")
    return text
