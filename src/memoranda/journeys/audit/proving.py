"""The journal's proof for one entry: that it stands where it says, under the journal's root."""

from dataclasses import dataclass

from memoranda.identity import verify_inclusion
from memoranda.identity.merkle import leaf_hash
from memoranda.kernel.errors import InvalidProof
from memoranda.kernel.results import Result
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.tree import blocks_for_inclusion, blocks_for_root, inclusion, root
from memoranda.ledger.unit import Ledger


@dataclass(frozen=True, slots=True, repr=False)
class EntryProof(Result):
    """An entry, and the hashes that lead from it to the root over all entries (RFC 6962)."""

    seq: int
    entry_hash: str
    size: int
    root: str
    hashes: tuple[str, ...]
    holds: bool
    """Whether they do."""


async def proof_of(ledger: Ledger, seq: int) -> EntryProof | None:
    """The proof of an entry under the journal as it is now; it is checked before it is given.

    None where there is none: the entry is gone, or others are, so that there is no root over them.
    """
    entry = (await ledger.bytes_at([seq])).get(seq)
    if entry is None:
        return None
    size = (await ledger.head()).size
    blocks = blocks_for_root(size) | blocks_for_inclusion(seq, size)
    hashes = await ledger.hashes(blocks)
    try:
        top, path = root(size, hashes), inclusion(seq, size, hashes)
    except InvalidProof:
        return None
    try:
        verify_inclusion(leaf=leaf_hash(entry), index=seq, size=size, proof=path, root=top)
        holds = True
    except InvalidProof:
        holds = False
    return EntryProof(
        seq,
        entry_hash(entry).hex(),
        size,
        top.hex(),
        tuple(one.hex() for one in path),
        holds,
    )
