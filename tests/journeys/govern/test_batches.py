"""A batch: any writes, one transaction, each on what those before it left."""

from collections.abc import Sequence
from random import Random  # noqa: TID251 - of a test, from its seed
from typing import Any

import pytest

from memoranda import Memory, MemoryHooks
from memoranda.journeys.govern.objects import Receipt
from memoranda.kernel.errors import (
    ApprovalPending,
    IdempotencyConflict,
    InvalidObject,
    InvalidPatch,
    InvalidRecord,
    JudgementRefused,
    PolicyRefused,
    ReasonMissing,
    RecordError,
    RecordExists,
    RecordNotFound,
    StoreClosed,
    VersionConflict,
)
from memoranda.ledger.policy import DEFAULTS, Policy
from memoranda.records.model import MemoryOperation
from memoranda.worlds.policies import HumanInTheLoop
from tests.fixtures import Opens
from tests.handles import inside


async def test_any_writes_land_together_with_a_receipt_for_each(memory: Memory[Any]) -> None:
    await memory.remember({"n": 1}, id="old")
    await memory.remember("x", id="gone")

    async with memory.batch(reason="the visit") as batch:
        made = batch.remember("new", tags=["t"])
        batch.put("put", {"a": 1}, subject="kim")
        batch.update("old", {"m": 2}, reason="its own")
        batch.forget("gone")
        batch.forget("nowhere")
        batch.update(made, "newer", tags=["u"])

    ids = [None if one is None else (one.id, one.version) for one in batch.receipts]
    assert ids == [(made, 1), ("put", 1), ("old", 2), ("gone", 2), None, (made, 2)]
    created = [one is not None and one.created for one in batch.receipts]
    assert created == [True, True, False, False, False, False]
    found = {one.id: (one.data, one.tags) for one in await memory.list()}
    assert found == {
        made: ("newer", ("u",)), "put": ({"a": 1}, ()), "old": ({"n": 1, "m": 2}, ())
    }  # fmt: skip
    assert [event.reason for event in await memory.history("old")] == [None, "its own"]
    assert [event.reason for event in await memory.history("gone")] == [None, "the visit"]
    assert (await memory.verify()).is_sound


async def test_each_write_sees_what_the_ones_before_it_left(memory: Memory[Any]) -> None:
    async with memory.batch(reason="r") as batch:
        batch.put("a", {"n": 1})
        batch.update("a", {"m": 2}, expected_version=1)
        batch.forget("a", expected_version=2)
        batch.forget("a")
        batch.remember("again", id="a")
        batch.put("a", "once more", expected_version=4)

    numbers = [None if one is None else one.version for one in batch.receipts]
    assert numbers == [1, 2, 3, None, 4, 5]
    assert (await memory.verify()).is_sound
    found = await memory.get("a")
    assert found is not None
    assert found.data == "once more"


@pytest.mark.parametrize(
    ("fill", "error"),
    [
        (lambda batch: batch.update("nowhere", "x"), RecordNotFound),
        (lambda batch: batch.remember("x", id="there"), RecordExists),
        (lambda batch: batch.put("there", "x", expected_version=7), VersionConflict),
        (lambda batch: batch.forget("there", reason="r", expected_version=7), VersionConflict),
        (lambda batch: batch.forget("there"), ReasonMissing),
        (lambda batch: batch.remember(""), InvalidRecord),
        (lambda batch: batch.put("new", "x", colour="red"), InvalidRecord),
        (lambda batch: batch.update("there", "y", subject=""), InvalidObject),
        (lambda batch: batch.remember("x", source="s", verdict="Factual"), JudgementRefused),
        (lambda _: 1 / 0, ZeroDivisionError),
    ],
)
async def test_a_batch_that_fails_changes_nothing(
    memory: Memory[Any], fill: Any, error: type[Exception]
) -> None:
    await memory.remember("x", id="there")
    size = (await inside(memory).ledger.head()).size

    batch = memory.batch()

    async def run() -> None:
        async with batch:
            batch.put("first", "x")
            fill(batch)

    with pytest.raises(error):
        await run()

    assert (await inside(memory).ledger.head()).size == size
    with pytest.raises(InvalidRecord):
        _ = batch.receipts


async def test_an_empty_batch_writes_nothing(memory: Memory[Any]) -> None:
    async with memory.batch() as batch:
        pass

    assert batch.receipts == []
    assert (await inside(memory).ledger.head()).size == 0


async def test_a_batch_is_used_once_and_inside_of_its_block(memory: Memory[Any]) -> None:
    batch = memory.batch()
    with pytest.raises(InvalidRecord):
        batch.remember("too early")
    async with batch:
        batch.remember("x")
    with pytest.raises(InvalidRecord):
        batch.remember("too late")
    with pytest.raises(InvalidRecord):
        async with batch:
            pass

    assert len(await memory.list()) == 1


