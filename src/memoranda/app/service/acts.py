"""Operations whose request is not the verb's own: objects of Python are made of what was sent."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from pydantic import ValidationError
from typing_extensions import Unpack

from memoranda.app.groups import ActOptions
from memoranda.app.memory import Memory
from memoranda.app.service.operation import arguments_of, request_of
from memoranda.journeys.govern.about import About, Memo
from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.govern.imports import ImportReport
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.intent.requests import ABSENT, Run, Submitted
from memoranda.journeys.maintain.schedule import JobRun
from memoranda.journeys.records.contents import UNCHANGED
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.kernel.wire import place_and_reason
from memoranda.ledger.policy import PeriodicJob, Policy, PolicyKind
from memoranda.recall.trace import MemoryTrace
from memoranda.records.filter import MemoryFilter, Page
from memoranda.records.model import (
    MemoryMaintenanceConfig,
    MemoryRecordInput,
    StoredMemoryRecord,
)
from memoranda.records.store import MemoryUpdate

AnyMemory = Memory[Any]

# ------------------------------------------------------------------------------- writing

_WRITES: Final = {
    verb.__name__: request_of(verb.__name__, verb)
    for verb in (Batch.remember, Batch.put, Batch.update, Batch.forget)
}


async def remember_many(
    memory: AnyMemory,
    memories: Sequence[Mapping[str, Any]],
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
    **about: Unpack[About],
) -> Sequence[Receipt]:
    """Remember all of these, or none; what is said beside them is said of each."""
    memos = []
    for number, given in enumerate(memories):
        members = arguments_of(_WRITES["remember"], given, f"$.memories[{number}]")
        if "reason" in members:
            raise InvalidRecord(f"$.memories[{number}].reason", "it is said of all at once")
        memos.append(Memo(members.pop("data"), members.pop("id", None), **members))
    return await memory.remember_many(
        memos, reason=reason, idempotency_key=idempotency_key, **about
    )


async def write_batch(
    memory: AnyMemory,
    writes: Sequence[Mapping[str, Any]],
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Sequence[Receipt | None]:
    """Many writes in one transaction: all of them land, or none does."""
    async with memory.batch(reason=reason, idempotency_key=idempotency_key) as batch:
        for number, given in enumerate(writes):
            where = f"$.writes[{number}]"
            verb = str(given.get("do"))
            if verb not in _WRITES:
                raise InvalidRecord(f"{where}.do", f"it is one of {', '.join(_WRITES)}")
            rest = {name: value for name, value in given.items() if name != "do"}
            members = arguments_of(_WRITES[verb], rest, where)
            getattr(batch, verb)(**members)
    return batch.receipts


async def import_objects(
    memory: AnyMemory,
    objects: str,
    *,
    log: str | None = None,
    lenient: bool = False,
    dry_run: bool = False,
) -> ImportReport:
    """Bring MemoryObjects in, as NDJSON; nothing at all if any line is refused."""
    return await memory.journal.import_objects(objects, log=log, lenient=lenient, dry_run=dry_run)


# ------------------------------------------------------------------------------- records


def _record(given: Mapping[str, Any]) -> MemoryRecordInput[Any]:
    return MemoryRecordInput.model_validate(given)


async def create_record(
    memory: AnyMemory,
    data: JsonValue,
    *,
    id: str | None = None,
    created_at: int | None = None,
    updated_at: int | None = None,
    tags: Sequence[str] | None = None,
    meta: Mapping[str, Any] | None = None,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> str:
    """Store a new record; its id."""
    record = _record(
        {
            "id": id,
            "data": data,
            "created_at": created_at,
            "updated_at": updated_at,
            "tags": tags,
            "meta": meta,
        }
    )
    return await memory.records.create(record, reason=reason, idempotency_key=idempotency_key)


async def create_records(
    memory: AnyMemory,
    records: Sequence[Mapping[str, Any]],
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> list[str]:
    """Store all of the records, or none; their ids in the same order."""
    return await memory.records.create_many(
        [_record(given) for given in records], reason=reason, idempotency_key=idempotency_key
    )


async def annotate_record(
    memory: AnyMemory,
    id: str,
    *,
    tags: Any = UNCHANGED,
    meta: Any = UNCHANGED,
    expected_version: int | None = None,
    reason: str | None = None,
) -> None:
    """Replace a record's tags, its meta, or both; what is not named stays; null removes it."""
    await memory.records.annotate(
        id, tags=tags, meta=meta, expected_version=expected_version, reason=reason
    )


