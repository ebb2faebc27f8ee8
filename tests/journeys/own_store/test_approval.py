"""Changes of a store of the user's own that need approval: proposed, decided, carried out."""

import asyncio
from typing import Any

import pytest

import memoranda
from memoranda import Memory, MemoryFilter, MemoryHooks, MemoryRecordInput, MemoryUpdate
from memoranda.errors import (
    DecisionRefused,
    OwnStoreFailed,
    OwnStoreMissing,
    RecordExists,
    RecordNotFound,
    VersionConflict,
)
from memoranda.policies import AutoApprove, PolicyRules
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.reading import counts
from tests.journeys.intent.simulators import Died, DyingLedger
from tests.journeys.own_store.asking import ASKS, HUMAN, Needs, pending
from tests.journeys.own_store.shelf import ShelfStore

CHANGES = ("create", "update", "delete")


def record(data: Any, **about: Any) -> MemoryRecordInput[Any]:
    return MemoryRecordInput(data=data, **about)


async def data_of(store: ShelfStore, id: str) -> Any:
    found = await store.get(id)
    return None if found is None else found.data


# ------------------------------------------------------------------------------ asking


@pytest.mark.rule("MEM-AUTH-4")
async def test_a_change_that_needs_no_approval_leaves_nothing_in_the_journal(
    opens: Opens, shelf: ShelfStore
) -> None:
    policy = Needs([])
    async with opens(store=shelf, memory_policy=policy, authority=ASKS) as memory:
        await memory.records.create(record({"n": 1}, id="a", tags=["x"]))
        await memory.records.update("a", {"n": 2})
        await memory.records.annotate("a", tags=None)
        await memory.records.delete("a")
        await memory.records.delete("a")
        await memory.records.create_many([record(1), record(2)])
        await memory.records.clear()

        assert await counts(memory) == {}
        assert await memory.worlds.branches() == []
    asked = [operation.type for operation in policy.asked]
    assert asked == ["create", "update", "update", "delete", "create", "create", "delete", "delete"]


@pytest.mark.rule("D-MEM-5", "MEM-AUTH-1", "MEM-AUTH-3")
async def test_a_policy_sees_the_record_before_and_after_and_can_change_neither(
    opens: Opens, shelf: ShelfStore
) -> None:
    class Meddling(Needs):
        def requires_authority(self, operation: Any, /) -> bool:
            super().requires_authority(operation.model_copy(deep=True))
            if operation.record.data["n"] < 9:
                operation.record.data["n"] = 99
            return False

    await shelf.create(record({"n": 1, "m": 1}, id="a"))
    policy = Meddling([])
    async with opens(store=shelf, memory_policy=policy) as memory:
        await memory.records.update("a", {"n": 2})

    (asked,) = policy.asked
    assert asked.before is not None
    assert asked.after is not None
    assert (asked.before.data, asked.after.data) == ({"n": 1, "m": 1}, {"n": 2, "m": 1})
    assert (asked.actor_id, asked.record) == ("worker", asked.after)
    assert await data_of(shelf, "a") == {"n": 2, "m": 1}


@pytest.mark.rule("MEM-AUTH-2", "D-MEM-5")
async def test_a_change_waits_in_the_inbox_and_is_carried_out_once_it_is_approved(
    opens: Opens, shelf: ShelfStore
) -> None:
    heard: list[Any] = []
    hooks: MemoryHooks[Any] = MemoryHooks(on_created=lambda one: heard.append(one.data))
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(memory.records.create(record({"city": "서울"}, tags=["x"])))

        assert await shelf.query(MemoryFilter()) == []
        async with opens(store=shelf, actor=HUMAN, hooks=hooks) as human:
            (waiting,) = await human.inbox.list()
            assert waiting.risk == "low"
            assert waiting.proposal.intent.body.type == "system.store.create"
            (change,) = waiting.proposal.intent.body.input["changes"]
            assert change["after"]["data"] == {"city": "서울"}
            await human.inbox.approve(proposal, reason="it is so")
        (created,) = await shelf.query(MemoryFilter())
        assert (created.id, created.data, created.tags) == (change["id"], {"city": "서울"}, ("x",))
        assert (await memory.worlds.standing(proposal)).is_completed
        assert await memory.worlds.resume() == []
        assert (await memory.verify()).report.is_sound
    assert heard == [{"city": "서울"}]


