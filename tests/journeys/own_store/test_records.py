"""A store of the user's own is what the app exposes: unchanged itself, with hooks over it."""

import inspect
from typing import Any

import pytest
from pydantic import BaseModel

import memoranda
from memoranda import (
    App,
    Capabilities,
    Capability,
    MemoryFilter,
    MemoryHooks,
    MemoryRecordInput,
    MemoryUpdate,
)
from memoranda.errors import (
    CapabilityMissing,
    InvalidOption,
    InvalidRecord,
    MemoryOutOfReach,
    RecordNotFound,
    StoreClosed,
    UnknownFilterKey,
)
from memoranda.journeys.records.own_store import OwnRecords
from memoranda.types import ActionContext, Domain, Patch, Records, Set
from tests.fixtures import Opens
from tests.journeys.intent.reading import said
from tests.journeys.own_store.shelf import ShelfStore

EVERYTHING = MemoryFilter()


def record(data: Any, **about: Any) -> MemoryRecordInput[Any]:
    return MemoryRecordInput(data=data, **about)


@pytest.mark.rule("D-MEM-2", "MEM-INT-1", "MEM-INT-2")
async def test_an_app_exposes_the_very_store_that_it_was_given(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf) as memory:
        assert memory.records.given is shelf

        await memory.records.create(record({"n": 1}, id="a", tags=["x"], meta={"by": "us"}))
        await memory.records.update("a", {"m": 2})
        await shelf.create(record("by the store itself", id="b"))

        found = await memory.records.get("a")
        assert found is not None
        assert (found.data, found.tags, found.meta) == ({"n": 1, "m": 2}, ("x",), {"by": "us"})
        assert await shelf.get("a") == found
        assert {one.id for one in await memory.records.query(EVERYTHING)} == {"a", "b"}
        await memory.records.delete("a")
        assert await shelf.get("a") is None


@pytest.mark.rule("MEM-INT-2")
async def test_without_a_store_the_records_are_the_scopes_own(opens: Opens) -> None:
    async with opens() as memory:
        assert memory.records.given is memory.records


@pytest.mark.rule("D-MEM-2")
async def test_the_verbs_of_the_handle_stay_with_the_journal(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf) as memory:
        await memory.remember("the journal has it", id="a")
        await memory.records.create(record("the store has it", id="b"))

        assert await shelf.query(MemoryFilter(ids=["a"])) == []
        assert [one.id for one in await memory.list()] == ["a"]
        assert [one.id for one in await memory.recall("who has it", top_k=5)] == ["a"]
        assert [one.document["id"] for one in await said(memory) if "id" in one.document] == ["a"]


async def test_a_store_that_counts_as_empty_is_a_store(opens: Opens, shelf: ShelfStore) -> None:
    class Empty(ShelfStore):
        def __len__(self) -> int:
            return 0

    async with opens(store=Empty(shelf._path)) as memory:
        await memory.records.create(record(1, id="a"))

    assert await shelf.get("a") is not None


@pytest.mark.rule("MEM-HOOK-1", "MEM-HOOK-2")
async def test_the_hooks_of_the_app_hear_of_what_is_done_through_it(
    opens: Opens, shelf: ShelfStore
) -> None:
    heard: list[Any] = []
    failures: list[str] = []

    def broken(*_: Any) -> None:
        heard.append("deleted")
        raise ValueError("a hook may fail")

    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=lambda one: heard.append(("created", one.id, one.data)),
        on_updated=lambda *told: heard.append(("updated", *told)),
        on_queried=lambda _, found: heard.append(("queried", [one.id for one in found])),
        on_deleted=broken,
        on_failure=lambda failure: failures.append(failure.hook),
    )
    async with opens(store=shelf, hooks=hooks) as memory:
        await memory.records.create_many([record(1, id="a"), record({"n": 1}, id="b")])
        await memory.records.update("b", {"n": 2})
        await memory.records.query(MemoryFilter(ids=["b"]))
        await memory.records.delete("nowhere")
        await memory.records.clear()
        await shelf.create(record("nobody hears of it"))

    assert heard == [
        ("created", "a", 1),
        ("created", "b", {"n": 1}),
        ("updated", "b", {"n": 1}, {"n": 2}),
        ("queried", ["b"]),
        "deleted",
        "deleted",
    ]
    assert failures == ["on_deleted", "on_deleted"]


async def test_a_store_that_fails_when_a_hook_reads_again_fails_no_operation(
    opens: Opens, shelf: ShelfStore
) -> None:
    class Forgetful(ShelfStore):
        async def get(self, id: str) -> Any:
            raise ConnectionError(id)

    failures: list[BaseException] = []
    hooks: MemoryHooks[Any] = MemoryHooks(
        on_created=lambda _: None, on_failure=lambda failure: failures.append(failure.error)
    )
    async with opens(store=Forgetful(shelf._path), hooks=hooks) as memory:
        await memory.records.create(record(1, id="a"))

    assert [type(error) for error in failures] == [ConnectionError]
    assert await shelf.get("a") is not None


# ------------------------------------------------------------------------ capabilities


async def test_capabilities_are_those_of_the_store_and_hooks(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf) as memory:
        declared = memory.records.capabilities

    assert declared.abilities == shelf.capabilities.abilities | {Capability.HOOKS}
    assert declared.filter_keys == {"text"}


