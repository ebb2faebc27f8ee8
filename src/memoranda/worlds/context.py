"""What an action gets: all it may know, and nothing that a replay would not have."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable
from random import Random  # noqa: TID251 - seeded from what is recorded with the run
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from memoranda.identity import canonical_bytes, decode, freeze, sha256
from memoranda.kernel.json import JsonValue, storable
from memoranda.kernel.reach import EFFECT, out_of_reach
from memoranda.worlds.effects import EffectFailed, Stopped
from memoranda.worlds.host import Signal, Surroundings
from memoranda.worlds.readonly import plain, read_only

InputT_co = TypeVar("InputT_co", bound=BaseModel | None, covariant=True)

RANDOM_FORM: Final = "memoranda/random/1"
APP: Final = "$app"
"""Where the app's own members stand in a snapshot's input (APP-INPUT-1)."""
_UNREAD: Final = object()


class Run:
    """One execution's way to the outside, open until its action has ended.

    What the surroundings themselves raise is kept: an action that catches it changes nothing.
    """

    def __init__(self, surroundings: Surroundings, signal: Signal | None) -> None:
        self.surroundings: Final = surroundings
        self.broken: Exception | None = None
        self._signal = signal
        self._open = True
        self._started = 0
        self._running: dict[int, str] = {}

    def end(self) -> None:
        """The action has ended. An effect that it left running is one of unknown outcome."""
        self._open = False
        if self._running and self.broken is None:
            self.broken = Stopped.unknown(next(iter(self._running.values())))

    async def effect(
        self, name: str, function: Callable[..., object], arguments: Mapping[str, JsonValue]
    ) -> JsonValue:
        """Ask the surroundings for an effect.

        1. a run that has ended, was stopped or broke asks for nothing more
        2. the effect has a name, and its arguments are taken by value
        3. the surroundings answer; what they raise themselves ends the run, and so does giving the
           effect up: nobody knows how it ended
        4. the result is taken by value; what the effect raised is raised bare, without a cause
        """
        # 1.
        if not self._open:
            raise RuntimeError(f"the action has ended: the effect {name!r} comes too late")
        if self.broken is None and self._signal is not None and self._signal.is_set():
            self.broken = Stopped.aborted()
        if self.broken is not None:
            raise self.broken
        # 2.
        if not isinstance(name, str) or not name or not storable(name):
            raise ValueError(f"an effect has a name, not {name!r}")
        given = freeze(plain(arguments))
        # 3.
        self._started += 1
        number = self._started
        self._running[number] = name
        try:
            answer = await self.surroundings.effect(
                name, given.thaw(), lambda: _called(name, function, given.thaw())
            )
            result = canonical_bytes(answer)
        except EffectFailed as raised:
            failed = EffectFailed.by(name, raised)
        except Exception as raised:
            self.broken = self.broken or raised
            raise
        except BaseException:  # given up while it ran, say by a time-out of the action's own
            self.broken = self.broken or Stopped.unknown(name)
            raise
        else:
            return decode(result)  # 4.
        finally:
            del self._running[number]
        raise failed


async def _called(
    name: str, function: Callable[..., object], arguments: dict[str, JsonValue]
) -> JsonValue:
    """Call what the effect is, out of reach of memory; whatever it raises is EffectFailed."""
    try:
        with out_of_reach(EFFECT):
            result = function(**arguments)
            if isawaitable(result):
                result = await result
            return decode(canonical_bytes(plain(result)))
    except Exception as raised:  # noqa: BLE001 - it is recorded, and raised again as what it was
        failed = EffectFailed.by(name, raised)
    raise failed


class ActionContext(Generic[InputT_co]):
    """What an action gets. All of it is recorded with the run, or follows from what is."""

    __slots__ = ("_app", "_input", "_memory", "_random", "_run", "_state")

    def __init__(
        self, run: Run, *, state: dict[str, JsonValue], given: InputT_co, frozen: JsonValue
    ) -> None:
        app = frozen.get(APP) if isinstance(frozen, dict) else None
        self._run = run
        self._state = read_only(state)
        self._input = given
        self._app: dict[str, JsonValue] = app if isinstance(app, dict) else {}
        self._memory: JsonValue = _UNREAD
        self._random: Random | None = None

    @property
    def state(self) -> Mapping[str, JsonValue]:
        """The state before the action, to be read only; members in the order of their names."""
        state: Mapping[str, JsonValue] = self._state
        return state

    @property
    def input(self) -> InputT_co:
        """The input, as the model that the action declares; None where it declares none."""
        return self._input

    @property
    def memory(self) -> JsonValue:
        """What was recalled for this run, as it was frozen; None where nothing was (MEM-CTX-3).

        It is the action's own copy: what is done to it does not reach the record.
        """
        if self._memory is _UNREAD:
            self._memory = decode(canonical_bytes(self._app.get("memoryContext")))
        return self._memory

    @property
    def memory_failed(self) -> bool:
        """Whether the recall for this run failed; then `memory` is None."""
        return self._app.get("memoryRecallFailed") is True

    @property
    def now(self) -> int:
        """The time of the run in milliseconds since 1970; it does not move."""
        return self._run.surroundings.now

    @property
    def random(self) -> Random:
        """Randomness that is the same on every machine, for it is made from the run's seed."""
        if self._random is None:
            seed = f"{RANDOM_FORM}:{self._run.surroundings.random_seed}".encode()
            self._random = Random(int.from_bytes(sha256(seed)))
        return self._random

    async def effect(
        self,
        name: str,
        function: Callable[..., Awaitable[object] | object],
        /,
        **arguments: JsonValue,
    ) -> JsonValue:
        """Call a function, or a coroutine function, of the outside, and have it on record.

        It gets the arguments by value, and its result comes back by value: JSON, views or
        pydantic models. What it raises comes as `EffectFailed`, a time-out of its own too. The
        record knows an effect by name and arguments: whatever tells two of them apart is an
        argument. Several may run at once; which of them ends first is not on record.
        """
        return await self._run.effect(name, function, arguments)
