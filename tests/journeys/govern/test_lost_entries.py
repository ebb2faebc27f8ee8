"""What can be verified when an entry itself is lost, and a re-audit has accepted that.

The tree stores a hash for each whole block of 256 entries, and none for a single one: a lost entry
of a whole block keeps the root, and takes only its own block along; one of the last block, which
is not whole, takes the root.
"""

from collections.abc import Collection
from typing import Any

import pytest

from memoranda import Memory
from memoranda.ledger.damage import first_damages
from memoranda.ledger.tree import BLOCK
from memoranda.recall.proof import proof_in
from memoranda.recall.proof_check import check_proof
from tests.fixtures import Opens
from tests.journeys.govern.conftest import Tampers
from tests.journeys.govern.judging import breaks

pytestmark = pytest.mark.rule("GOV-BREAK")

RECORDS = 2 * BLOCK + 40


async def written(opens: Opens) -> dict[int, str]:
    """Records in three blocks of the tree, of which the last one is not whole: ids by entry."""
    async with opens() as memory:
        texts = [f"the door number{n} is blue" for n in range(RECORDS)]
        return {one.seq: one.id for one in await memory.remember_many(texts)}


def lost(tampers: Tampers, scope: str, seq: int) -> None:
    with tampers() as tables:
        (journal,) = tables.rows("journals", scope=scope)
        for name in ("entries", "bodies"):
            tables.remove(name, journal=journal["number"], seq=seq)


async def accepted(memory: Memory[Any]) -> None:
    """A re-audit that accepts all that `verify` finds."""
    report = await memory.verify()
    found = {one.accepted_as for one in first_damages(report.report.damages.found, frozenset())}
    accept: Collection[int | str] = [int(one) if one.isdigit() else one for one in found]
    await memory.govern.record_audit("audit/1", report=report, reason="looked at", accept=accept)
    assert await breaks(memory) == []


async def verified(memory: Memory[Any], seqs: Collection[int], first: int) -> dict[int, bool]:
    """Whether what is recalled of these entries is verified; what is, has its proof."""
    found = {}
    for seq in seqs:
        (item,) = await memory.recall(f"number{seq - first}", top_k=1)
        original = await memory.journal.original(item)
        assert (item.seq, original.verified) == (seq, item.verified)
        if original.evidence is not None:
            check_proof(proof_in(original.evidence), ref=item.ref)
        found[seq] = item.verified
        assert item.verified == (original.evidence is not None) == (original.why_not is None)
    return found


async def test_a_lost_entry_of_a_whole_block_takes_only_its_block_along(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    ids = await written(opens)
    first = min(ids)
    lost(tampers, scope, BLOCK + 10)

    async with opens(actor="human:auditor") as memory:
        await accepted(memory)
        inside, outside = [BLOCK, BLOCK + 11], [first, BLOCK - 1, 2 * BLOCK, max(ids)]

        assert await verified(memory, inside, first) == dict.fromkeys(inside, False)
        assert await verified(memory, outside, first) == dict.fromkeys(outside, True)
        new = (await memory.remember("a window was added")).id
        await memory.remember_many([f"later {n}" for n in range(2 * BLOCK)])
    async with opens(actor="human:auditor") as memory:
        (item,) = await memory.recall("window", top_k=1)
        assert (item.id, item.verified) == (new, True)
        assert await verified(memory, outside, first) == dict.fromkeys(outside, True)
        assert await verified(memory, inside, first) == dict.fromkeys(inside, False)


async def test_a_lost_entry_of_the_last_block_takes_the_root_for_good(
    opens: Opens, scope: str, tampers: Tampers
) -> None:
    ids = await written(opens)
    first = min(ids)
    lost(tampers, scope, 2 * BLOCK + 10)
    some = [first, BLOCK, 2 * BLOCK, max(ids)]

    async with opens(actor="human:auditor") as memory:
        await accepted(memory)
        assert await verified(memory, some, first) == dict.fromkeys(some, False)
        await memory.remember_many([f"later {n}" for n in range(2 * BLOCK)])
    async with opens(actor="human:auditor") as memory:
        assert await verified(memory, some, first) == dict.fromkeys(some, False)
        assert await breaks(memory) == []
