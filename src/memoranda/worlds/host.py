"""The host: whatever executes an intent on a snapshot. Any agent runtime can be one.

A host gets a key, a snapshot, an intent and the closed set of options, and nothing else: memory
comes with the snapshot, frozen at ``input.$app``, and never through the options (MEM-CTX-2).
Failures are results. What a run sees of the outside is handed in as its `Surroundings`, so that
the same host runs live, is resumed, and is replayed.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol, runtime_checkable

from pydantic import ConfigDict, Field

from memoranda.kernel.json import JsonValue
from memoranda.worlds.intent import Intent, IntentScope
from memoranda.worlds.snapshot import ErrorValue, Snapshot
from memoranda.worlds.values import Count, Outcome, WorldModel
from memoranda.worlds.world import ArtifactRef


@runtime_checkable
class Signal(Protocol):
    """Says that a run should end: an event of asyncio or of threading is one."""

    def is_set(self) -> bool:
        """Whether it should."""
        ...


class HostExecutionOptions(WorldModel):
    """The options of the world protocol: closed, so that no memory can travel here (MEM-CTX-2).

    ``timeoutMs`` is kept by whoever awaits the host; ``signal`` ends a run at its next effect, and
    is no part of the value.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    approved_scope: IntentScope | None = None
    timeout_ms: Annotated[Count, Field(gt=0)] | None = None
    signal: Signal | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """The value under the wire's names; a signal is no value, and is left out."""
        wire = super().to_wire()
        wire.pop("signal", None)
        return wire


class HostExecutionResult(WorldModel):
    """How a run ended. The outcome is advisory: `derive_outcome` of the snapshot decides."""

    outcome: Outcome
    terminal_snapshot: Snapshot
    trace_ref: ArtifactRef | None = None
    error: ErrorValue | None = None


class Host(Protocol):
    """Executes an intent."""

    async def execute(
        self,
        key: str,
        base_snapshot: Snapshot,
        intent: Intent,
        options: HostExecutionOptions,
    ) -> HostExecutionResult:
        """Run the intent on the snapshot, once; what fails in it is a result, not an exception."""
        ...


class Surroundings(Protocol):
    """What a run sees of the outside: its time, its randomness, the answers to its effects."""

    @property
    def now(self) -> int:
        """The time of the run, in milliseconds since 1970; it does not move."""
        ...

    @property
    def random_seed(self) -> str:
        """What the randomness of the run is made from."""
        ...

    async def effect(
        self, name: str, arguments: JsonValue, call: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        """The result of an effect, by value: from ``call``, which is journaled, or as recorded.

        ``call`` raises nothing but `EffectFailed`, which is to be journaled and raised again. Any
        other exception that comes from here is the surroundings' own: a host passes it on, whatever
        the action does with it.
        """
        ...


@runtime_checkable
class Surrounded(Protocol):
    """A host whose runs can be resumed and replayed, for all they see can be handed in."""

    def within(self, surroundings: Surroundings) -> Host:
        """The host for one run in these surroundings."""
        ...


def derive_outcome(snapshot: Snapshot) -> Outcome:
    """Failed where a run ended with an error or with something pending, else completed.

    Neither the status string nor old errors count.
    """
    system = snapshot.system
    failed = system.last_error is not None or system.pending_requirements
    return "failed" if failed else "completed"
