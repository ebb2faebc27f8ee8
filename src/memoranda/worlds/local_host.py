"""The host for actions that are plain Python functions."""

from inspect import isawaitable, iscoroutinefunction
from typing import Any, Final

from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidIntent, InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.action import ActionContext, ActionRun, Merge, Set, Unset, patched
from memoranda.worlds.delta import leaves_scope
from memoranda.worlds.domain import RESERVED, Action, Domain
from memoranda.worlds.host import (
    HostExecutionOptions,
    HostExecutionResult,
    Isolated,
    Stopped,
    Surroundings,
    derive_outcome,
    text_of,
)
from memoranda.worlds.proposal import Intent
from memoranda.worlds.readonly import taken
from memoranda.worlds.snapshot import (
    IDLE,
    ErrorSource,
    ErrorValue,
    Snapshot,
    SnapshotMeta,
    SystemState,
)

Data = dict[str, JsonValue]
_PATCHES: Final = (Set, Unset, Merge)


class _Failure(Exception):
    """A run that failed: a result, in the making."""

    def __init__(self, code: str, place: str, message: str, raised: str | None = None) -> None:
        super().__init__(code, place, message, raised)
        self.code, self.place, self.message, self.raised = code, place, message, raised


class LocalHost:
    """Runs a domain's actions. What an action does never raises: failures are results.

    Bound by `within` it is in the surroundings of one run. By itself it has no outside: the time
    is that of the base, the seed is the intent's id, and an effect ends the run.
    """

    def __init__(self, domain: Domain, surroundings: Surroundings | None = None) -> None:
        self.domain: Final = domain
        self._surroundings = surroundings

    def within(self, surroundings: Surroundings) -> "LocalHost":
        """The host for one run in these surroundings."""
        return LocalHost(self.domain, surroundings)

    def is_plain(self, action: str) -> bool:
        """Whether an action is there, and is a plain function, which waits for nothing."""
        try:
            return not iscoroutinefunction(self.domain.find_action(action).function)
        except InvalidIntent:
            return False

    async def execute(
        self,
        key: str,  # noqa: ARG002 - opaque to a host
        base_snapshot: Snapshot,
        intent: Intent,
        options: HostExecutionOptions,
    ) -> HostExecutionResult:
        """Run an action, and seal what it led to.

        1. the base is of this domain, and the intent is one that the domain takes
        2. the action runs, out of reach of memory; what its surroundings raise goes through
        3. what it returned becomes the new state, and fits the state's model
        4. what changed lies in the approved scope
        5. computed values are made anew
        6. a failure anywhere leaves data and computed as they were in the base
        """
        around = self._surroundings or Isolated(
            now=base_snapshot.meta.timestamp, random_seed=intent.intent_id
        )
        try:
            own, platform = _own(base_snapshot.data)
            data = await self._led_to(own, base_snapshot, intent, options, around)
            computed = self._computed(data)
        except _Failure as failure:
            return _failed(base_snapshot, intent, failure, around)  # 6.
        return _completed(base_snapshot, data | platform if platform else data, computed, around)

    async def _led_to(
        self,
        own: Data,
        base: Snapshot,
        intent: Intent,
        options: HostExecutionOptions,
        around: Surroundings,
    ) -> Data:
        # 1.
        if base.meta.schema_hash != self.domain.schema_hash:
            raise _Failure("schema.differs", "schema", "the base is of another domain or version")
        try:
            action = self.domain.find_action(intent.type)
        except InvalidIntent as refused:
            raise _Failure("action.unknown", "action", refused.why) from None
        try:
            given = self.domain.check_intent(intent.type, intent.input)
        except InvalidIntent as refused:
            raise _Failure("input.invalid", "input", refused.why) from None
        # 2.
        run = ActionRun(around, options.signal)
        context = ActionContext(run, state=own, given=given, frozen=base.input)
        returned = await _ran(action, context, run)
        # 3.
        try:
            data: Data = _state(own, returned)
            self.domain.check_state(data)
        except InvalidWorld as refused:
            raise _Failure("state.invalid", "state", f"{refused.why} ({refused.where})") from None
        except Exception as refused:  # noqa: BLE001 - a value of the action's own making
            raise _of(refused, "state.invalid", "state") from None
        # 4.
        scope = options.approved_scope
        if scope is not None and scope.allowed_paths is not None:
            path = leaves_scope(own, data, scope.allowed_paths)
            if path is not None:
                raise _Failure("scope.violated", "scope", f"{path} was not approved to change")
        return data

    def _computed(self, data: Data) -> Data:
        # 5.
        try:
            return self.domain.compute(data)
        except Exception as raised:  # noqa: BLE001 - a domain's own code
            raise _of(raised, "computed.raised", "computed") from None


