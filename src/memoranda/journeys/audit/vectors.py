"""What a verification looks at in vectors: whose they are, and whether they can be vectors.

1. a vector is of a version that there is, the newest of its object, and active
2. it has the dimensions and the form that its model's vectors are kept in     (`embedder`)
3. what is not to be found by its meaning has none

Whether it is the vector of that text only its model can tell: it is not asked.
"""

from collections.abc import Collection
from contextlib import aclosing

from memoranda.ledger.damage import Damages
from memoranda.ledger.unit import Snapshot, StoredVector
from memoranda.recall.embedder import broken_vector
from memoranda.recall.vectors import NO_VECTOR


async def check_vectors(snapshot: Snapshot, unindexed: Collection[int], damages: Damages) -> None:
    """Look at every vector; damage is reported.

    `unindexed` are the entries of what is to have none.
    """
    async with aclosing(snapshot.vectors()) as chunks:
        async for vectors in chunks:
            for one in vectors:
                why = _misplaced(one) or _broken(one, is_unindexed=one.seq in unindexed)
                if why is not None:
                    named = f"the vector of {one.id!r} by {one.model!r}: "
                    damages.add("vector", one.seq, named + why)


def _broken(one: StoredVector, *, is_unindexed: bool) -> str | None:
    """What is wrong with a vector, or with what stands in the place of one."""
    if is_unindexed:
        return None if one.vector == NO_VECTOR else "what it is of is not to have one"
    return broken_vector(one.model, one.vector)


def _misplaced(one: StoredVector) -> str | None:
    """What is wrong with what a vector is of."""
    if one.status is None:
        return "there is no version that it is of"
    if one.status == "erased":
        return "what it is of was erased"
    if not one.is_newest:
        return "what it is of is not the newest version"
    if one.status != "active":
        return f"what it is of is {one.status}"
    return None
