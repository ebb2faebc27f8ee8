"""What a verification looks at in vectors: whose they are, and whether they can be vectors.

1. a vector is of a version that there is, the newest of its object, and active
2. it has the dimensions and the form that its model's vectors are kept in     (`embedder`)

Whether it is the vector of that text only its model can tell: it is not asked.
"""

from contextlib import aclosing

from memoranda.ledger.damage import Damages
from memoranda.ledger.unit import Snapshot, StoredVector
from memoranda.recall.embedder import broken_vector


async def check_vectors(snapshot: Snapshot, damages: Damages) -> None:
    """Look at every vector; damage is reported."""
    async with aclosing(snapshot.vectors()) as chunks:
        async for vectors in chunks:
            for one in vectors:
                why = _misplaced(one) or broken_vector(one.model, one.vector)
                if why is not None:
                    named = f"the vector of {one.id!r} by {one.model!r}: "
                    damages.add("vector", one.seq, named + why)


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