async def update_records(
    memory: AnyMemory,
    updates: Sequence[Mapping[str, Any]],
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> None:
    """Make all of the updates in their order, or none."""
    made = []
    for number, given in enumerate(updates):
        match dict(given):
            case {"id": str(id), "patch": patch, **rest} if rest.keys() <= {"expectedVersion"}:
                made.append(MemoryUpdate(id, patch, rest.get("expectedVersion")))
            case _:
                why = "it has an id, a patch, and maybe an expectedVersion"
                raise InvalidRecord(f"$.updates[{number}]", why)
    await memory.records.update_many(made, reason=reason, idempotency_key=idempotency_key)


def _filter(given: Mapping[str, Any]) -> MemoryFilter:
    return MemoryFilter.model_validate(given)


async def forget_records(memory: AnyMemory, filter: Mapping[str, Any], *, reason: str) -> int:
    """Delete what the filter asks for, in one transaction; how many they were."""
    return await memory.records.forget_where(_filter(filter), reason=reason)


async def page_records(
    memory: AnyMemory, filter: Mapping[str, Any], *, cursor: str | None = None
) -> Page[StoredMemoryRecord[Any]]:
    """A page of the records that the filter asks for, and in `next` the cursor of what follows."""
    return await memory.records.page(_filter(filter), cursor=cursor)


async def record_ids(memory: AnyMemory, filter: Mapping[str, Any]) -> list[str]:
    """The ids of what the filter asks for, in its order."""
    return await memory.records.ids(_filter(filter))


async def count_records(memory: AnyMemory, filter: Mapping[str, Any]) -> int:
    """How many records the filter asks for."""
    return await memory.records.count(_filter(filter))


async def record_tags(memory: AnyMemory, prefix: str = "") -> dict[str, int]:
    """The tags that begin so, each with how many records have it."""
    return await memory.records.tags(prefix)


async def stream_records(
    memory: AnyMemory, filter: Mapping[str, Any]
) -> AsyncGenerator[StoredMemoryRecord[Any], None]:
    """All records that the filter asks for, as they are when the stream starts."""
    async with aclosing(memory.records.stream(_filter(filter))) as records:
        async for record in records:
            yield record


# -------------------------------------------------------------------------------- acting


def _rests_on(memory: Sequence[str] | None, options: ActOptions) -> list[str] | None:
    """What a proposal rests on; no door knows what was recalled for it, so whoever asks says so."""
    if memory is None and options.get("reasoning_id") is None:
        why = "name the traces that it rests on (an empty list for none), or a reasoningId"
        raise InvalidRecord("$.memory", why)
    return None if memory is None else list(memory)


async def act(
    memory_: AnyMemory,
    action: str,
    *,
    memory: Sequence[str] | None = None,
    input: JsonValue = ABSENT,
    reason: str | None = None,
    wait: float = 0.0,
    **options: Unpack[ActOptions],
) -> Run:
    """Propose an action, and run it once it is approved; it says what memory it rests on."""
    rests_on = _rests_on(memory, options)
    return await memory_.act(action, input, memory=rests_on, reason=reason, wait=wait, **options)


async def propose(
    memory_: AnyMemory,
    action: str,
    *,
    memory: Sequence[str] | None = None,
    input: JsonValue = ABSENT,
    reason: str | None = None,
    **options: Unpack[ActOptions],
) -> Submitted:
    """Propose an action on the head of a branch; it says what memory it rests on."""
    rests_on = _rests_on(memory, options)
    return await memory_.worlds.propose(action, input, memory=rests_on, reason=reason, **options)


async def read_trace(memory: AnyMemory, id: str) -> MemoryTrace:
    """The trace of a recall, with the proofs of what was selected."""
    parts = await memory._handle.ready()  # noqa: SLF001 - doors are a part of the app
    return (await parts.intents.selections.traced(id)).trace


# ----------------------------------------------------------------------------- governing


async def change_policy(
    memory: AnyMemory, policy: PolicyKind, version: int, rules: Mapping[str, Any], *, reason: str
) -> Receipt:
    """Put a policy's next version into force; there is no other way to change one."""
    return await memory.govern.change_policy(Policy(policy, version, rules), reason=reason)


async def record_audit(
    memory: AnyMemory, audit_ref: str, *, reason: str, accept: Sequence[int | str] = ()
) -> Receipt:
    """Verify the scope now, and record a re-audit that rests on that; it lifts breaks."""
    report = await memory.verify()
    return await memory.govern.record_audit(audit_ref, report=report, reason=reason, accept=accept)


async def configure_maintenance(
    memory: AnyMemory,
    enabled: bool,
    retention: Mapping[str, Any],
    *,
    reason: str,
    intervals: Mapping[PeriodicJob, int] | None = None,
) -> Receipt:
    """Say whether the scope is maintained, and what it keeps: the next version of its policy."""
    given = {"enabled": enabled, "retention": retention}
    try:
        config = MemoryMaintenanceConfig.model_validate(given)
    except ValidationError as refused:
        raise InvalidRecord(*place_and_reason(refused)) from None
    return await memory.maintain.configure(config, reason=reason, every=intervals)


async def run_jobs(
    memory: AnyMemory, jobs: Sequence[str] = (), *, dry_run: bool = False
) -> Rows[JobRun]:
    """Run jobs now, whether they are due or not; without names, all that can be run here."""
    return await memory.maintain.run(*jobs, dry_run=dry_run)


async def whoami(memory: AnyMemory) -> dict[str, str]:
    """Whom the key is of: the scope and the actor."""
    return {"scope": memory.scope, "actor": str(memory.actor)}
