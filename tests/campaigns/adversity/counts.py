"""What a campaign counts, and what of it must be zero."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

WRONG = {
    "lost": "an acknowledged write is not there",
    "altered": "an acknowledged write is there with another hash, place, id or version",
    "duplicated": "a call has landed more than once",
    "partial": "a call has landed in part",
    "surprising": "a call that was refused for sure has landed all the same",
    "strange": "an entry that nobody asked for",
    "damaged": "verify or integrity_check found damage, or the database can't be opened",
    "untyped": "an error that is not one of ours, or not the one that it should be",
    "stuck": "a lock, a transaction or a handle that did not come free",
}
"""Each of these is a broken promise; a control arm must break one."""

KEPT_TEXTS = 20


@dataclass(slots=True)
class Counts:
    """Counters of one or many runs, and the first things that went wrong, in words."""

    of: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)

    def add(self, what: str, count: int = 1) -> None:
        """Count something that may happen."""
        self.of[what] += count

    def wrong(self, what: str, text: str) -> None:
        """Count something that must not happen, and say where."""
        self.of[what] += 1
        if len(self.texts) < KEPT_TEXTS:
            self.texts.append(f"{what}: {text}")

    def __getitem__(self, what: str) -> int:
        return self.of[what]

    @property
    def broken(self) -> dict[str, int]:
        """The promises that were broken, and how often."""
        return {what: self.of[what] for what in WRONG if self.of[what]}

    def merge(self, other: "Counts", where: str = "") -> None:
        """Add the counts of another run; `where` says which one, for the texts."""
        self.of.update(other.of)
        room = max(0, KEPT_TEXTS - len(self.texts))
        self.texts += [f"{where}{text}" for text in other.texts[:room]]


def total(counted: Iterable[Counts]) -> Counts:
    """The sum of several runs."""
    everything = Counts()
    for counts in counted:
        everything.merge(counts)
    return everything
