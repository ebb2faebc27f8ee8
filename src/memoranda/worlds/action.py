"""Actions: what one gets, which is nothing that a replay would not have, and what it may return."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import isawaitable
from random import Random  # noqa: TID251 - seeded from what is recorded with the run
from typing import Final, Generic, TypeVar

from pydantic import BaseModel

from memoranda.identity import canonical_bytes, decode, freeze, sha256
from memoranda.kernel.ambient import EFFECT, out_of_reach
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue, path, storable
from memoranda.worlds.host import EffectFailed, Signal, Stopped, Surroundings
from memoranda.worlds.readonly import plain, read_only, taken

InputT_co = TypeVar("InputT_co", bound=BaseModel | None, covariant=True)

RANDOM_FORM: Final = "memoranda/random/1"
APP: Final = "$app"
"""Where the app's own members stand in a snapshot's input (APP-INPUT-1)."""
_UNREAD: Final = object()


class ActionRun:
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
        self, run: ActionRun, *, state: dict[str, JsonValue], given: InputT_co, frozen: JsonValue
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


# ------------------------------------------------------------------------- patches

# Patches: what an action may return in place of a whole new state.
#
# As in the core protocol: ``Set``, ``Unset`` and ``Merge`` at a dotted path that starts at the
# data. A path may be given as a tuple of names and indexes too, for a name that has a dot in it;
# the empty path is the whole state. Objects that are missing on the way to a `Set` or a `Merge` are
# made; arrays are gone through by index, and never grow or shrink: set the whole array for that.


Path = str | tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Set:
    """The member or item at the path becomes this value."""

    path: Path
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Unset:
    """The member at the path goes; one that is not there is no error."""

    path: Path


@dataclass(frozen=True, slots=True)
class Merge:
    """The object at the path takes these members over its own, one level deep."""

    path: Path
    value: Mapping[str, JsonValue]


Patch = Set | Unset | Merge
"""A change to a state: what an action returns."""

_MISSING: Final = object()


def patched(data: JsonValue, patches: Iterable[Patch]) -> JsonValue:
    """The data after the patches, in their order, or InvalidWorld with where and why.

    The data is never touched; what the patches leave alone is shared with it.
    """
    root: dict[str | int, JsonValue] = {"": data}
    fresh: dict[int, JsonValue] = {}
    for patch in patches:
        _apply(root, patch, fresh)
    return root[""]


def _apply(root: JsonValue, patch: Patch, fresh: dict[int, JsonValue]) -> None:
    """Copy the containers along the way, unless they were copied for this result already."""
    *way, last = steps = ("", *_steps(patch.path))
    holder, where = root, "$"
    for step, following in zip(way, steps[1:], strict=True):
        held = _held(holder, step, where)
        if held is _MISSING:
            if isinstance(patch, Unset):
                return
            held = {}
        where = path(where, following)
        if not isinstance(held, dict | list):
            raise InvalidWorld(where, "it lies in something that is neither object nor array")
        if id(held) not in fresh:
            held = held.copy()
            fresh[id(held)] = held  # kept, so that no other object gets its id
        holder[_key(holder, step, where)] = held
        holder = held
    match patch:
        case Set(value=value):
            holder[_key(holder, last, where)] = taken(value)
        case Unset():
            if holder is root or isinstance(holder, list):
                raise InvalidWorld(where, "only a member of an object can be unset")
            holder.pop(last, None)
        case Merge(value=value):
            merged = taken(value)
            held = _held(holder, last, where)
            own = {} if held is _MISSING else held
            if not isinstance(own, dict) or not isinstance(merged, dict):
                raise InvalidWorld(where, "only an object can be merged into an object")
            holder[_key(holder, last, where)] = own | merged


def _steps(given: Path) -> tuple[str | int, ...]:
    if isinstance(given, str):
        return tuple(given.split(".")) if given else ()
    return given


def _held(holder: JsonValue, step: str | int, where: str) -> JsonValue:
    key = _key(holder, step, where)
    return holder.get(key, _MISSING) if isinstance(holder, dict) else holder[key]


def _key(holder: JsonValue, step: str | int, where: str) -> str | int:
    if isinstance(holder, dict):
        if not isinstance(step, str):
            raise InvalidWorld(where, "an object has names, not indexes")
        return step
    if isinstance(step, str) and step.isascii() and step.isdigit():
        step = int(step)
    if type(step) is not int or not 0 <= step < len(holder):
        raise InvalidWorld(where, f"the array has no item {step!r}")
    return step
