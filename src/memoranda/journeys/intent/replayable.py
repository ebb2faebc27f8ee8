"""A host as replays see it: what was recorded under an older schema of its domain is taken too."""

from memoranda.journeys.intent.runtime import Runtime
from memoranda.kernel.errors import CapabilityMissing
from memoranda.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Surrounded,
    Surroundings,
)
from memoranda.worlds.intent import Intent
from memoranda.worlds.snapshot import Snapshot


def replayable(runtime: Runtime) -> Surrounded:
    """The host to replay with; CapabilityMissing for one that can't be put into surroundings."""
    if not isinstance(runtime.host, Surrounded):
        raise CapabilityMissing("replay, because its host can't be put into surroundings")
    return _UnderAnySchema(runtime.host, runtime.schema_hash)


class _UnderAnySchema:
    """A host that takes what was recorded under an older schema of its domain.

    A schema changes with every action that is added. What counts is what a run led to: an input or
    a state that today's models refuse is a difference still.
    """

    def __init__(self, host: Surrounded, schema_hash: str) -> None:
        self._host = host
        self._schema_hash = schema_hash

    def within(self, surroundings: Surroundings) -> Host:
        """The host for one run."""
        return _Bound(self._host.within(surroundings), self._schema_hash)


class _Bound:
    def __init__(self, host: Host, schema_hash: str) -> None:
        self._host = host
        self._schema_hash = schema_hash

    async def execute(
        self, key: str, base_snapshot: Snapshot, intent: Intent, options: HostExecutionOptions
    ) -> HostExecutionResult:
        recorded = base_snapshot.meta.schema_hash
        base = _under(self._schema_hash, base_snapshot)
        result = await self._host.execute(key, base, intent, options)
        terminal = result.terminal_snapshot
        if terminal.meta.schema_hash == self._schema_hash:
            terminal = _under(recorded, terminal)
        return result.model_copy(update={"terminal_snapshot": terminal})


def _under(schema_hash: str, snapshot: Snapshot) -> Snapshot:
    meta = snapshot.meta.model_copy(update={"schema_hash": schema_hash})
    return snapshot.model_copy(update={"meta": meta})
