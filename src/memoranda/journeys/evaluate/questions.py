"""Questions whose answers are known, about texts: what an evaluation is made of."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """A text, when it was said, and which conversation it is a part of, if of any."""

    id: str
    text: str
    created_at: int = 0
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its kind, and the ids of the texts that answer it."""

    text: str
    category: str
    evidence: frozenset[str]
    asked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts of one scope, in their order in time, and the questions about them."""

    name: str
    texts: Sequence[Text]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Questions:
    """All collections of a file; the categories in the order in which they are shown."""

    collections: Sequence[Collection]
    categories: Sequence[str]
    skipped: int = 0
    """Questions without any text that answers them: they are not scored."""
