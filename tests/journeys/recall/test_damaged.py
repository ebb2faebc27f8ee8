"""Where the journal is damaged, a recall says what it can't prove; it never breaks off (M-1)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import memoranda
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.ledger.tree import BLOCK
from memoranda.outside.keys import Ed25519Signer
from memoranda.recall.proof import proof_in
from memoranda.recall.proof_check import check_proof
from tests.campaigns.tampering.tables import PostgresTables, SqliteTables, Tables
from tests.handles import opened

pytestmark = pytest.mark.anyio

SCOPE = "damaged"
SIGNER = Ed25519Signer("example.org/memory", bytes(range(32)))


class Attacked(NamedTuple):
    """A database, and its tables as whoever owns it sees them."""

    url: str
    tables: Callable[[], Tables]


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def attacked(request: pytest.FixtureRequest, tmp_path: Path) -> Attacked:
    if request.param == "sqlite":
        path = f"{tmp_path}/memory.db"
        return Attacked(f"sqlite:///{path}", lambda: SqliteTables(path))
    url = str(request.getfixturevalue("postgres_url"))
    return Attacked(url, lambda: PostgresTables(url))


async def filled(url: str, **options: Any) -> None:
    """Two blocks of the tree that are complete, and one that is not."""
    async with opened(url, scope=SCOPE, **options) as memory:
        await memory.remember_many([f"cat{number}" for number in range(2 * BLOCK + 50)])


def removed(tables: Tables, table: str, **where: Any) -> None:
    (journal,) = tables.rows("journals", scope=SCOPE)
    tables.remove(table, journal=journal["number"], **where)


def changed(tables: Tables, table: str, where: dict[str, Any], **values: Any) -> None:
    (journal,) = tables.rows("journals", scope=SCOPE)
    tables.change(table, {"journal": journal["number"], **where}, **values)


async def recalled(url: str, number: int) -> Any:
    """One record by the number of its entry."""
    async with memoranda.open(url, scope=SCOPE) as memory:
        (item,) = await memory.recall(f"cat{number - 1}", top_k=1)
        assert item.seq == number
        return item


def is_proved(item: Any) -> bool:
    """Whether an item is verified, which its proof must show."""
    assert (item.evidence is not None) is item.verified
    if item.verified:
        check_proof(proof_in(item.evidence), ref=item.ref)
    return bool(item.verified)


@pytest.mark.rule("M-1")
async def test_what_stands_in_a_block_without_all_of_its_entries_is_not_verified(
    attacked: Attacked,
) -> None:
    await filled(attacked.url)
    with attacked.tables() as tables:
        removed(tables, "entries", seq=100)

    for number in (50, 150, BLOCK - 1):
        assert not is_proved(await recalled(attacked.url, number))
    for number in (BLOCK, 2 * BLOCK + 3):  # the node over that block is still there
        assert is_proved(await recalled(attacked.url, number))


@pytest.mark.rule("M-1")
@pytest.mark.parametrize("node", [0, 1])
async def test_in_a_tree_without_all_of_its_nodes_nothing_is_verified(
    attacked: Attacked, node: int
) -> None:
    await filled(attacked.url)
    with attacked.tables() as tables:
        removed(tables, "nodes", level=8, number=node)

    for number in (50, 300, 2 * BLOCK + 3):
        assert not is_proved(await recalled(attacked.url, number))


@pytest.mark.rule("M-1")
@pytest.mark.parametrize("node", [bytes(32), bytes(31), b""], ids=["another", "short", "none"])
async def test_what_is_verified_beside_a_node_that_was_changed_can_be_proved(
    attacked: Attacked, node: bytes
) -> None:
    await filled(attacked.url)
    with attacked.tables() as tables:
        changed(tables, "nodes", {"level": 8, "number": 0}, hash=node)

    assert not is_proved(await recalled(attacked.url, 50))
    for number in (300, 2 * BLOCK + 3):
        is_proved(await recalled(attacked.url, number))


@pytest.mark.rule("M-1")
@pytest.mark.parametrize(
    ("table", "where"), [("nodes", {"level": 8, "number": 0}), ("entries", {"seq": 2 * BLOCK + 9})]
)
async def test_what_was_repaired_and_audited_is_verified_again_by_whoever_met_the_damage(
    attacked: Attacked, table: str, where: dict[str, Any]
) -> None:
    await filled(attacked.url)
    async with memoranda.open(attacked.url, scope=SCOPE) as memory:
        with attacked.tables() as tables:
            (journal,) = tables.rows("journals", scope=SCOPE)
            damaged = {"journal": journal["number"], **where}
            (row,) = tables.rows(table, **damaged)
            bodies = tables.rows("bodies", **damaged) if table == "entries" else []
            tables.remove(table, **damaged)
        for _ in range(2):  # each of which adds a trace to the journal
            assert not is_proved((await memory.recall("cat49", top_k=1)).items[0])

        with attacked.tables() as tables:
            tables.add(table, **row)
            for body in bodies:  # which PostgreSQL keeps in the row of the entry
                if not tables.rows("bodies", **damaged):
                    tables.add("bodies", **body)

        async with memoranda.open(attacked.url, scope=SCOPE, actor="human:auditor") as auditor:
            report = await auditor.verify()
            assert report.is_sound
            await auditor.govern.record_audit(
                "audit/1", report=report, reason="a disk was replaced"
            )
        for number in (50, 2 * BLOCK + 3, 2 * BLOCK + 12):
            (item,) = await memory.recall(f"cat{number - 1}", top_k=1)
            assert is_proved(item)


async def test_a_checkpoint_that_the_tree_does_not_begin_with_covers_nothing(
    attacked: Attacked,
) -> None:
    await filled(attacked.url, seal=Seal([SIGNER], every_entries=1_000, every_seconds=3_600))
    before = await recalled(attacked.url, 300)
    assert before.evidence.checkpoint is not None

    with attacked.tables() as tables:
        changed(tables, "nodes", {"level": 8, "number": 0}, hash=bytes(32))

    after = await recalled(attacked.url, 300)
    assert is_proved(after)  # under a root of which no checkpoint tells
    assert after.evidence.checkpoint is None
