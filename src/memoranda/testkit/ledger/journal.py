"""The journal: each entry follows from the one before, and a tree stands over all of them."""

from collections.abc import Sequence

from memoranda.identity.merkle import NodeList, leaf_hash, verify_inclusion
from memoranda.ledger.entry import body_digest, entry_hash, genesis, read_entry
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES, NODES
from memoranda.ledger.tree import blocks_for_inclusion, blocks_for_root, inclusion, root
from memoranda.ledger.unit import Current, Draft, Unit
from memoranda.testkit import contract
from memoranda.testkit.ledger.opening import (
    ACTOR,
    entries,
    erase,
    fact,
    following,
    object_,
    size,
    write,
)

MANY = 700
"""Entries that fill more than two nodes of the tree that are stored."""


async def _filled(ledger: Ledger) -> None:
    await write(ledger, object_("one"), object_("two", subject="kim"))
    await write(ledger, *(fact(f"proposal/{n}", says=f"{n}") for n in range(MANY)))
    await erase(ledger, ["proposal/3"])


@contract()
async def test_every_entry_follows_from_the_one_before_and_from_its_body(ledger: Ledger) -> None:
    await _filled(ledger)

    head, before = await ledger.head(), genesis((await ledger.head()).origin)
    for number, (seq, raw, salt, body) in enumerate(await entries(ledger)):
        entry = read_entry(raw)  # which refuses every byte that is not canonical
        assert (entry.seq, seq, entry.previous_entry_hash) == (number, number, before)
        if salt is None or body is None:
            assert (seq, salt, body) == (5, None, None)
        else:
            assert entry.body_digest == body_digest(salt, body)
        before = entry_hash(raw).hex()
    assert (head.size, head.entry_hash.hex()) == (MANY + 3, before)


@contract()
async def test_times_never_go_back(ledger: Ledger) -> None:
    for at in (5, 9, 2, 7):
        await ledger.commit(Unit(ACTOR, at, lambda _: [fact("a")]))

    times = [read_entry(entry.entry).at for entry in await entries(ledger)]

    assert times == [5, 9, 9, 9]


@contract()
async def test_places_are_where_the_entries_stand(ledger: Ledger) -> None:
    drafts = [Draft("maintenance", b"%d" % n, bytes(16)) for n in range(2_500)]
    committed = await write(ledger, *drafts)

    stored = await entries(ledger)
    assert [(each.seq, each.entry_hash) for each in committed.places] == [
        (entry.seq, entry_hash(entry.entry)) for entry in stored
    ]
    assert [entry.body for entry in stored] == [draft.body for draft in drafts]


@contract()
async def test_the_tree_is_that_of_the_entries(ledger: Ledger) -> None:
    await _filled(ledger)
    tree, stored = NodeList(), await entries(ledger)
    for entry in stored:
        tree.append(leaf_hash(entry.entry))

    count = len(stored)
    top = root(count, await ledger.hashes(blocks_for_root(count)))
    for seq in (0, 255, 256, count - 1):
        blocks = await ledger.hashes(blocks_for_inclusion(seq, count))
        path = inclusion(seq, count, blocks)
        leaf = leaf_hash(stored[seq].entry)
        verify_inclusion(leaf=leaf, index=seq, size=count, proof=path, root=top)
    async with ledger.snapshot() as snapshot:
        nodes = [node async for chunk in snapshot.rows(NODES) for node in chunk]
    assert [(node.level, node.number) for node in nodes] == [(8, 0), (8, 1)]
    assert [node.hash for node in nodes] == [tree(8, 0), tree(8, 1)]


@contract()
async def test_objects_are_read_as_they_were(ledger: Ledger) -> None:
    await write(ledger, object_("one"), object_("two"))

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        return [following(current) for current in found if current is not None]

    await ledger.commit(Unit(ACTOR, 1, decide, ["one"]))

    versions = [
        [(current.id, current.number) async for current in ledger.as_of(at)] for at in range(4)
    ]
    assert versions[:3] == [[], [("one", 1)], [("one", 1), ("two", 1)]]
    assert sorted(versions[3]) == [("one", 2), ("two", 1)]


@contract()
async def test_a_snapshot_stands_still_while_writing_goes_on(ledger: Ledger, twin: Ledger) -> None:
    await write(ledger, *(fact("a") for _ in range(10)))

    async with ledger.snapshot() as snapshot:
        before = await snapshot.head()
        await write(twin, fact("b"))
        found = [entry.seq async for chunk in snapshot.rows(ENTRIES) for entry in chunk]

    assert (before.size, found) == (10, list(range(10)))
    assert await size(ledger) == 11
