"""Replay: run what was recorded again, and say where it differs, if it does.

Everything a run saw is in its `RunRecording`; there is no store, no provider and no clock here, so
that nothing can be asked again (MEM-CONTEXT-2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.identity import Frozen, canonical_bytes, decode
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result, members
from memoranda.worlds.delta import ABSENT, differences
from memoranda.worlds.host import (
    ABORTED,
    EffectDiffers,
    EffectRecord,
    HostExecutionOptions,
    RecordedSurroundings,
    Signal,
    Surrounded,
    derive_outcome,
)
from memoranda.worlds.proposal import Intent
from memoranda.worlds.snapshot import Outcome, Snapshot

_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class RunRecording:
    """All that a run saw, and what it led to.

    ``input`` is the snapshot's input as it was frozen, with what was recalled at ``$app``; None for
    a run whose snapshot had none. ``terminal`` is the canonical form of its last snapshot.
    """

    execution_key: str
    base: Snapshot
    intent: Intent
    options: HostExecutionOptions
    now: int
    random_seed: str
    input: Frozen | None
    effects: tuple[EffectRecord, ...]
    terminal: bytes
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Same:
    """The run led to the same snapshot, byte for byte."""

    action: str

    def __str__(self) -> str:
        return f"{self.action}: the same"


@dataclass(frozen=True, slots=True, repr=False)
class Differs(Result):
    """The first difference. Expected and found are canonical JSON; None is 'not there'.

    =============  =============================================================================
    ``what``       expected, found
    =============  =============================================================================
    ``effect``     the arguments' digest; None on the side where the effect was not asked for
    ``name``       the name of the next effect that was recorded, and of the one asked for
    ``arguments``  the digest of an effect's arguments as recorded, and now
    ``field``      what stands at ``path`` in the last snapshot
    ``outcome``    how the run ended
    =============  =============================================================================

    ``error`` is the code and the message of a failure that the recorded run did not have.
    """

    action: str
    what: Literal["effect", "name", "arguments", "field", "outcome"]
    expected: str | None
    found: str | None
    effect: str | None = None
    number: int | None = None
    path: str | None = None
    error: str | None = None

    @property
    def where(self) -> str:
        """The place: an effect with its number, a path, or the outcome."""
        if self.effect is not None:
            return f"effect {self.number} ({self.effect}), {self.what}"
        return self.path or self.what

    def wire_members(self) -> Mapping[str, object]:
        """All fields, and the place in words."""
        return {**members(self), "where": self.where}

    def __str__(self) -> str:
        because = f" ({self.error})" if self.error else ""
        expected, found = _cut(self.expected), _cut(self.found)
        return f"{self.action}: {self.where}: expected {expected}, found {found}{because}"


Replayed = Same | Differs


async def replayed(host: Surrounded, recording: RunRecording) -> Replayed:
    """Run a recording again, and compare (MEM-CONTEXT-2).

    1. the base gets the input as it was frozen; memory is out of reach
    2. time, randomness and the answers to effects are the recorded ones; a run that was asked
       to end is asked again after as many effects
    3. every effect was recorded so, and every recorded one was asked for
    4. the last snapshot is the recorded one, byte for byte; else the first field that differs, in
       canonical order
    5. so is the outcome

    What a host raises by itself comes through.
    """
    # 1.
    base = _with_input(recording.base, recording.input)
    expected = decode(recording.terminal)
    # 2.
    recorded = RecordedSurroundings(
        now=recording.now, random_seed=recording.random_seed, effects=recording.effects
    )
    signal = _After(recorded, len(recording.effects)) if _was_aborted(expected) else None
    options = recording.options.model_copy(update={"signal": signal})
    action = recording.intent.type
    try:
        with out_of_reach("a replay"):
            result = await host.within(recorded).execute(
                recording.execution_key, base, recording.intent, options
            )
    except EffectDiffers as differs:
        return _effect_differs(action, differs, None)
    # 3.
    if (met := recorded.check_finished()) is not None:  # whatever the host made of the exception
        error = _new_error(expected, result.terminal_snapshot.to_wire())
        return _effect_differs(action, met, error)
    # 4.
    found = result.terminal_snapshot.canonical()
    if found != recording.terminal:
        return _field_differs(action, expected, decode(found))
    # 5.
    outcome = derive_outcome(result.terminal_snapshot)
    if outcome != recording.outcome:
        return Differs(action, "outcome", recording.outcome, outcome)
    return Same(action)


# ------------------------------------------------------------------------ comparing


def _effect_differs(action: str, differs: EffectDiffers, error: str | None) -> Differs:
    return Differs(
        action,
        differs.what,
        differs.expected,
        differs.found,
        effect=differs.effect,
        number=differs.number,
        error=error,
    )


def _field_differs(action: str, expected: JsonValue, found: JsonValue) -> Differs:
    first = next(differences(expected, found), None)
    if first is None:  # the recorded bytes are not the canonical ones of their value
        return Differs(action, "field", "canonical bytes", "other bytes", path="$")
    return Differs(
        action,
        "field",
        _shown(first.before),
        _shown(first.after),
        path=first.path,
        error=_new_error(expected, found),
    )


def _new_error(expected: JsonValue, found: JsonValue) -> str | None:
    before, now = _last_error(expected), _last_error(found)
    if now is None or now == before:
        return None
    return f"{now['code']}: {now['message']}"


def _last_error(snapshot: JsonValue) -> JsonValue:
    return snapshot["system"]["lastError"]


def _shown(value: JsonValue) -> str | None:
    return None if value is ABSENT else canonical_bytes(value).decode()


def _cut(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


# ------------------------------------------------------------------- as it was then


def _with_input(base: Snapshot, frozen: Frozen | None) -> Snapshot:
    """The base with the frozen input; without one, an input that is absent."""
    if frozen is not None:
        return base.model_copy(update={"input": frozen.thaw()})
    return Snapshot.model_construct(
        data=base.data, computed=base.computed, system=base.system, meta=base.meta
    )


def _was_aborted(terminal: JsonValue) -> bool:
    error = _last_error(terminal)
    return error is not None and error["code"] == ABORTED


@dataclass(frozen=True, slots=True)
class _After(Signal):
    """Asks a run to end where it was asked to end: after so many effects."""

    recorded: RecordedSurroundings
    effects: int

    def is_set(self) -> bool:
        return self.recorded.asked >= self.effects
