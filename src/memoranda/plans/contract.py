"""Step contracts: which types of steps there are, in which order, and what hangs on what.

A contract is data. The validation reads it and the engine is handed it, so that neither knows a
step by name (ING-NEUTRAL). Ours is in `first_contract`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from memoranda.plans.step import Fails

OPTIONAL: Final = "?"
"""How the name of an input ends that a step can do without."""


class Source(NamedTuple):
    """Where an input may come from: a type of step, or ``$turn``, and a member of its output."""

    type: str
    output: str

    def __str__(self) -> str:
        return f"{self.type}.{self.output}"


class StepRule(NamedTuple):
    """What the contract says of one type of step."""

    type: str
    stage: str
    """The only stage that it may stand in (ING-STAGE)."""
    takes: Mapping[str, Source]
    """Its inputs; a name that ends with ``?`` is one that it can do without."""
    gives: Sequence[str]
    """The members of its output."""
    is_mandatory: bool = False
    needs: Sequence[str] = ()
    """The members of the plan's metadata that must be there with it (ING-TOPK)."""
    goes_to: str = ""
    """The type that must take something of its output, where there is one (ING-STAGE)."""
    fails: Fails = "cycle"
    """What its failure ends; that of a write ends everything (ING-FAILFAST)."""

    @property
    def inputs(self) -> Mapping[str, Source]:
        """Its inputs by the names that a plan calls them."""
        return {name.removesuffix(OPTIONAL): source for name, source in self.takes.items()}

    @property
    def required(self) -> Sequence[str]:
        """The names of the inputs that it can't do without."""
        return [name for name in self.takes if not name.endswith(OPTIONAL)]


class StepContract(NamedTuple):
    """The types of steps in their canonical order, under a version that plans name."""

    version: str
    turn: Sequence[str]
    """What a turn brings along."""
    rules: Sequence[StepRule]

    @property
    def by_type(self) -> Mapping[str, StepRule]:
        """Each rule by the type that it is about, in the canonical order."""
        return MappingProxyType({rule.type: rule for rule in self.rules})
