"""What a verifier finds: damage, named, with the place of each."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, plain

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
    "session",
    "recording",
    "retry",
    "vector",
    "world",
    "directory",
]
"""Which of the checks of `docs/format.md` failed; the last ones are about what is derived."""

CHECKS: Final[tuple[Check, ...]] = get_args(Check)

_OF_AN_INDEX: Final[frozenset[Check]] = frozenset({"tag", "index", "item", "session", "vector"})
"""What is found by its place in an index, not by its entry, and can be mended."""

SHOWN_OF_A_KIND = 100


@dataclass(frozen=True, slots=True, repr=False)
class Damage(Result):
    """One thing that is wrong: the check, the entry's number where there is one, and why.

    `about` tells damage without an entry from other damage of its kind, by words that stay the
    same while the journal grows: which checkpoint disagrees.
    """

    check: Check
    seq: int | None
    why: str
    about: str = ""

    @property
    def name(self) -> str:
        """The same for the same damage, whenever it is found and however the journal grew.

        Whatever is wrong with an entry or its row is one damage, of that entry; what is wrong with
        an index is one, of that index.
        """
        if self.entry is not None:
            return f"entry/{self.entry}"
        return f"{self.check}/{self.about}" if self.about else self.check

    @property
    def entry(self) -> int | None:
        """The entry that it is the damage of; None where it is an index's, or of no entry."""
        return None if self.check in _OF_AN_INDEX else self.seq

    @property
    def accepted_as(self) -> str:
        """What a re-audit names to accept it: its entry, or its check where it has none."""
        return self.check if self.entry is None else str(self.entry)

    def wire_members(self) -> Mapping[str, object]:
        """The check, the entry's number and why."""
        return {"check": self.check, "seq": self.seq, "why": self.why}

    def __str__(self) -> str:
        return (
            f"{self.check}: {self.why}"
            if self.seq is None
            else (f"{self.check} at entry {self.seq}: {self.why}")
        )


def first_damages(found: Iterable[Damage], known: Collection[int] = ()) -> list[Damage]:
    """Damage, each by its name once, without what merely follows from other damage of it.

    1. an index does not fit an entry that was changed
    2. nor does the entry after one that is gone
    3. nor does the head, where entries don't follow each other

    `known` are entries that were found to be damaged before.
    """
    found = list(found)
    damaged = {*known, *(damage.entry for damage in found if damage.entry is not None)}
    is_torn = any(damage.check in ("seq", "previous") for damage in found)
    by_name: dict[str, Damage] = {}
    for damage in found:
        of_another = damage.entry is None and damage.seq in damaged  # 1.
        after_it = (
            damage.check == "previous" and damage.seq is not None and damage.seq - 1 in damaged
        )  # 2.
        if not (of_another or after_it or (is_torn and damage.check == "head")):  # 3.
            by_name.setdefault(damage.name, damage)
    return list(by_name.values())


@dataclass(slots=True)
class Damages:
    """All damage that was found: counted whole, the first hundred of each kind kept."""

    found: list[Damage] = field(default_factory=list)
    counts: Counter[Check] = field(default_factory=Counter)

    def add(self, check: Check, seq: int | None, why: str, *, about: str = "") -> None:
        """Report damage."""
        self.counts[check] += 1
        if self.counts[check] <= SHOWN_OF_A_KIND:
            self.found.append(Damage(check, seq, why, about))

    def to_wire(self) -> dict[str, JsonValue]:
        """How much there is of each kind, and the first of it."""
        return {"counts": dict(self.counts), "found": plain(self.found)}

    @property
    def is_whole(self) -> bool:
        """Whether all of it is kept, and nothing only counted."""
        return len(self.found) == self.counts.total()

    def __bool__(self) -> bool:
        return bool(self.counts)
