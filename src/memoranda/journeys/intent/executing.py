"""Executing: a host runs an intent from a snapshot, and whatever happens is a result.

A host that raises, takes too long, or returns something that is no terminal snapshot of its
schema has failed; the world that is sealed says so. The options hold no memory (MEM-CTX-2).
"""

import logging
from collections.abc import Mapping
from typing import Any

from memoranda.journeys.intent.recalling import described
from memoranda.journeys.records.foreign import TookTooLong, within
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import out_of_reach
from memoranda.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Surrounded,
    Surroundings,
)
from memoranda.worlds.intent import Intent
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.snapshot import ErrorSource, ErrorValue, Snapshot

log = logging.getLogger("memoranda.intent")


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
    try:
        with out_of_reach("an action"):
            result = await within(limit, bound.execute(key, own, intent, options), "the run")
    except TookTooLong as late:
        return failed(base, intent, "execution.timed_out", str(late),
                      now=surroundings.now, schema_hash=schema_hash)  # fmt: skip
    except Exception as error:
        log.warning("the host raised; the run has failed", exc_info=error)
        return failed(base, intent, "host.raised", described(error),
                      now=surroundings.now, schema_hash=schema_hash)  # fmt: skip
    return _checked(result, base, intent, now=surroundings.now, schema_hash=schema_hash)


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