@pytest.mark.rule("MEM-AUTH-2")
@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda r: r.update("a", {"n": 2}), {"a": {"n": 2}, "b": 1}),
        (lambda r: r.annotate("a", tags=["new"], meta=None), {"a": {"n": 1}, "b": 1}),
        (lambda r: r.delete("a"), {"b": 1}),
        (lambda r: r.delete_many(["b", "a", "c"]), {}),
        (lambda r: r.clear(), {}),
        (
            lambda r: r.create_many([record(2, id="c"), record(3, id="d")]),
            {"a": {"n": 1}, "b": 1, "c": 2, "d": 3},
        ),
    ],
    ids=["update", "annotate", "delete", "delete_many", "clear", "create_many"],
)
async def test_each_change_is_made_when_it_is_approved_and_not_before(
    opens: Opens, shelf: ShelfStore, change: Any, after: dict[str, Any]
) -> None:
    await shelf.create_many([record({"n": 1}, id="a", meta={"m": 1}), record(1, id="b")])
    before = await shelf.query(MemoryFilter())
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(change(memory.records))
        assert await shelf.query(MemoryFilter()) == before
        async with opens(store=shelf, actor=HUMAN) as human:
            await human.inbox.approve(proposal, reason="fine")

        assert (await memory.worlds.standing(proposal)).is_completed
    found = await shelf.query(MemoryFilter())
    assert {one.id: one.data for one in found} == after


@pytest.mark.rule("MEM-AUTH-2")
async def test_what_is_rejected_changes_nothing(opens: Opens, shelf: ShelfStore) -> None:
    await shelf.create(record(1, id="a"))
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(memory.records.delete("a"))
        async with opens(store=shelf, actor=HUMAN) as human:
            await human.inbox.reject(proposal, reason="keep it")

        assert (await memory.worlds.standing(proposal)).status == "rejected"
    assert await data_of(shelf, "a") == 1


async def test_rules_that_reject_are_told_to_the_caller(opens: Opens, shelf: ShelfStore) -> None:
    authority = PolicyRules(default="reject")
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=authority) as memory:
        with pytest.raises(DecisionRefused):
            await memory.records.create(record(1))

    assert await shelf.query(MemoryFilter()) == []


@pytest.mark.rule("MEM-AUTH-2")
async def test_what_is_approved_at_once_is_done_at_once(opens: Opens, shelf: ShelfStore) -> None:
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=AutoApprove()) as memory:
        id = await memory.records.create(record({"n": 1}))
        await memory.records.update(id, {"n": 2})
        assert await data_of(shelf, id) == {"n": 2}
        await memory.records.delete(id)

        assert await data_of(shelf, id) is None
        assert (await counts(memory))["ExecutionSealed"] == 3
        replayed = [one async for one in memory.worlds.replay_branch("system")]
        assert {one.verdict for one in replayed} == {"not run"}
        assert (await memory.verify()).report.is_sound


async def test_what_can_not_be_done_is_refused_before_it_is_proposed(
    opens: Opens, shelf: ShelfStore
) -> None:
    await shelf.create(record(1, id="a"))
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        with pytest.raises(RecordExists):
            await memory.records.create(record(2, id="a"))
        with pytest.raises(RecordNotFound):
            await memory.records.update("b", 2)

        assert await counts(memory) == {}


@pytest.mark.rule("MEM-AUTH-2")
async def test_a_record_that_was_changed_since_is_left_as_it_is(
    opens: Opens, shelf: ShelfStore
) -> None:
    await shelf.create(record({"n": 1}, id="a"))
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(memory.records.update("a", {"n": 2}))
        await shelf.update("a", {"n": 7})
        async with opens(store=shelf, actor=HUMAN) as human:
            await human.inbox.approve(proposal, reason="fine")

        run = await memory.worlds.standing(proposal)
        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "memory.changed"
        assert "'a' was changed since" in str(run.error["message"])
    assert await data_of(shelf, "a") == {"n": 7}