# ------------------------------------------------------------------- sealing


def _completed(
    base: Snapshot, data: Data, computed: Data, around: Surroundings
) -> HostExecutionResult:
    system = IDLE.model_copy(update={"errors": base.system.errors}) if base.system.errors else IDLE
    meta = _next_meta(base, around.now, around.random_seed, base.meta.schema_hash)
    return _sealed(base, data, computed, system, meta)


def _failed(
    base: Snapshot, intent: Intent, failure: _Failure, around: Surroundings
) -> HostExecutionResult:
    error = ErrorValue(
        code=failure.code,
        message=failure.message,
        source=ErrorSource(action_id=intent.type, node_path=failure.place),
        timestamp=around.now,
        context=None if failure.raised is None else {"type": failure.raised},
    )
    return failed_run(base, error, around.random_seed, base.meta.schema_hash)


def failed_run(
    base: Snapshot, error: ErrorValue, random_seed: str, schema_hash: str
) -> HostExecutionResult:
    """A run that failed: the state that it started from, with the error."""
    system = SystemState(
        status="error",
        last_error=error,
        errors=(*base.system.errors, error),
        pending_requirements=(),
        current_action=None,
    )
    meta = _next_meta(base, error.timestamp, random_seed, schema_hash)
    return _sealed(base, base.data, base.computed, system, meta)


def _next_meta(base: Snapshot, now: int, random_seed: str, schema_hash: str) -> SnapshotMeta:
    return SnapshotMeta(
        version=base.meta.version + 1,
        timestamp=now,
        random_seed=random_seed,
        schema_hash=schema_hash,
    )


def _sealed(
    base: Snapshot, data: JsonValue, computed: Data, system: SystemState, meta: SnapshotMeta
) -> HostExecutionResult:
    """The next snapshot; its input is that of the base, with what was recalled (MEM-CTX-3)."""
    members: dict[str, Any] = {"data": data, "computed": computed, "system": system, "meta": meta}
    if "input" in base.model_fields_set:
        members["input"] = base.input
    # Not validated again, which would copy it: what is new in the data was checked and taken
    # by value above, and the rest is the base's own, so that a delta finds it by identity.
    terminal = Snapshot.model_construct(**members)
    return HostExecutionResult(
        outcome=derive_outcome(terminal), terminal_snapshot=terminal, error=system.last_error
    )


async def _ran(action: Action, context: ActionContext[Any], run: ActionRun) -> object:
    """What the action returned; what broke the run counts before all that the action did."""
    failure, returned = None, None
    try:
        with out_of_reach("an action"):
            returned = action.function(context)
            if isawaitable(returned):
                returned = await returned
    except Exception as raised:  # noqa: BLE001 - whatever an action raises is a result
        failure = _of(raised, "action.raised", "action")
    finally:
        run.end()
    match run.broken:
        case None:
            pass
        case Stopped(code=code, message=message):
            failure = _Failure(code, "effect", message)
        case broken:
            raise broken
    if failure is not None:
        raise failure
    return returned


def _of(raised: Exception, code: str, place: str) -> _Failure:
    return _Failure(code, place, text_of(raised), type(raised).__qualname__)


def _own(data: JsonValue) -> tuple[Data, Data]:
    if not isinstance(data, dict):
        raise _Failure("state.invalid", "state", "the base has a state that is no object")
    platform = {name: member for name, member in data.items() if name.startswith(RESERVED)}
    if not platform:
        return data, platform
    return {name: member for name, member in data.items() if name not in platform}, platform


def _state(own: Data, returned: object) -> JsonValue:
    """The new state that an action's answer means, or InvalidWorld."""
    if returned is None:
        return own
    if isinstance(returned, _PATCHES):
        return patched(own, [returned])
    if isinstance(returned, list | tuple):
        if not all(isinstance(value, _PATCHES) for value in returned):
            raise InvalidWorld("$.data", "an action returns a state, patches, or None")
        return patched(own, returned)
    return taken(returned)
