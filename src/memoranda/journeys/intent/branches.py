"""Branches: a name for a line of worlds, whose newest is its head, and what they begin with.

The first world of a branch is the initial state of a domain, or a world that is there already.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.chronicle import Chronicle, Parts, parts_of, whole
from memoranda.journeys.intent.documents import LoggedHead
from memoranda.kernel.errors import (
    InvalidIntent,
    InvalidWorld,
    MarkMoved,
    WorldErased,
)
from memoranda.kernel.json import JsonValue, check, storable
from memoranda.kernel.results import Result
from memoranda.ledger.unit import Expected
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import Host
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.snapshot import Snapshot, initial_snapshot
from memoranda.worlds.world import World, sealed


@dataclass(frozen=True, slots=True)
class Genesis:
    """What a branch begins with: a schema, and the first state under it."""

    schema_hash: str
    initial: JsonValue
    computed: Mapping[str, JsonValue]
    """What follows from the initial state."""


@dataclass(frozen=True, slots=True)
class Runtime(Genesis):
    """A host with what is known of it before it runs."""

    host: Host
    check_intent: Callable[[str, JsonValue], Any]
    """Refuses an action or an input that it does not know, with InvalidIntent."""


def of_domain(domain: Domain) -> Runtime:
    """The actions of a domain, run in this process."""
    host = LocalHost(domain)
    initial = domain.initial_data()
    computed = domain.compute(initial)
    return Runtime(domain.schema_hash, initial, computed, host, domain.check_intent)


def of_host(host: Host, schema_hash: str, initial: JsonValue) -> Runtime:
    """Any other host; whether it knows an action, it says itself, by its result."""

    def check_intent(action: str, _input: JsonValue) -> None:
        if not action or action.startswith("system."):
            raise InvalidIntent(action, "names beginning with 'system.' are reserved")

    check(initial)
    return Runtime(schema_hash, initial, {}, host, check_intent)


SEED: Final = "genesis"
SYSTEM: Final = "system"
"""The branch of operations on memory itself: no other runs are on it."""
EMPTY: Final = Genesis(sha256_hex(b"memoranda/empty-domain/1"), {}, {})
"""What a scope begins with that has run nothing yet: it is named, and never written."""
LONGEST_NAME: Final = 128


@dataclass(frozen=True, slots=True, repr=False)
class BranchHead(Result):
    """A branch as it is listed."""

    name: str
    world: str
    schema_hash: str
    moved_at: int


class Branches:
    """The branches of one scope."""

    def __init__(self, chronicle: Chronicle) -> None:
        self._chronicle = chronicle

    async def opened(self, name: str, genesis: Genesis, *, actor: str, at: int) -> LoggedHead:
        """The head of a branch, which begins with the initial state where there is none yet."""
        head = await self._chronicle.head(name)
        if head is not None:
            return head
        check_branch(name)
        parts = first_parts(genesis, at)
        world = first_world(genesis, at)
        expected, is_known = await self._chronicle.expected(world.world_id)
        facts = [] if is_known else [documents.sealed_world(world.to_wire())]
        facts.append(
            documents.branched(
                name,
                world.world_id,
                genesis.schema_hash,
                snapshot=whole(canonical_bytes(parts), parts),
                created_at=at,
            )
        )
        expects = [Expected(names.branch(name), None), expected]
        try:
            await self._chronicle.commit(
                self._chronicle.drafts(facts), actor=actor, at=at, expects=expects
            )
        except MarkMoved:
            return await self.opened(name, genesis, actor=actor, at=at)
        return await self._chronicle.known_head(name)

    async def fork(self, name: str, world: str, *, actor: str, at: int) -> LoggedHead:
        """A new branch whose head is a world that is there; InvalidWorld if the name is taken."""
        check_branch(name)
        keeper = await self._chronicle.keeper(world)
        kept = await self._chronicle.kept(keeper)
        record = (await self._chronicle.world(world)).document["world"]
        source = LoggedHead("", world, record["schemaHash"], keeper)
        fact = documents.branched(
            name,
            world,
            record["schemaHash"],
            snapshot=whole(kept.canonical, kept.parts),
            created_at=at,
            inputs=(source.made_from,),
        )
        drafts = self._chronicle.drafts([fact])
        expects = [Expected(names.branch(name), None), Expected(source.made_from, keeper.seq)]
        try:
            await self._chronicle.commit(drafts, actor=actor, at=at, expects=expects)
        except MarkMoved as moved:
            if moved.name == source.made_from:
                raise WorldErased("world", world) from None
            raise InvalidWorld("$.branch", f"there is a branch {name!r} already") from None
        return await self._chronicle.known_head(name)

    async def listed(self) -> list[BranchHead]:
        heads = []
        for name in await self._chronicle.named(names.BRANCHES):
            head = await self._chronicle.head(name)
            if head is None:
                continue  # all of it was erased
            heads.append(BranchHead(name, head.world, head.schema_hash, head.fact.entry.at))
        return heads


def first_parts(genesis: Genesis, at: int) -> Parts:
    """The snapshot that a branch begins with, without its input."""
    first = initial_snapshot(genesis.initial, genesis.schema_hash, now=at, random_seed=SEED)
    return {**parts_of(first.to_wire()), "computed": dict(genesis.computed)}


def first_world(genesis: Genesis, at: int) -> World:
    """The world of that snapshot: its id follows from what a branch begins with, not from when."""
    return sealed(Snapshot.known(first_parts(genesis, at)), created_at=at, created_by=None)


@cache
def empty_world() -> str:
    """The id of the genesis of nothing: the same everywhere, and at any time."""
    return first_world(EMPTY, 1).world_id


def check_free(name: str) -> None:
    """Refuse what can't be the name of a branch, and the one that is not for everybody's runs."""
    check_branch(name)
    if name == SYSTEM:
        raise InvalidWorld("$.branch", f"{name!r} is kept for memoranda's own")


def check_branch(name: str) -> None:
    """Refuse what can't be the name of a branch."""
    if not (isinstance(name, str) and name.strip() and len(name) <= LONGEST_NAME):
        raise InvalidWorld("$.branch", f"its name is a text of 1 to {LONGEST_NAME} characters")
    if not storable(name):
        raise InvalidWorld("$.branch", "its name can't be stored")
