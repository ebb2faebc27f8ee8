"""Effects: what a run asks of the outside, and how the answers are served again.

An effect (a model call, a tool, a request, a query) is known by its name and the digest of its
arguments, and numbered from 1 in the order in which effects are started. Its result is kept by
value. One that raises is kept as the type and the text of what it raised; the action sees
`EffectFailed` with both, live and in a replay, so that neither run can do what the other does not.
"""

import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, Self

from memoranda.identity import Frozen, canonical_bytes, freeze, sha256_hex
from memoranda.kernel.json import JsonValue, storable

_ADDRESS: Final = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_LONGEST: Final = 10_000
ABORTED: Final = "run.aborted"
"""The code of a run that was told to end."""


What = Literal["effect", "name", "arguments"]
"""What of an effect differs: whether it is there, its name, or its arguments' digest."""


class EffectFailed(Exception):
    """An effect raised: what the action sees of it, live and in a replay."""

    def __init__(self, effect: str, type: str, message: str) -> None:  # noqa: A002 - as on the wire
        super().__init__(effect, type, message)
        self.effect, self.type, self.message = effect, type, message

    def __str__(self) -> str:
        """Which effect, and what it raised."""
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
        """Why."""
        return self.message

    @classmethod
    def aborted(cls) -> Self:
        """The run was told to end, by the signal in its options."""
        return cls(ABORTED, "the run was told to end")

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
        """None is called."""
        raise Stopped(
            "effect.unrecorded",
            f"the effect {name!r} has nobody to record it: run the host within(surroundings)",
        )


class Performed:
    """Live surroundings that keep their records in memory, in the order of start.

    For tests of actions, and the pattern for surroundings that journal.
    """

    def __init__(self, *, now: int, random_seed: str) -> None:
        self.now: Final = now
        self.random_seed: Final = random_seed
        self._records: list[EffectRecord] = []

    @property
    def effects(self) -> tuple[EffectRecord, ...]:
        """What was asked for so far; one that is still running has neither result nor error."""
        return tuple(self._records)

    async def effect(
        self, name: str, arguments: JsonValue, call: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        """Call it, and keep how it ended."""
        number, digest = len(self._records) + 1, arguments_digest(name, arguments)
        self._records.append(EffectRecord(number, name, digest))
        try:
            result = freeze(await call())
        except EffectFailed as failed:
            error = EffectError(failed.type, failed.message)
            self._records[number - 1] = EffectRecord(number, name, digest, error=error)
            raise
        self._records[number - 1] = EffectRecord(number, name, digest, result=result)
        return result.thaw()


class Recorded:
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
