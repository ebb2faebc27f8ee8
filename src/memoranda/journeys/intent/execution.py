"""One execution: recall for it, the host that runs it, and its effects in the journal."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from memoranda.identity import Frozen, freeze
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import FoundFact
from memoranda.journeys.intent.phases import unnoted
from memoranda.journeys.intent.proposals import Submission
from memoranda.journeys.records.foreign import GOES_THROUGH, TookTooLong, answer_of, within
from memoranda.kernel.ambient import check_reach, observed, out_of_reach
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import InvalidJson, MemoryOutOfReach
from memoranda.kernel.json import JsonValue
from memoranda.ledger.fact import Fact
from memoranda.ledger.unit import Draft, Expected
from memoranda.recall.provider import MemoryProvider, MemoryQuery
from memoranda.worlds.host import (
    EffectError,
    EffectFailed,
    EffectRecord,
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    RecordedSurroundings,
    Stopped,
    Surrounded,
    Surroundings,
    arguments_digest,
    text_of,
)
from memoranda.worlds.intent import Intent
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.snapshot import ErrorSource, ErrorValue, Snapshot

RECALL_LIMIT_S: Final = 5.0
LONGEST_WHY: Final = 500

RecallOutcome = Literal["answered", "none", "failed", "timed out", "not JSON", "erased"]

log = logging.getLogger("memoranda.intent")


class RecallResult(NamedTuple):
    """What a recall came to."""

    outcome: RecallOutcome
    context: Frozen
    why: str | None = None
    sources: Sequence[str] = ()
    """What was read meanwhile, through any handle."""
    size: int | None = None
    """How many entries the journal had when they had been read."""

    @property
    def is_failed(self) -> bool:
        """Whether a provider was asked, and its answer can't be used."""
        return self.outcome not in ("answered", "none")

    def to_wire(self) -> dict[str, JsonValue]:
        said: dict[str, JsonValue] = {"outcome": self.outcome, "digest": self.context.digest}
        if self.why is not None:
            said["why"] = self.why
        if self.size is not None:
            said["size"] = self.size
        return said


class _NotJson(Exception):
    """What the provider answered can't be frozen."""


NOTHING: Final = freeze(None)


async def recalled(provider: MemoryProvider[Any], query: MemoryQuery, limit: float) -> RecallResult:
    try:
        check_reach()  # whoever runs something from an action reaches no memory by that
    except MemoryOutOfReach as refused:
        return RecallResult("failed", NOTHING, described(refused))
    with observed() as seen, unnoted():
        try:
            answer = await within(limit, _frozen(provider, query), "recall")
        except _NotJson as refused:
            return RecallResult("not JSON", NOTHING, str(refused), seen.ids)
        except TookTooLong as late:
            log.warning("recall took too long; the run goes on without memory")
            return RecallResult("timed out", NOTHING, str(late), seen.ids)
        except GOES_THROUGH:
            raise
        except BaseException as error:
            log.warning("recall failed; the run goes on without memory", exc_info=error)
            return RecallResult("failed", NOTHING, described(error), seen.ids)
        return RecallResult("answered", answer, sources=seen.ids)


def described(error: BaseException) -> str:
    return f"{type(error).__name__}: {text_of(error)}"[:LONGEST_WHY]


async def _frozen(provider: MemoryProvider[Any], query: MemoryQuery) -> Frozen:
    answer = await answer_of(partial(provider.recall, query))
    try:
        # In the same step as the answer arrives: nobody can change it in between.
        return freeze(answer)
    except InvalidJson as refused:
        raise _NotJson(text_of(refused)[:LONGEST_WHY]) from None


# ------------------------------------------------------------------------ the host

# Executing: a host runs an intent from a snapshot, and whatever happens is a result.
#
# A host that raises, takes too long, or returns something that is no terminal snapshot of its
# schema has failed; the world that is sealed says so. The options hold no memory (MEM-CTX-2).


async def executed(
    host: Host,
    key: str,
    base: Snapshot,
    intent: Intent,
    options: HostExecutionOptions,
    surroundings: Surroundings,
    *,
    schema_hash: str,
) -> HostExecutionResult:
    """What the host came to; only our own gets the base itself, for it changes nothing in it."""
    bound = host.within(surroundings) if isinstance(host, Surrounded) else host
    own = base if isinstance(host, LocalHost) else base.model_copy(deep=True)
    limit = None if options.timeout_ms is None else options.timeout_ms / 1000
    run = bound.execute(key, own, intent, options)
    # A plain function can't be given up, and needs no task of its own for that.
    is_plain = limit is None and isinstance(host, LocalHost) and host.is_plain(intent.type)
    try:
        with out_of_reach("an action"):
            result = await (_here(run) if is_plain else within(limit, run, "the run"))
    except TookTooLong as late:
        return failed(base, intent, "execution.timed_out", str(late),
                      now=surroundings.now, schema_hash=schema_hash)  # fmt: skip
    except Exception as error:
        log.warning("the host raised; the run has failed", exc_info=error)
        return failed(base, intent, "host.raised", described(error),
                      now=surroundings.now, schema_hash=schema_hash)  # fmt: skip
    return _checked(result, base, intent, now=surroundings.now, schema_hash=schema_hash)


