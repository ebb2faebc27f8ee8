"""`Memory` on a server. Its verbs are those of the table of operations, with their own signatures.

What the wire can't carry (code, such as a projection, and a phase around code) is refused with
CapabilityMissing.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import wraps
from typing import Any, Final, Self, TypeVar, cast

from typing_extensions import Unpack

from memoranda.app.groups import ActOptions, Govern, Inbox, TurnsOf, Worlds
from memoranda.app.journal import Journal
from memoranda.app.memory import Memory
from memoranda.app.remote.calls import RemoteHandle, arguments_in, wire_members
from memoranda.app.remote.reasoning import RemoteReasoning
from memoranda.app.remote.records import RemoteRecords
from memoranda.app.remote.values import not_over_the_wire
from memoranda.app.service.operations import NOT_OFFERED, OPERATIONS
from memoranda.app.service.vocabulary import MOST
from memoranda.app.upkeep import Maintain
from memoranda.identity import canonical_bytes
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.about import Memo
from memoranda.journeys.govern.imports import ImportReport
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.intent.requests import ABSENT, Run, Submitted, Used
from memoranda.journeys.maintain.schedule import JobRun
from memoranda.journeys.recall.reasoning import Phase, Reasoning
from memoranda.journeys.recall.recalled import Recalled
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.sessions import TurnSession
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import TimeOrderedIds
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.given import check_kind
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.policy import PeriodicJob, Policy
from memoranda.ledger.validate_events import Log
from memoranda.records.filter import Page
from memoranda.records.model import MemoryMaintenanceConfig
from memoranda.worlds.world import MAIN

T = TypeVar("T")
G = TypeVar("G", bound=type[Any])

_IN_PATH: Final[Mapping[str, dict[str, Any]]] = {
    "journal.export": {"kind": "journal"},
    "worlds.replay_branch": {"name": MAIN},
}
"""Defaults of what stands in a path, which has no place for nothing."""


def over_http(group: str) -> Any:
    """Fill a class with the verbs of a group that it does not have itself."""

    def filled(kind: G) -> G:
        prefix = f"{group}." if group else ""
        for name, operation in OPERATIONS.items():
            verb = name.removeprefix(prefix)
            if name.startswith(prefix) and "." not in verb and verb not in vars(kind):
                made = _streamed(name) if operation.stream else _called(name)
                setattr(kind, verb, made)
        for name in NOT_OFFERED:
            verb = name.removeprefix(prefix)
            if name.startswith(prefix) and "." not in verb and verb not in vars(kind):
                setattr(kind, verb, _refused(name))
        return kind

    return filled


def _called(name: str) -> Any:
    verb = OPERATIONS[name].verb

    @wraps(verb)
    async def called(self: Any, /, *given: Any, **named: Any) -> Any:
        handle = _remote(self)
        members = encoded_data(handle, arguments_in(verb, given, named))
        return await handle.call(name, wire_members(members))

    return called


def _streamed(name: str) -> Any:
    verb = OPERATIONS[name].verb

    @wraps(verb)
    async def streamed(self: Any, /, *given: Any, **named: Any) -> AsyncGenerator[Any, None]:
        members = wire_members(_IN_PATH.get(name, {}) | arguments_in(verb, given, named))
        async with aclosing(_remote(self).stream(name, members)) as found:
            async for one in found:
                yield one

    return streamed


def _refused(name: str) -> Any:
    async def refused(_self: Any, /, *_given: Any, **_named: Any) -> Any:
        raise not_over_the_wire(name)

    return refused


def resting(
    options: ActOptions, used: Used | None, recalled: list[str], **said: Any
) -> dict[str, Any]:
    """What is said of a proposal, with the ids of the traces that it rests on.

    Without a word those are what was recalled here; a reasoning phase that is named has its own.
    """
    asked = {**said, **options}
    if used is not None:
        several = [used] if isinstance(used, str) or not isinstance(used, Sequence) else used
        asked["memory"] = [one if isinstance(one, str) else one.trace_id for one in several]
    elif options.get("reasoning_id") is None:
        asked["memory"] = list(recalled)
    return asked


@over_http("inbox")
class RemoteInbox(Inbox):
    """The inbox, on a server."""


@over_http("worlds")
class RemoteWorlds(Worlds):
    """Worlds, on a server."""

    async def propose(  # type: ignore[override]
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: str | None = None,
        **options: Unpack[ActOptions],
    ) -> Submitted:
        """Propose an action on the head of a branch."""
        handle = _remote(self)
        said = resting(options, memory, handle.recalled, action=action, reason=reason)
        done: Submitted = await handle.call("worlds.propose", _asked(said, input))
        handle.recalled.clear()
        return done


@over_http("turns")
class RemoteTurns(TurnsOf):
    """Turns, on a server."""

    async def sessions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[TurnSession]:
        """The sessions of the scope, by name."""
        said = wire_members({"cursor": cursor} if cursor is not None else {})
        return await _paged(_remote(self), "turns.sessions", said, limit)


@over_http("govern")
class RemoteGovern(Govern[T]):
    """Governed acts, on a server."""

    async def change_policy(self, policy: Policy, *, reason: str) -> Receipt:
        """Put a policy's next version into force."""
        check_kind("policy", policy, Policy, "a Policy")
        said = {"policy": policy.kind, "version": policy.version, "rules": dict(policy.rules)}
        done: Receipt = await _remote(self).call(
            "govern.change_policy", wire_members({**said, "reason": reason})
        )
        return done

    async def record_audit(
        self, audit_ref: str, *, report: Audit, reason: str, accept: Any = ()
    ) -> Receipt:
        """Record a re-audit; the server verifies once more, and it rests on that."""
        check_kind("report", report, Audit, "what `verify` said")
        said = {"audit_ref": audit_ref, "reason": reason, "accept": list(accept)}
        done: Receipt = await _remote(self).call("govern.record_audit", wire_members(said))
        return done


