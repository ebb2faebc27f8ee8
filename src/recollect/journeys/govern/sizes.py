"""How long a journal was at a time: what was known then is what stood in it."""

from recollect.kernel.errors import RecordNotFound
from recollect.ledger.entry import read_entry
from recollect.ledger.unit import Ledger


async def size_at(ledger: Ledger, ms: int, size: int) -> int:
    """How many of the first `size` entries there were at a time: they lie in its order."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        stored = await ledger.entry(middle)
        if stored is None:
            raise RecordNotFound(f"entry {middle}")
        if read_entry(stored.entry).at <= ms:
            low = middle + 1
        else:
            high = middle
    return low