async def test_a_batch_of_a_closed_handle_is_refused(opens: Opens) -> None:
    async with opens() as memory:
        batch = memory.batch()

    with pytest.raises(StoreClosed):
        async with batch:
            batch.put("a", "x")


async def test_a_retry_of_a_batch_is_told_the_first_receipts(memory: Memory[Any]) -> None:
    async def run(n: int = 1) -> list[Any]:
        async with memory.batch(reason="r", idempotency_key="k") as batch:
            batch.forget("a")
            batch.remember("minted")
            batch.put("a", {"n": n})
            batch.forget("a")
            batch.forget("nowhere")
            batch.put("a", "again")
        return list(batch.receipts)

    first = await run()
    size = (await inside(memory).ledger.head()).size

    assert [one is None for one in first] == [True, False, False, False, True, False]
    assert await run() == first
    assert (await inside(memory).ledger.head()).size == size
    with pytest.raises(IdempotencyConflict):
        await run(2)
    assert (await memory.verify()).is_sound


async def test_a_retry_of_forgetting_many_is_told_what_was_there(memory: Memory[Any]) -> None:
    await memory.remember("x", id="b")
    told = []
    for _ in range(2):
        async with memory.batch(reason="r", idempotency_key="k") as batch:
            batch.forget("a")
            batch.forget("b")
        told.append(list(batch.receipts))

    assert told[0] == told[1]
    assert [one and one.id for one in told[0]] == [None, "b"]
    await memory.remember("x", id="d")
    await memory.records.delete_many(["c", "d"], idempotency_key="m")
    assert (await memory.verify()).is_sound


@pytest.mark.rule("MEM-HOOK-1")
async def test_hooks_hear_of_each_write(opens: Opens) -> None:
    heard: list[object] = []
    hooks = MemoryHooks[Any](
        on_created=lambda record: heard.append(("created", record.data)),
        on_updated=lambda _, before, after: heard.append((before, after)),
        on_deleted=lambda _, record: heard.append(("deleted", record.data)),
    )
    async with opens(hooks=hooks) as memory, memory.batch(reason="r") as batch:
        batch.put("a", 1)
        batch.update("a", 2)
        batch.forget("a")
        batch.forget("a")

    assert heard == [("created", 1), (1, 2), ("deleted", 2)]


class _Asked:
    """Wants deletions approved, and notes what it is asked about."""

    def __init__(self, *needing: str) -> None:
        self.needing = needing
        self.asked: list[tuple[str, object, object]] = []

    def requires_authority(self, operation: MemoryOperation) -> bool:
        before, after = operation.before, operation.after
        old, new = (None if one is None else one.data for one in (before, after))
        self.asked.append((operation.type, old, new))
        return operation.type in self.needing


@pytest.mark.rule("D-MEM-5")
async def test_a_memory_policy_is_asked_about_each_write(opens: Opens) -> None:
    policy = _Asked()
    async with opens(memory_policy=policy) as memory:
        await memory.put("a", 0)
        policy.asked.clear()
        async with memory.batch(reason="r") as batch:
            batch.put("a", 1)
            batch.forget("a")
            batch.put("a", 2)
            batch.remember("new")

        assert policy.asked == [
            ("update", 0, 1), ("delete", 1, None), ("create", None, 2), ("create", None, "new")
        ]  # fmt: skip
        assert [one is not None and one.created for one in batch.receipts] == [
            False, False, True, True
        ]  # fmt: skip


@pytest.mark.rule("MEM-AUTH-2")
async def test_what_is_approved_at_once_is_told_as_it_was_done(opens: Opens) -> None:
    async with opens(memory_policy=_Asked("create", "update", "delete")) as memory:
        async with memory.batch(reason="r", idempotency_key="k") as batch:
            batch.put("a", 0)
            batch.forget("a")
            batch.put("a", 1)
            batch.put("a", 2)

        assert [one is not None and one.created for one in batch.receipts] == [
            True, False, True, False
        ]  # fmt: skip
        assert (await memory.verify()).is_sound


