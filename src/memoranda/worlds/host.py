"""Hosts: whatever executes an intent on a snapshot, and what a run sees of the outside.

A host gets a key, a snapshot, an intent and the closed set of options, and nothing else: memory
comes with the snapshot, frozen at ``input.$app``, and never through the options (MEM-CTX-2).
Failures are results. What a run sees of the outside is handed in as its `Surroundings`, so that
the same host runs live, is resumed, and is replayed.
"""

import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol, Self, runtime_checkable

from pydantic import ConfigDict, Field

from memoranda.identity import Frozen, canonical_bytes, sha256_hex
from memoranda.kernel.json import JsonValue, storable
from memoranda.worlds.proposal import Intent, IntentScope
from memoranda.worlds.snapshot import Count, ErrorValue, Outcome, Snapshot, WorldModel
from memoranda.worlds.world import ArtifactRef

_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_LONGEST: Final = 10_000
ABORTED: Final = "run.aborted"
"""The code of a run that was asked to end."""


What = Literal["effect", "name", "arguments"]
"""What of an effect differs: whether it is there, its name, or its arguments' digest."""


class EffectFailed(Exception):
    """An effect raised: what the action sees of it, live and in a replay."""

    def __init__(self, effect: str, type: str, message: str) -> None:  # noqa: A002 - as on the wire
        super().__init__(effect, type, message)
        self.effect, self.type, self.message = effect, type, message

    def __str__(self) -> str:
        return f"the effect {self.effect!r} failed: {self.type}: {self.message}"

    @classmethod
    def by(cls, effect: str, raised: Exception) -> Self:
        """The effect raised this."""
        if isinstance(raised, cls) and raised.effect == effect:
            return cls(*raised.args)
        return cls(effect, type(raised).__qualname__, text_of(raised))


class Stopped(Exception):
    """The surroundings end a run, which then failed with this code; an action can't prevent it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return self.message

    @classmethod
    def aborted(cls) -> Self:
        """The run was asked to end, by the signal in its options."""
        return cls(ABORTED, "the run was asked to end")

    @classmethod
    def unknown(cls, effect: str) -> Self:
        """An effect was started, and nobody knows how it ended: it is not called again."""
        return cls(
            "effect.unknown",
            f"the effect {effect!r} was started, and how it ended is not known",
        )


class EffectDiffers(Exception):
    """A replay asks for an effect that was not recorded so; never seen outside of `replayed`."""

    def __init__(
        self, effect: str, number: int, what: What, expected: str | None, found: str | None
    ) -> None:
        super().__init__(effect, number, what, expected, found)
        self.effect, self.number, self.what = effect, number, what
        self.expected, self.found = expected, found


@dataclass(frozen=True, slots=True)
class EffectError:
    """What an effect raised."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """An effect as it was journaled.

    With neither a result nor an error it was started, and how it ended is not known.
    """

    number: int
    name: str
    arguments_digest: str
    result: Frozen | None = None
    error: EffectError | None = None

    def answer(self) -> JsonValue:
        """The result, fresh; raises what the effect raised, or Stopped where nobody knows."""
        if self.error is not None:
            raise EffectFailed(self.name, self.error.type, self.error.message)
        if self.result is None:
            raise Stopped.unknown(self.name)
        return self.result.thaw()


def arguments_digest(name: str, arguments: JsonValue) -> str:
    """What an effect is known by: sha256 of its name and its arguments in canonical form."""
    return sha256_hex(canonical_bytes({"name": name, "arguments": arguments}))


def text_of(raised: BaseException) -> str:
    """The text of an exception as every database can hold it, without addresses of objects.

    An address is another one in each process; with it no failed run would replay.
    """
    try:
        text = _ADDRESS.sub("0x…", str(raised)[:_LONGEST])
    except Exception:  # noqa: BLE001 - the text is made by somebody else's code
        return "(its text can't be made)"
    if storable(text):
        return text
    return text.replace("\x00", "�").encode("utf-8", "replace").decode()


class Isolated:
    """Surroundings without an outside: an effect ends the run. For trying an action out."""

    def __init__(self, *, now: int, random_seed: str) -> None:
        self.now: Final = now
        self.random_seed: Final = random_seed

    async def effect(
        self,
        name: str,
        arguments: JsonValue,  # noqa: ARG002 - the port has it
        call: Callable[[], Awaitable[JsonValue]],  # noqa: ARG002 - it is not called
    ) -> JsonValue:
        raise Stopped(
            "effect.unrecorded",
            f"the effect {name!r} has nobody to record it: run the host within(surroundings)",
        )


class RecordedSurroundings:
    """The surroundings of a replay: every answer is a recorded one, and nothing is called.

    Effects are matched by name and arguments' digest; of several that agree in both, the one that
    was started first is served first. So effects that ran at the same time find their answers,
    however they are interleaved now.
    """

    def __init__(self, *, now: int, random_seed: str, effects: Iterable[EffectRecord]) -> None:
        self.now: Final = now
        self.random_seed: Final = random_seed
        self.asked = 0
        """How many effects were asked for so far."""
        self.differs: EffectDiffers | None = None
        """The first difference that was found, whatever became of the exception."""
        self._left: dict[int, EffectRecord] = {}
        self._queues: defaultdict[tuple[str, str], deque[EffectRecord]] = defaultdict(deque)
        for record in sorted(effects, key=lambda record: record.number):
            self._left[record.number] = record
            self._queues[record.name, record.arguments_digest].append(record)

    def take(self, name: str, digest: str) -> EffectRecord | None:
        """The next record of this effect, which is then served; None where there is no more."""
        self.asked += 1
        queue = self._queues[name, digest]
        if not queue:
            return None
        record = queue.popleft()
        del self._left[record.number]
        return record

    @property
    def left(self) -> tuple[EffectRecord, ...]:
        """What was recorded and not asked for yet, in the order of start."""
        return tuple(self._left.values())

    async def effect(
        self,
        name: str,
        arguments: JsonValue,
        call: Callable[[], Awaitable[JsonValue]],  # noqa: ARG002 - it is not called
    ) -> JsonValue:
        """The recorded answer; EffectDiffers where none is left for this effect."""
        digest = arguments_digest(name, arguments)
        record = self.take(name, digest)
        if record is None:
            self.differs = self.differs or self._difference(name, digest)
            raise self.differs
        return record.answer()

    def check_finished(self) -> EffectDiffers | None:
        """The first difference: one that was met, or an effect that was never asked for."""
        if self.differs is None and self._left:
            first = next(iter(self._left.values()))
            self.differs = EffectDiffers(
                first.name, first.number, "effect", first.arguments_digest, None
            )
        return self.differs

    def _difference(self, name: str, digest: str) -> EffectDiffers:
        """Compared with the next one of this name, or else with the next one at all."""
        left = self.left
        same = next((record for record in left if record.name == name), None)
        if same is not None:
            return EffectDiffers(name, same.number, "arguments", same.arguments_digest, digest)
        if left:
            return EffectDiffers(name, left[0].number, "name", left[0].name, name)
        return EffectDiffers(name, self.asked, "effect", None, digest)


# --------------------------------------------------------------------------- hosts


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