@over_http("journal")
class RemoteJournal(Journal[T]):
    """The journal, on a server."""

    async def entries(self, start: int = 0, *, limit: int | None = None) -> Any:
        """The entries from a number on, at most so many; all of them without a limit."""
        found: list[Any] = []
        while limit is None or len(found) < limit:
            most = MOST if limit is None else min(MOST, limit - len(found))
            said = {"start": start + len(found), "limit": most}
            some = await _remote(self).call("journal.entries", wire_members(said))
            found += some
            if len(some) < most:
                break
        return Rows(found)

    async def import_objects(
        self, objects: Log, *, log: Log | None = None, lenient: bool = False, dry_run: bool = False
    ) -> ImportReport:
        """Bring MemoryObjects in, as NDJSON or documents."""
        said: dict[str, Any] = {"objects": _lines(objects), "lenient": lenient, "dry_run": dry_run}
        if log is not None:
            said["log"] = _lines(log)
        done: ImportReport = await _remote(self).call("journal.import_objects", wire_members(said))
        return done


@over_http("maintain")
class RemoteMaintain(Maintain):
    """Maintenance, on a server."""

    async def configure(
        self,
        config: MemoryMaintenanceConfig,
        *,
        reason: str,
        every: Mapping[PeriodicJob, int] | None = None,
    ) -> Receipt:
        """Say whether the scope is maintained, and what it keeps."""
        check_kind("config", config, MemoryMaintenanceConfig, "a MemoryMaintenanceConfig")
        said = {**config.model_dump(by_alias=True, exclude_none=True), "reason": reason}
        asked = said if every is None else {**said, "intervals": dict(every)}
        done: Receipt = await _remote(self).call("maintain.configure", asked)
        return done

    async def run(self, *jobs: str, dry_run: bool = False) -> Rows[JobRun]:
        """Run jobs now; without names, all that can be run there."""
        said = {"jobs": list(jobs), "dry_run": dry_run}
        done: Rows[JobRun] = await _remote(self).call("maintain.run", wire_members(said))
        return done