@pytest.mark.rule("MEM-AUTH-2")
async def test_a_batch_of_which_one_write_needs_approval_waits_as_a_whole(opens: Opens) -> None:
    async with opens(
        memory_policy=_Asked("delete"), actor="agent:a", authority=HumanInTheLoop(["human:kim"])
    ) as memory:
        await memory.put("a", 0)

        async def run() -> Any:
            async with memory.batch(reason="r", idempotency_key="k") as batch:
                batch.put("b", 1)
                batch.forget("a")
                batch.put("a", 2)
            return batch.receipts

        with pytest.raises(ApprovalPending) as waiting:
            await run()
        assert await memory.get("b") is None
        async with opens(actor="human:kim", authority=HumanInTheLoop(["human:kim"])) as judge:
            await judge.inbox.approve(waiting.value.proposal, reason="fine")

        receipts = await run()
        assert [(one.id, one.version, one.created) for one in receipts] == [
            ("b", 1, True), ("a", 2, False), ("a", 3, True)
        ]  # fmt: skip
        found = await memory.get("a")
        assert found is not None
        assert found.data == 2


@pytest.mark.rule("GOV-FORGET")
async def test_the_policies_of_a_scope_hold_in_a_batch(opens: Opens) -> None:
    async with opens(actor="human:kim") as memory:
        rules = {**DEFAULTS["forgetting"].rules, "by": ["human"]}
        await memory.govern.change_policy(Policy("forgetting", 2, rules), reason="agents don't")
    async with opens(actor="agent:a") as memory:
        with pytest.raises(PolicyRefused):
            await _run(memory, [("put", "a", 1, {}), ("forget", "a", None, {})])
        assert await memory.get("a") is None


# ------------------------------------------------------------------------------ random


Operation = tuple[str, str, Any, dict[str, Any]]
"""A verb, an id, data, and what is said of it."""


def _operations(random: Random, count: int) -> list[Operation]:
    """Writes that mostly fit what is there, on few ids."""
    found = []
    for n in range(count):
        verb = random.choice(["remember", "put", "put", "update", "update", "forget"])
        id = random.choice("abcd")
        data = random.choice([{"n": n}, {"m": {"k": n}}, f"text {n}", b"bytes %d" % n])
        about: dict[str, Any] = {}
        if isinstance(data, bytes):
            about["media_type"] = "application/x-test"
        about |= random.choice([{}, {"tags": [f"t{n % 3}"]}, {"subject": "kim"}, {"meta": None}])
        about |= random.choice([{}, {"thread": "t"}, {"indexed": False}, {"source": f"s/{n}"}])
        found.append((verb, id, data, about))
    return found


def _asked(verb: str, id: str, data: Any, about: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    match verb:
        case "remember":
            return (data,), {"id": id, **about}
        case "forget":
            return (id,), {"reason": "r"}
        case _:
            return (id, data), about


async def _run(memory: Memory[Any], operations: list[Operation]) -> Sequence[Receipt | None]:
    async with memory.batch() as batch:
        for operation in operations:
            given, about = _asked(*operation)
            getattr(batch, operation[0])(*given, **about)
    return batch.receipts


async def _state(memory: Memory[Any]) -> list[Any]:
    """All that is there, whatever its status, but for what is drawn at random or hashed."""
    drawn = {"nonce", "integrity_hash", "supersedes", "applicability_scope"}
    found = []
    for id in "abcd":
        try:
            history = await memory.history(id)
        except RecordNotFound:
            continue
        for event in history:
            document = await memory.journal.object(id, version=event.version)
            kept = {name: one for name, one in document.items() if name not in drawn}
            found.append((event.kind, kept))
    listed = [(one.id, one.data, one.tags, one.subject) for one in await memory.list()]
    return [found, listed]


@pytest.mark.parametrize("seed", range(6))
async def test_a_batch_comes_to_the_same_as_its_writes_one_by_one(
    opens: Opens, scope: str, seed: int
) -> None:
    """Those that are refused one by one are left out of the batch, and make it fail."""
    random = Random(seed)
    async with opens(scope=f"{scope}-one") as alone, opens(scope=f"{scope}-all") as memory:
        for _ in range(4):
            operations = _operations(random, 12)
            fitting, receipts, refused = [], [], []
            for operation in operations:
                given, about = _asked(*operation)
                try:
                    receipts.append(await getattr(alone, operation[0])(*given, **about))
                    fitting.append(operation)
                except (RecordError, InvalidRecord, InvalidObject, InvalidPatch) as error:
                    refused.append((len(fitting), operation, type(error)))

            size = (await inside(memory).ledger.head()).size
            for place, operation, error_type in refused:
                with pytest.raises(error_type):
                    await _run(memory, [*fitting[:place], operation])
            assert (await inside(memory).ledger.head()).size == size

            done = await _run(memory, fitting)
            told = [one and (one.id, one.version, one.created) for one in done]
            assert told == [one and (one.id, one.version, one.created) for one in receipts]
            assert await _state(memory) == await _state(alone)
        assert (await memory.verify()).is_sound
