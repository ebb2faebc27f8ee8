"""What a step type is: a name, a place in the order, a typed payload, and what it does.

A step gets its payload and the values that the plan named as its inputs, and nothing else; what
it needs beyond, such as a model or a store, is handed to it by whoever composes the steps. It
returns its output: an object, which is frozen under the step's id (ING-PASSING).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel

TURN: Final = "$turn"
"""The source of what varies with each turn, and stands beside the plan: never in it."""

Fails = Literal["cycle", "fast"]
"""What a failure ends: this cycle, or the whole runtime (ING-FAILFAST)."""

Limit = Literal["llmMs", "ioMs"]
"""Which of the plan's time limits holds for a step."""

LIMITS: Final[tuple[Limit, ...]] = ("llmMs", "ioMs")


class StepType(Protocol):
    """One type of step; `run` may be called for many cycles."""

    @property
    def name(self) -> str:
        """What a plan calls it, such as ``LLMCall``."""
        ...

    @property
    def stage(self) -> str:
        """The stage that it may stand in (ING-STAGE)."""
        ...

    @property
    def payload(self) -> type[WireModel]:
        """The form of its payload; unknown members are refused."""
        ...

    @property
    def takes(self) -> Mapping[str, Sequence[str]]:
        """Its inputs by name: of which step types each may come, or `TURN`.

        It can do without those whose name ends with ``?``.
        """
        ...

    @property
    def gives(self) -> Sequence[str]:
        """The members of its output."""
        ...

    @property
    def fails(self) -> Fails:
        """What its failure ends."""
        ...

    @property
    def limit(self) -> Limit:
        """Which time limit holds for it."""
        ...

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Do it: from its payload and its inputs to its output."""
        ...
