"""What a live execution sees of the outside: its time, its seed, and effects that are journaled.

An effect commits before it starts, with its name and its arguments' digest, and again with its
result. The result that the action gets is the one that was written, by value: a replay gets the
same. A run that is taken up again gets the results that were written before it died.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence

from memoranda.identity import freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Found
from memoranda.kernel.clock import Clock
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Draft, Expected
from memoranda.worlds.effects import (
    EffectError,
    EffectFailed,
    EffectRecord,
    Recorded,
    Stopped,
    arguments_digest,
)


class Live:
    """One execution's surroundings; what it has to commit goes through here, one by one."""

    def __init__(
        self,
        chronicle: Chronicle,
        *,
        key: str,
        actor: str,
        clock: Clock,
        now: int,
        random_seed: str,
        begun: Draft | None,
        last: int | None,
        sources: Sequence[str],
        rests_on: Sequence[Expected] = (),
        recorded: Sequence[EffectRecord] = (),
    ) -> None:
        """`begun` is written with the first effect, if it is not written yet: as it was made.

        `last` is the newest entry of this execution: when another one came, it was erased.
        `rests_on` is what it was made from: it must be there when its beginning is written. From
        then on it is erased with that.
        """
        self.now = now
        self.random_seed = random_seed
        self.broken: Exception | None = None
        """Why an effect could not be journaled, if one could not: then nothing is sealed."""
        self._chronicle = chronicle
        self._name = names.execution(key)
        self._key = key
        self._actor = actor
        self._clock = clock
        self._begun = begun
        self._last = last
        self._sources = sources
        self._rests_on = rests_on
        self._recorded = Recorded(now=now, random_seed=random_seed, effects=recorded)
        self._count = len(recorded)
        self._lock = asyncio.Lock()
        self._landing: asyncio.Future[None] | None = None
        self._is_closed = False

    async def effect(
        self, name: str, arguments: JsonValue, call: Callable[[], Awaitable[JsonValue]]
    ) -> JsonValue:
        """Perform an effect, once and for all; what it raises is written and raised again."""
        self._check_open(name)
        digest = arguments_digest(name, arguments)
        known = self._recorded.take(name, digest)
        if known is not None:
            return known.answer()
        self._count += 1
        number = self._count
        await self._write(documents.effect_started(self._key, number, name, digest))
        try:
            result = freeze(await call())
        except EffectFailed as failed:
            said = {"error": {"type": failed.type, "message": failed.message}}
            await self._write(documents.effect_finished(self._key, number, name, said))
            raise
        said = {"result": result.thaw()}
        await self._write(documents.effect_finished(self._key, number, name, said))
        return result.thaw()

    @property
    def expects(self) -> list[Expected]:
        """What must be so when more is written: nothing came in between, nothing was erased."""
        newest = Expected(self._name, self._last)
        return [newest] if self.has_begun else [newest, *self._rests_on]

    @property
    def has_begun(self) -> bool:
        """Whether it is written how the execution began."""
        return self._begun is None

    @property
    def unasked(self) -> str | None:
        """The first effect that was recorded before, and that the run did not ask for."""
        return next((one.name for one in self._recorded.left), None)

    def unwritten(self) -> list[Draft]:
        """How the execution began, if no effect has made that be written."""
        return [] if self._begun is None else [self._begun]

    async def close(self) -> None:
        """The run is over: what is still under way does no more effects.

        What is being written is written when this returns, also for an effect that was given up:
        only then it is known what the seal comes after.
        """
        self._is_closed = True
        await self._landed()

    async def _write(self, fact: Fact) -> None:
        """Commit a fact; whoever gives up waiting for it does not undo it."""
        async with self._lock:
            await self._landed()
            self._check_open(fact.says["name"])
            self._landing = asyncio.ensure_future(self._land(fact))
            await asyncio.shield(self._landing)

    def _check_open(self, effect: str) -> None:
        if self._is_closed:
            raise Stopped("run.ended", f"the run has ended: the effect {effect!r} comes too late")

    async def _landed(self) -> None:
        if self._landing is not None:
            await asyncio.wait([self._landing])

    async def _land(self, fact: Fact) -> None:
        drafts = [*self.unwritten(), *self._chronicle.drafts([fact])]
        try:
            committed = await self._chronicle.commit(
                drafts,
                actor=self._actor,
                at=self._clock.now_ms(),
                expects=self.expects,
                sources=() if self.has_begun else self._sources,
            )
        except Exception as error:
            self.broken = self.broken or error
            self._is_closed = True
            raise
        self._begun, self._last = None, committed.places[-1].seq


def recorded_effects(execution: Iterable[Found]) -> list[EffectRecord]:
    """The effects of an execution as they are written, in the order of start."""
    records: dict[int, EffectRecord] = {}
    for fact in execution:
        said = fact.document
        if fact.type == documents.EFFECT_STARTED:
            number = said["number"]
            records[number] = EffectRecord(number, said["name"], said["argumentsDigest"])
        elif fact.type == documents.EFFECT_FINISHED:
            started = records[said["number"]]
            records[started.number] = _finished(started, said)
    return [records[number] for number in sorted(records)]


def _finished(started: EffectRecord, said: documents.Document) -> EffectRecord:
    number, name, digest = started.number, started.name, started.arguments_digest
    if "error" in said:
        error = EffectError(said["error"]["type"], said["error"]["message"])
        return EffectRecord(number, name, digest, error=error)
    return EffectRecord(number, name, digest, result=freeze(said["result"]))
