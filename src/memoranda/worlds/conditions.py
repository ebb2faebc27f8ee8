"""Conditions of policy rules: what a proposal must be like for a rule to hold.

A function of one's own is named, and the name is written down with the policy: whoever reads it
back must hand in the function again. It runs where memory can't be reached (M-4), on a copy.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import out_of_reach
from memoranda.worlds.authority import Asked
from memoranda.worlds.proposal import Proposal

Risk = Literal["low", "medium", "high"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high")
"""From the least to the greatest."""


class Condition(Protocol):
    """What a rule asks of a proposal."""

    def holds(self, asked: Asked, /) -> bool:
        """Whether the proposal is like that."""
        ...

    def to_wire(self) -> dict[str, JsonValue]:
        """The condition as JSON, with a ``kind``."""
        ...


@dataclass(frozen=True, slots=True)
class IntentType:
    """The intent is one of these types."""

    types: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))

    def holds(self, asked: Asked, /) -> bool:
        """Whether it is."""
        return asked.proposal.intent.body.type in self.types

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it."""
        return {"kind": "intent_type", "types": list(self.types)}


@dataclass(frozen=True, slots=True)
class ScopePattern:
    """The intent's *type* matches as a whole, as in the world protocol (not its scope).

    ``*`` stands for any text and ``?`` for any character; all else is a regular expression, so
    that a dot matches any character too: write ``orders[.]*`` where that matters.
    """

    pattern: str
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expression = self.pattern.replace("*", ".*").replace("?", ".")
        try:
            object.__setattr__(self, "_compiled", re.compile(expression))
        except re.error as refused:
            raise InvalidWorld("$.pattern", f"it is no pattern: {refused}") from None

    def holds(self, asked: Asked, /) -> bool:
        """Whether it does."""
        return self._compiled.fullmatch(asked.proposal.intent.body.type) is not None

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it."""
        return {"kind": "scope_pattern", "pattern": self.pattern}


@dataclass(frozen=True, slots=True)
class Custom:
    """A function of the user's own says so, under a name that is written down."""

    name: str
    function: Callable[[Proposal], bool] = field(repr=False, compare=False)

    def holds(self, asked: Asked, /) -> bool:
        """What the function says."""
        return bool(_out_of_reach(self.function, asked))

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it: the name alone."""
        return {"kind": "custom", "evaluator": self.name}


@dataclass(frozen=True, slots=True)
class RiskAtLeast:
    """A function of the user's own puts the risk at this level, or higher."""

    level: Risk
    name: str
    function: Callable[[Proposal], Risk] = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.level not in RISKS:
            raise InvalidWorld("$.level", f"a risk is {', '.join(RISKS)}")

    def holds(self, asked: Asked, /) -> bool:
        """Whether the function says so; InvalidWorld where what it says is no risk."""
        risk = _out_of_reach(self.function, asked)
        if risk not in RISKS:
            raise InvalidWorld(self.name, f"it says {risk!r}, and a risk is {', '.join(RISKS)}")
        return RISKS.index(risk) >= RISKS.index(self.level)

    def to_wire(self) -> dict[str, JsonValue]:
        """The level, and the name of the function."""
        return {"kind": "risk", "level": self.level, "evaluator": self.name}


def _out_of_reach(function: Callable[[Proposal], object], asked: Asked) -> object:
    with out_of_reach("an authority"):
        return function(Proposal.from_wire(asked.proposal.to_wire()))
