"""What a verifier finds: damage, named, with the place of each."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

Check = Literal[
    "form",
    "seq",
    "previous",
    "time",
    "body",
    "object",
    "head",
    "tree",
    "size",
    "root",
    "anchor",
    "signature",
    "row",
    "tag",
    "index",
    "item",
    "vector",
    "world",
    "directory",
]
"""Which of the checks of `docs/format.md` failed; the last ones are about what is derived."""

SHOWN_OF_A_KIND = 100


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is wrong: the check, the entry's number where there is one, and why."""

    check: Check
    seq: int | None
    why: str

    def __str__(self) -> str:
        """For people."""
        return (
            f"{self.check}: {self.why}"
            if self.seq is None
            else (f"{self.check} at entry {self.seq}: {self.why}")
        )


@dataclass(slots=True)
class Damages:
    """All damage that was found: counted whole, the first hundred of each kind kept."""

    found: list[Damage] = field(default_factory=list)
    counts: Counter[Check] = field(default_factory=Counter)

    def add(self, check: Check, seq: int | None, why: str) -> None:
        """Report damage."""
        self.counts[check] += 1
        if self.counts[check] <= SHOWN_OF_A_KIND:
            self.found.append(Damage(check, seq, why))

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.counts)