async def test_two_changes_of_two_records_never_stand_in_each_others_way(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposals = [await pending(memory.records.create(record(n))) for n in range(3)]
        async with opens(store=shelf, actor=HUMAN) as human:
            for proposal in reversed(proposals):
                await human.inbox.approve(proposal, reason="fine")

        runs = [await memory.worlds.standing(proposal) for proposal in proposals]
        assert [run.status for run in runs] == ["completed"] * 3
    assert len(await shelf.query(MemoryFilter())) == 3


# ------------------------------------------------- who has no store, stores that fail


@pytest.mark.rule("MEM-AUTH-2")
async def test_whoever_has_no_store_decides_and_whoever_has_it_carries_it_out(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(memory.records.create(record(1, id="a")))
        async with opens(actor=HUMAN) as human:
            await human.inbox.approve(proposal, reason="fine")
            with pytest.raises(OwnStoreMissing):
                await human.worlds.run(proposal)
            (left,) = await human.worlds.resume()
            assert (left.proposal_id, left.status) == (proposal, "approved")
        assert await data_of(shelf, "a") is None

        (run,) = await memory.worlds.resume()

        assert (run.proposal_id, run.status) == (proposal, "completed")
    assert await data_of(shelf, "a") == 1


class Failing(ShelfStore):
    """Can't be reached when it is to be changed, until it is mended."""

    broken: BaseException | None = ConnectionError("the shelf is gone")
    is_written_first = False

    async def create_many(self, records: Any) -> list[str]:
        if self.broken is None:
            return await super().create_many(records)
        if self.is_written_first:
            await super().create_many(records)
        if isinstance(self.broken, TimeoutError):
            await asyncio.Event().wait()
        raise self.broken


@pytest.mark.rule("MEM-INT-4")
@pytest.mark.parametrize("is_written_first", [False, True], ids=["lost", "landed"])
@pytest.mark.parametrize("broken", [ConnectionError("it is gone"), TimeoutError()], ids=type)
async def test_a_store_that_fails_leaves_the_change_to_be_done_once_it_is_back(
    opens: Opens, shelf: ShelfStore, broken: BaseException, *, is_written_first: bool
) -> None:
    store = Failing(shelf._path)
    store.broken, store.is_written_first = broken, is_written_first
    options = {"store": store, "memory_policy": Needs(CHANGES), "run_limit": 0.05}
    async with opens(**options, authority=AutoApprove()) as memory:
        with pytest.raises(OwnStoreFailed) as caught:
            await memory.records.create(record(1, id="a"))
        run = await memory.act("add", {"by": 1})
        assert run.is_completed
        assert (await memory.worlds.standing(caught.value.proposal)).status == "approved"
        if not is_written_first:  # else the next attempt finds out that it is done
            (left,) = await memory.worlds.resume()
            assert (left.proposal_id, left.status) == (caught.value.proposal, "approved")
            store.broken = None

        (done,) = await memory.worlds.resume()

        assert done.is_completed
        assert await memory.worlds.resume() == []
        assert (await memory.verify()).report.is_sound
    assert [one.id for one in await shelf.query(MemoryFilter())] == ["a"]


async def test_an_approval_stands_though_the_store_fails(opens: Opens, shelf: ShelfStore) -> None:
    store = Failing(shelf._path)
    async with opens(store=store, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
        proposal = await pending(memory.records.create(record(1, id="a")))
        async with opens(store=store, actor=HUMAN) as human:
            answer = await human.inbox.approve(proposal, reason="fine")
            assert answer.decision is not None
        assert (await memory.worlds.standing(proposal)).status == "approved"

        store.broken = None
        assert (await memory.worlds.run(proposal)).is_completed


# ------------------------------------------------------------------------------- dying


def dies_at(memory: Memory[Any], at: int, *, landed: bool) -> None:
    """Let the journal of a handle that has a policy die at its commit of this number."""
    table: Any = inside(memory).table
    table._shared.ledger = DyingLedger(table._shared.ledger, at, landed=landed)


@pytest.mark.rule("MEM-AUTH-2")
@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
@pytest.mark.parametrize("at", range(2), ids=["at the decision", "at the seal"])
@pytest.mark.parametrize(
    ("change", "after"),
    [
        (lambda r: r.create(record(1, id="new")), {"a": {"n": 1}, "new": 1}),
        (lambda r: r.update("a", {"n": 2}), {"a": {"n": 2}}),
        (lambda r: r.delete("a"), {}),
    ],
    ids=CHANGES,
)
async def test_a_change_that_dies_at_any_commit_is_done_once_when_it_is_resumed(
    opens: Opens, shelf: ShelfStore, change: Any, after: Any, at: int, *, landed: bool
) -> None:
    before = {"a": {"n": 1}}
    await shelf.create(record({"n": 1}, id="a"))
    options = {"store": shelf, "memory_policy": Needs(CHANGES), "authority": AutoApprove()}
    async with opens(**options) as memory:
        await memory.records.create(record("the branch is there", id="first"))
        await shelf.delete("first")
        dies_at(memory, at, landed=landed)
        with pytest.raises(Died):
            await change(memory.records)
    is_decided, is_sealed = (at, landed) != (0, False), (at, landed) == (1, True)
    is_changed = at == 1
    found = {one.id: one.data for one in await shelf.query(MemoryFilter())}
    assert found == (after if is_changed else before)

    async with opens(**options) as memory:
        runs = await memory.worlds.resume()

        expected = ["completed"] if is_decided and not is_sealed else []
        assert [run.status for run in runs] == expected
        assert (await counts(memory))["ExecutionSealed"] == 1 + is_decided
        assert (await memory.verify()).report.is_sound
    found = {one.id: one.data for one in await shelf.query(MemoryFilter())}
    assert found == (after if is_decided else before)


# ------------------------------------------------------- stores that count versions


async def test_a_store_that_counts_versions_makes_a_change_once(
    opens: Opens, clock: FrozenClock
) -> None:
    async with memoranda.connect("dict://") as other:
        store = other.scope("own", actor="agent:store").records
        policy = Needs(CHANGES)
        async with opens(store=store, memory_policy=policy, authority=AutoApprove()) as memory:
            id = await memory.records.create(record({"n": 1}), idempotency_key="k", reason="new")
            again = await memory.records.create(record({"n": 1}), idempotency_key="k", reason="new")
            assert again == id
            await memory.records.update(id, {"n": 2}, expected_version=1)
            with pytest.raises(VersionConflict):
                await memory.records.update(id, {"n": 3}, expected_version=1)
            dies_at(memory, 1, landed=False)
            with pytest.raises(Died):
                await memory.records.update(id, {"n": 3})
        # Somebody else changes it before it is resumed: the store knows that it was done.
        await store.update(id, {"n": 4})
        clock.at += 1
        async with opens(store=store) as memory:
            (run,) = await memory.worlds.resume()

            assert run.is_completed
        kept = await store.get(id)
        assert kept is not None
        assert kept.data == {"n": 4}
        assert await store.version(id) == 4


async def test_a_version_that_moved_on_is_a_change_that_failed(opens: Opens) -> None:
    async with memoranda.connect("dict://") as other:
        store = other.scope("own", actor="agent:store").records
        await store.create(record({"n": 1}, id="a"))
        async with opens(store=store, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
            proposal = await pending(memory.records.update("a", {"n": 2}))
            await store.update("a", {"n": 7})
            await store.update("a", {"n": 1})
            async with opens(store=store, actor=HUMAN) as human:
                await human.inbox.approve(proposal, reason="fine")

            assert (await memory.worlds.standing(proposal)).status == "failed"


async def test_a_batch_of_updates_is_one_proposal(opens: Opens) -> None:
    async with memoranda.connect("dict://") as other:
        store = other.scope("own", actor="agent:store").records
        await store.create_many([record({"n": 1}, id="a"), record({"n": 1}, id="b")])
        async with opens(store=store, memory_policy=Needs(CHANGES), authority=ASKS) as memory:
            updates = [MemoryUpdate("a", {"n": 2}), MemoryUpdate("b", {"n": 2}),
                       MemoryUpdate("a", {"m": 3})]  # fmt: skip
            first = await pending(memory.records.update_many(updates))
            async with opens(store=store, actor=HUMAN) as human:
                await human.inbox.approve(first, reason="fine")
            found = {one.id: one.data for one in await store.query(MemoryFilter())}
            assert found == {"a": {"n": 2, "m": 3}, "b": {"n": 2}}

            second = await pending(
                memory.records.forget_where(MemoryFilter(ids=["a"]), reason="done with it")
            )
            async with opens(store=store, actor=HUMAN) as human:
                (waiting,) = await human.inbox.list()
                assert waiting.proposal.intent.body.input["reason"] == "done with it"
                await human.inbox.approve(second, reason="fine")
        assert await store.ids(MemoryFilter()) == ["b"]