@pytest.mark.rule("D-MEM-1")
@pytest.mark.parametrize(
    ("verb", "lacks"),
    [
        (lambda r: r.update_many([MemoryUpdate("a", 1)]), "update_many"),
        (lambda r: r.page(EVERYTHING), "paged"),
        (lambda r: r.stream(EVERYTHING).__anext__(), "streamed"),
        (lambda r: r.ids(EVERYTHING), "counted"),
        (lambda r: r.count(EVERYTHING), "counted"),
        (lambda r: r.tags(), "counted"),
        (lambda r: r.forget_where(EVERYTHING, reason="old"), "forgets_where"),
        (lambda r: r.version("a"), "versioned"),
        (lambda r: r.create(record(1), idempotency_key="k"), "versioned"),
        (lambda r: r.create(record(1), reason="why"), "versioned"),
        (lambda r: r.update("a", 2, expected_version=1), "versioned"),
        (lambda r: r.delete("a", reason="why"), "versioned"),
        (lambda r: r.annotate("a", tags=[], reason="why"), "reason in annotate"),
        (
            lambda r: r.create_many([record(1)], idempotency_key="k"),
            "idempotency_key in create_many",
        ),
        (lambda r: r.delete_many(["a"], reason="why"), "reason in delete_many"),
    ],
)
async def test_what_the_store_does_not_declare_is_refused_by_name(
    opens: Opens, shelf: ShelfStore, verb: Any, lacks: str
) -> None:
    await shelf.create(record(1, id="a"))
    before = await shelf.query(EVERYTHING)
    async with opens(store=shelf) as memory:
        with pytest.raises(CapabilityMissing) as caught:
            await verb(memory.records)

    assert caught.value.capability == lacks
    assert await shelf.query(EVERYTHING) == before


async def test_what_is_wrong_is_refused_before_the_store_is_asked(opens: Opens) -> None:
    class Untouched:
        capabilities = Capabilities(frozenset({Capability.CRUD}))

        async def refused(self, *_: Any) -> Any:
            raise AssertionError("it must not be asked")

        create = get = update = delete = query = refused

    given: Any = Untouched()
    async with opens(store=given) as memory:
        records: Any = memory.records
        with pytest.raises(InvalidRecord):
            await records.create({"data": 1})
        with pytest.raises(InvalidRecord):
            await records.get(7)
        with pytest.raises(RecordNotFound):
            await records.update("a\x00", 1)
        with pytest.raises(UnknownFilterKey):
            await records.query(MemoryFilter(text="x"))  # type: ignore[call-arg]
        assert await records.get("a\x00") is None


def test_every_verb_of_records_is_the_stores_own() -> None:
    verbs = {name for name, one in vars(Records).items()
             if inspect.isfunction(one) and name[0] != "_"}  # fmt: skip

    assert verbs <= vars(OwnRecords).keys()


@pytest.mark.parametrize("store", [object(), {"a": 1}, Records, type("No", (), {})()])
def test_what_is_no_store_is_refused_when_the_app_is_made(store: Any) -> None:
    with pytest.raises(InvalidOption) as caught:
        App(store=store)

    assert caught.value.code == "input.option"


def test_a_store_that_lacks_a_method_is_refused_when_the_app_is_made() -> None:
    class Half:
        capabilities = Capabilities(frozenset({Capability.CRUD}))

        async def create(self, _: Any) -> str:
            return ""

    half: Any = Half()
    with pytest.raises(InvalidOption, match="has no get"):
        App(store=half)


# --------------------------------------------------------------------------- in the app


async def test_an_action_reaches_no_store_through_the_handle(
    opens: Opens, shelf: ShelfStore
) -> None:
    await shelf.create(record(1, id="a"))
    domain, tried = Domain("peeks", "1"), list[str]()

    @domain.action
    async def peek(_: ActionContext[None]) -> Patch:
        for verb in (memory.records.get("a"), memory.records.delete("a")):
            with pytest.raises(MemoryOutOfReach):
                await verb
            tried.append("refused")
        return Set("done", value=True)

    async with opens(store=shelf, domain=domain) as memory:
        assert (await memory.act("peek")).is_completed

    assert tried == ["refused", "refused"]


async def test_a_closed_handle_refuses_and_leaves_the_store_to_its_owner(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf) as memory:
        records = memory.records
    with pytest.raises(StoreClosed):
        await records.get("a")

    await shelf.create(record(1, id="a"))
    assert records.given is shelf


class Pet(BaseModel):
    name: str
    age: int = 0


async def test_records_of_a_store_have_the_model_of_the_handle(
    url: str, scope: str, shelf: ShelfStore
) -> None:
    class Pets(ShelfStore):
        """Takes models, and gives them back."""

        async def create(self, given: MemoryRecordInput[Any]) -> str:
            assert isinstance(given.data, Pet)
            return await super().create(given.model_copy(update={"data": given.data.model_dump()}))

    async with memoranda.open(
        url, scope=scope, model=Pet, app=App(store=Pets(shelf._path))
    ) as memory:
        await memory.records.create(MemoryRecordInput(id="a", data=Pet(name="Rex")))
        wrong: Any = {"title": "no pet"}
        with pytest.raises(InvalidRecord):
            await memory.records.create(MemoryRecordInput(data=wrong))

    kept = await shelf.get("a")
    assert kept is not None
    assert kept.data == {"name": "Rex", "age": 0}


def test_the_blocking_twin_exposes_it_too(url: str, scope: str, shelf: ShelfStore) -> None:
    with memoranda.open_sync(url, scope=scope, app=App(store=shelf)) as memory:
        memory.records.create(record(1, id="a"))

        assert memory.records.given is shelf
        assert [one.id for one in memory.records.query(EVERYTHING)] == ["a"]
