"""The journal's proof for one entry: that it stands where it says, under the journal's root."""

from typing import NamedTuple

from recollect.identity import verify_inclusion
from recollect.identity.merkle import leaf_hash
from recollect.kernel.errors import InvalidProof
from recollect.kernel.json import JsonValue
from recollect.ledger.entry import entry_hash
from recollect.ledger.tree import blocks_for_inclusion, blocks_for_root, inclusion, root
from recollect.ledger.unit import Ledger, StoredEntry


class EntryProof(NamedTuple):
    """An entry, and the hashes that lead from it to the root over all entries (RFC 6962)."""

    seq: int
    entry_hash: str
    size: int
    root: str
    hashes: tuple[str, ...]
    holds: bool
    """Whether they do."""

    def to_wire(self) -> dict[str, JsonValue]:
        """All of it, as JSON."""
        return {**self._asdict(), "hashes": list(self.hashes)}


async def proof_of(ledger: Ledger, stored: StoredEntry) -> EntryProof:
    """The proof of an entry under the journal as it is now; it is checked before it is given."""
    size = (await ledger.head()).size
    blocks = blocks_for_root(size) | blocks_for_inclusion(stored.seq, size)
    hashes = await ledger.hashes(blocks)
    top, path = root(size, hashes), inclusion(stored.seq, size, hashes)
    try:
        verify_inclusion(
            leaf=leaf_hash(stored.entry), index=stored.seq, size=size, proof=path, root=top
        )
        holds = True
    except InvalidProof:
        holds = False
    return EntryProof(
        stored.seq,
        entry_hash(stored.entry).hex(),
        size,
        top.hex(),
        tuple(one.hex() for one in path),
        holds,
    )