class RemoteBatch:
    """Collects writes; they are sent together when its block ends."""

    def __init__(self, handle: RemoteHandle[Any], said: Mapping[str, Any]) -> None:
        self._handle = handle
        self._said = said
        self._writes: list[dict[str, Any]] = []
        self._ids = TimeOrderedIds()
        self._receipts: Sequence[Receipt | None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if kind is None:
            said = {**self._said, "writes": self._writes}
            self._receipts = await self._handle.call("batch", said) if self._writes else []

    @property
    def receipts(self) -> Sequence[Receipt | None]:
        """One for each write, in order; None for a forget that found nothing."""
        if self._receipts is None:
            raise InvalidRecord("$", "nothing of the batch was written; see how its block ended")
        return self._receipts

    def remember(self, data: Any, *, id: str | None = None, **said: Any) -> str:
        """Remember something new; its id."""
        made = id or self._ids.new_id()
        self._add("remember", {"data": data, "id": made, **said})
        return made

    def put(self, id: str, data: Any, **said: Any) -> None:
        """Create something under an id, or replace it whole."""
        self._add("put", {"id": id, "data": data, **said})

    def update(self, id: str, patch: Any, **said: Any) -> None:
        """Make the next version."""
        self._add("update", {"id": id, "patch": patch, **said})

    def forget(self, id: str, **said: Any) -> None:
        """Say that it is not to be used any more."""
        self._add("forget", {"id": id, **said})

    def _add(self, verb: str, members: Mapping[str, Any]) -> None:
        encoded = encoded_data(self._handle, members)
        self._writes.append({"do": verb, **wire_members(_without_none(encoded))})


def encoded_data(handle: RemoteHandle[Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """Members whose data, or patch, is JSON or bytes, whatever the model of the handle."""
    found = dict(members)
    if "data" in found and not isinstance(found["data"], bytes):
        found["data"] = handle.codec.encode(found["data"])
    if "patch" in found:
        found["patch"] = handle.codec.encode_patch(found["patch"])
    return found


@over_http("")
class RemoteMemory(Memory[T]):
    """A handle on one scope of a server."""

    def __init__(self, scope: str, actor: ActorRef, handle: RemoteHandle[T]) -> None:
        super().__init__(scope, actor, cast("Any", handle))
        self.inbox = RemoteInbox(self._handle)
        self.worlds = RemoteWorlds(self._handle)
        self.turns = RemoteTurns(self._handle)
        self.govern = RemoteGovern(self._handle)
        self.journal = RemoteJournal(self._handle)
        self.maintain = RemoteMaintain(self._handle)
        self._records = RemoteRecords(handle)

    @property
    def records(self) -> Records[T]:
        """The store of plain records."""
        return cast("Records[T]", self._records)

    async def remember_many(
        self, data: Sequence[Any], *, reason: str | None = None, **said: Any
    ) -> Sequence[Receipt]:
        """Remember all of these, or none."""
        handle = _remote(self)
        memories = []
        for one in data:
            memo = one if isinstance(one, Memo) else Memo(one)
            about = {"data": memo.data, **memo.about} | ({} if memo.id is None else {"id": memo.id})
            memories.append(wire_members(encoded_data(handle, about)))
        asked = wire_members(_without_none({"reason": reason, **said}))
        done: Sequence[Receipt] = await handle.call(
            "remember_many", {**asked, "memories": memories}
        )
        return done

    async def recall(self, query: str, **asked: Any) -> Recalled[T]:
        """Select memory for a question; the selection is on record before it is handed out."""
        handle = _remote(self)
        members = wire_members(arguments_in(Memory.recall, (query,), asked))
        found: Recalled[T] = await handle.call("recall", members)
        if asked.get("reasoning_id") is None:
            handle.recalled.append(found.trace_id)
        return found

    async def list(self, **asked: Any) -> Page[Any]:
        """What is current and fits the filters, newest first; without a limit, all of it."""
        members = wire_members(arguments_in(Memory.list, (), asked))
        return await _paged(_remote(self), "list", members, members.pop("limit", None))

    def batch(  # type: ignore[override]
        self, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> RemoteBatch:
        """Many writes in one transaction."""
        said = {"reason": reason, "idempotency_key": idempotency_key}
        return RemoteBatch(_remote(self), wire_members(_without_none(said)))

    async def act(  # type: ignore[override]
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: str | None = None,
        wait: float = 0.0,
        **options: Unpack[ActOptions],
    ) -> Run:
        """Propose an action, and run it once it is approved."""
        handle = _remote(self)
        said = resting(options, memory, handle.recalled, action=action, reason=reason, wait=wait)
        done: Run = await handle.call("act", _asked(said, input))
        handle.recalled.clear()
        return done

    @asynccontextmanager
    async def reasoning(self, *, branch: str = MAIN) -> AsyncIterator[Reasoning[T]]:
        """A phase in which memory is selected; its proposal closes it and carries all its traces.

        What is read in it is noted in this process; its recalls are on record under its name.
        """
        phase: Phase[T] = Phase(f"reasoning-{TimeOrderedIds().new_id()}")
        with phase.observing():
            yield RemoteReasoning(phase, branch, self)


def _remote(verbs: Any) -> RemoteHandle[Any]:
    return cast("RemoteHandle[Any]", verbs._handle)  # noqa: SLF001 - of the same family


async def _paged(
    handle: RemoteHandle[Any], name: str, members: dict[str, Any], limit: int | None
) -> Page[Any]:
    """As many as are asked for, or all of them, page by page."""
    found: list[Any] = []
    while True:
        most = MOST if limit is None else min(MOST, limit - len(found))
        page: Page[Any] = await handle.call(name, {**members, "limit": most})
        found += page
        if page.next is None or (limit is not None and len(found) >= limit):
            return Page(found, page.next)
        members["cursor"] = page.next


def _asked(said: Mapping[str, Any], input: JsonValue) -> dict[str, Any]:
    """A request for an action; an input of null is one, and no input is none."""
    return wire_members({**_without_none(said), "input": input})


def _without_none(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _lines(given: Any) -> str:
    """A log as NDJSON."""
    if isinstance(given, str):
        return given
    if isinstance(given, bytes):
        return given.decode()
    return "\n".join(
        one if isinstance(one, str) else canonical_bytes(one).decode() for one in given
    )