async def _here(run: Coroutine[Any, Any, HostExecutionResult]) -> HostExecutionResult:
    """What a run comes to in this task; one that cancels itself has failed, and nobody else."""
    try:
        return await run
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
    raise RuntimeError("the run was cancelled by itself")


def failed(
    base: Snapshot, intent: Intent, code: str, message: str, *, now: int, schema_hash: str
) -> HostExecutionResult:
    """A run that failed: the state that it started from, with the error."""
    error = ErrorValue(
        code=code,
        message=message,
        source=ErrorSource(action_id=intent.type, node_path=""),
        timestamp=now,
    )
    wire = base.to_wire()
    before = wire["system"]["errors"]
    wire["system"] = {
        "status": "error",
        "lastError": error.to_wire(),
        "errors": [*before, error.to_wire()],
        "pendingRequirements": [],
        "currentAction": None,
    }
    wire["meta"] = {
        "version": base.meta.version + 1,
        "timestamp": now,
        "randomSeed": intent.intent_id,
        "schemaHash": schema_hash,
    }
    terminal = Snapshot.from_wire(wire)
    return HostExecutionResult(outcome="failed", terminal_snapshot=terminal, error=error)


def _checked(
    result: HostExecutionResult, base: Snapshot, intent: Intent, *, now: int, schema_hash: str
) -> HostExecutionResult:
    if not isinstance(result, HostExecutionResult):
        why = f"it returned a {type(result).__name__}, not a HostExecutionResult"
        return failed(base, intent, "host.invalid_result", why, now=now, schema_hash=schema_hash)
    found = result.terminal_snapshot.meta.schema_hash
    if found != schema_hash:
        why = f"its snapshot is of the schema {found}, not of {schema_hash}"
        return failed(base, intent, "host.invalid_result", why, now=now, schema_hash=schema_hash)
    return result


def with_app_input(given: JsonValue, app: Mapping[str, JsonValue]) -> dict[str, Any]:
    """An input that carries what was frozen at ``$app`` (MEM-CTX-3), whatever a host left there."""
    return {**(given if isinstance(given, dict) else {}), "$app": dict(app)}


# ------------------------------------------------------------------------- effects

# What a live execution sees of the outside: its time, its seed, and effects that are journaled.
#
# An effect commits before it starts, with its name and its arguments' digest, and again with its
# result. The result that the action gets is the one that was written, by value: a replay gets the
# same. A run that is taken up again gets the results that were written before it died.


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
        approved_at: int | None = None,
        submission: Submission | None = None,
    ) -> None:
        """`begun` is written with the first effect, if it is not written yet: as it was made.

        `submission` is its proposal, if that is not written either: it is written before any
        effect, or else together with the seal.

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
        self._rests_on = [*rests_on]
        self.approved_at = approved_at
        """The entry of the approval, which waits for the seal; None while it is not written."""
        self.submission = submission
        self._recorded = RecordedSurroundings(now=now, random_seed=random_seed, effects=recorded)
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
        if self.has_begun:
            return [newest]
        if self.submission is not None:  # nobody else knows of it
            return [*self._rests_on, *self.submission.request.rests_on]
        return [newest, *self._rests_on]

    @property
    def sources(self) -> Sequence[str]:
        """The memory that must still be there when more is written."""
        if self.has_begun:
            return ()
        requested = () if self.submission is None else self.submission.request.sources
        return (*self._sources, *requested)

    @property
    def has_begun(self) -> bool:
        return self._begun is None

    @property
    def unasked(self) -> str | None:
        """The first effect that was recorded before, and that the run did not ask for."""
        return next((effect.name for effect in self._recorded.left), None)

    def unwritten(self) -> list[Draft]:
        """The proposal, and how the execution began, as far as they are not written."""
        proposed = [] if self.submission is None else self.submission.drafts()
        return proposed if self._begun is None else [*proposed, self._begun]

    async def submit(self) -> None:
        """Put the proposal on record by itself, if it is not yet."""
        if self.submission is None:
            return
        standing = await self.submission.written()
        proposal_id = standing.proposal.proposal_id
        self._rests_on.append(Expected(names.proposal(proposal_id), standing.newest))
        self.approved_at = None if standing.decision is None else standing.decision.seq
        self.submission = None

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
        try:
            await self.submit()
            committed = await self._chronicle.commit(
                [*self.unwritten(), *self._chronicle.drafts([fact])],
                actor=self._actor,
                at=self._clock.now_ms(),
                expects=self.expects,
                sources=self.sources,
            )
        except Exception as error:
            self.broken = self.broken or error
            self._is_closed = True
            raise
        self._begun, self._last = None, committed.places[-1].seq


def recorded_effects(execution: Iterable[FoundFact]) -> list[EffectRecord]:
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
