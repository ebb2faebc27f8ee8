"""Why a record was found, for people: ``matched "refund", "March"; 2 days before``."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from memoranda.text import terms, words

_UNITS: Final = (
    ("year", 31_557_600_000),
    ("month", 2_629_800_000),
    ("week", 604_800_000),
    ("day", 86_400_000),
    ("hour", 3_600_000),
    ("minute", 60_000),
)


@dataclass(frozen=True, slots=True)
class Reason:
    """What of a question a record has: in itself, in its neighbours, in who says it and when.

    It repeats words of the question that the record itself has. Of a neighbour it says only how
    far away a match stands: what a neighbour says is the neighbour's.
    """

    matched: tuple[str, ...] = ()
    next_to: tuple[int, ...] = ()
    """How many records after this one a match stands; before it, if negative."""
    said_by: tuple[str, ...] = ()
    period: str | None = None
    near: tuple[tuple[str, str], ...] = ()
    """Words of the question, each with the word of this record that stands for it."""
    meaning: bool = False
    """Whether the record as a whole is near in meaning."""

    def in_words(self, texts: Iterable[str]) -> "Reason":
        """The same with the words of the record instead of their tokens, as it has them."""
        if not self.near:
            return self
        by_token: dict[str, str] = {}
        for word in (word for text in texts for word in words(text)):
            for token in terms(word).counts:
                by_token.setdefault(token, word)
        said = tuple((word, by_token.get(token, token)) for word, token in self.near)
        return replace(self, near=said)

    def readable(self, *, created_at: int, at: int | None = None) -> str:
        """One line; with the time of the question, also how long before it the record was made."""
        parts = []
        if self.matched:
            parts.append("matched " + ", ".join(map(_quoted, self.matched)))
        if self.near:
            parts.append("near " + ", ".join(f'"{other} ~ {word}"' for word, other in self.near))
        if self.next_to:
            parts.append("next to a match, " + ", ".join(map(_away, self.next_to)))
        if self.said_by:
            parts.append("said by " + ", ".join(map(_quoted, self.said_by)))
        if self.period is not None:
            parts.append(f"at the time asked for ({_quoted(self.period)})")
        if self.meaning:
            parts.append("near in meaning")
        if at is not None:
            parts.append(ago(at - created_at))
        return "; ".join(parts)


def ago(elapsed: int) -> str:
    """How long before something is, in its largest unit: ``2 days before``."""
    for name, size in _UNITS:
        if (number := abs(elapsed) // size) > 0:
            unit = name if number == 1 else f"{name}s"
            return f"{number} {unit} {'before' if elapsed > 0 else 'after'}"
    return "just now"


def _away(distance: int) -> str:
    records = "record" if abs(distance) == 1 else "records"
    return f"{abs(distance)} {records} {'before' if distance < 0 else 'after'}"


def _quoted(word: str) -> str:
    return f'"{word}"'
