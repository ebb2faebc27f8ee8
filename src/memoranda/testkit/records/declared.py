"""What a store declares must be there: a store that declares nothing does not pass."""

from memoranda.kernel.errors import CapabilityMissing
from memoranda.records import Capabilities, Capability
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import Store, declared_by

METHODS = {
    Capability.CRUD: ("create", "get", "update", "delete", "query"),
    Capability.CREATE_MANY: ("create_many",),
    Capability.UPDATE_MANY: ("update_many",),
    Capability.DELETE_MANY: ("delete_many",),
    Capability.CONSOLIDATE: ("consolidate",),
    Capability.CLEAR: ("clear",),
    Capability.ANNOTATED: ("annotate",),
    Capability.HOOKS: (),
    Capability.STREAMED: ("stream",),
    Capability.VERSIONED: ("version", "create", "update", "delete"),
    Capability.PAGED: ("page",),
    Capability.COUNTED: ("ids", "count", "tags"),
    Capability.FORGETS_WHERE: ("forget_where",),
}


@contract("D-MEM-1", "MEM-CRUD-1")
async def test_a_store_declares_what_it_can_do(store: Store) -> None:
    declared = getattr(store, "capabilities", None)

    assert isinstance(declared, Capabilities), "capabilities must say what the store can do"
    assert Capability.CRUD in declared, "a store declares at least CRUD"
    assert declared.abilities <= set(Capability)


@contract("MEM-CRUD-1")
async def test_a_store_has_the_five_methods(store: Store) -> None:
    missing = [name for name in METHODS[Capability.CRUD] if not _has(store, name)]

    assert missing == []


@contract("D-MEM-1")
async def test_every_declared_ability_has_its_methods(store: Store) -> None:
    missing = [
        f"{capability.value}: {name}"
        for capability in sorted(declared_by(store))
        for name in METHODS[capability]
        if not _has(store, name)
    ]

    assert missing == []


@contract("D-MEM-1")
async def test_a_caller_can_detect_what_a_store_can_not_do(store: Store) -> None:
    refused = set()
    for capability in Capability:
        try:
            store.capabilities.require(capability)
        except CapabilityMissing:
            refused.add(capability)

    assert refused == set(Capability) - declared_by(store)


def _has(store: Store, name: str) -> bool:
    return callable(getattr(store, name, None))
