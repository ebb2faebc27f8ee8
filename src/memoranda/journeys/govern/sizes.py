"""How long a journal was at a time: what was known then is what stood in it."""

from memoranda.kernel.errors import RecordNotFound
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import Ledger


async def size_at(ledger: Ledger, ms: int, size: int) -> int:
    """How many of the first `size` entries there were at a time: they lie in its order."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        found = await ledger.bytes_at([middle])
        if middle not in found:
            raise RecordNotFound(f"entry {middle}")
        if read_entry(found[middle]).at <= ms:
            low = middle + 1
        else:
            high = middle
    return low
