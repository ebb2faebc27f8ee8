"""What a run asks of others: a provider for memory, within its time limit, and its host."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from memoranda.identity import Frozen, freeze
from memoranda.journeys.intent.phases import observed_aside
from memoranda.journeys.records.foreign import GOES_THROUGH, TookTooLong, answer_of, within
from memoranda.kernel.ambient import check_reach, out_of_reach
from memoranda.kernel.errors import InvalidJson, MemoryOutOfReach
from memoranda.kernel.json import JsonValue
from memoranda.recall.provider import MemoryExperience, MemoryProvider, MemoryQuery
from memoranda.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Surrounded,
    Surroundings,
    text_of,
)
from memoranda.worlds.local_host import LocalHost, failed_run
from memoranda.worlds.proposal import Intent
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
    with observed_aside() as seen:
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


async def remembered(
    provider: MemoryProvider[Any], experience: MemoryExperience, limit: float
) -> None:
    """Tell a provider what a run led to (MEM-INT-5); a failure is logged, no more."""
    try:
        await within(limit, answer_of(partial(provider.remember, experience)), "remember")
    except GOES_THROUGH:
        raise
    except BaseException as error:
        log.warning("what a run led to was not remembered", exc_info=error)


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
    bound, own = host, base
    if isinstance(host, LocalHost):
        bound = host.within(surroundings)
    else:
        own = base.model_copy(deep=True)
        if isinstance(host, Surrounded):
            bound = host.within(surroundings)
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
    return failed_run(base, error, intent.intent_id, schema_hash)


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
