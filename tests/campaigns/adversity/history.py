"""What a client asked for and what it was told, kept where a crash can't reach it.

A client notes a call before it makes it, and its answer before it makes the next one. A call
without an answer has an unknown outcome.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from memoranda.identity import canonical_bytes, decode

Verb = Literal["remember", "create", "remember_many", "update", "forget"]


class Call(NamedTuple):
    """A call; its mark is the idempotency key, and stands as the reason in every entry it makes."""

    mark: str
    verb: Verb
    target: str = ""
    entries: int = 1
    size: int = 0

    @property
    def key(self) -> str | None:
        """The idempotency key, where the verb takes one."""
        return None if self.verb == "remember_many" else self.mark


class Answer(NamedTuple):
    """One receipt; of `records.create`, which returns an id, only that is known."""

    id: str
    version: int | None = None
    seq: int | None = None
    entry_hash: str | None = None


@dataclass(slots=True)
class History:
    """The calls of one client, or of several, by their marks."""

    file: int | None = None
    calls: dict[str, Call] = field(default_factory=dict)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    """Marks of calls whose outcome was unknown until a judge found it out."""

    def asks(self, call: Call) -> None:
        """Note a call that is about to be made."""
        self.calls[call.mark] = call
        self._note("asks", list(call))

    def told(self, mark: str, answers: Sequence[Answer]) -> None:
        """Note what a call was answered."""
        self.answers[mark] = list(answers)
        self._note("told", [mark, [list(answer) for answer in answers]])

    def refused(self, mark: str, code: str) -> None:
        """Note that a call was refused, and that nothing has landed."""
        self.refusals[mark] = code
        self._note("refused", [mark, code])

    @property
    def unknown(self) -> list[Call]:
        """The calls whose outcome nobody knows."""
        known = self.answers.keys() | self.refusals.keys()
        return [call for mark, call in self.calls.items() if mark not in known]

    def copy(self) -> "History":
        """The history as it is now, without its file."""
        # Answers first: a call is noted before its answer, so none is without its call.
        answers, refusals = dict(self.answers), dict(self.refusals)
        return History(None, dict(self.calls), answers, refusals, set(self.late))

    def merge(self, others: Iterable["History"]) -> None:
        """Add the calls of other clients."""
        for other in others:
            self.calls.update(other.calls)
            self.answers.update(other.answers)
            self.refusals.update(other.refusals)
            self.late |= other.late

    def _note(self, what: str, content: Any) -> None:
        if self.file is not None:
            os.write(self.file, canonical_bytes([what, content]) + b"\n")


def recorded(path: Path) -> History:
    """The history that a client left in a file, however it ended."""
    history = History()
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for line in lines:
        match decode(line):
            case ["asks", call]:
                history.asks(Call(*call))
            case ["told", [mark, answers]]:
                history.told(mark, [Answer(*answer) for answer in answers])
            case ["refused", [mark, code]]:
                history.refused(mark, code)
    return history
