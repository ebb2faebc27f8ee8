"""A journal in memory, with records, worlds and other entries, and its tree as stores keep it."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.ledger import tree
from memoranda.ledger.checkpoint import Checkpoint
from memoranda.ledger.entry import SALT_BYTES, Entry, body_digest, entry_bytes, entry_hash, genesis
from memoranda.ledger.tree import (
    BLOCK,
    STRIDE,
    Block,
    Blocks,
    blocks_for_inclusion,
    inclusion,
    root,
)
from memoranda.recall.proof import StoredOriginal, VerificationProof, body_address
from memoranda.recall.proof_check import TreePlace, prove
from memoranda.recall.trace import MemoryRef
from memoranda.worlds.snapshot import snapshot_hash, world_id
from tests.ledger.objects import a_first_version
from tests.worlds.making import SCHEMA, T0, snapshot

ORIGIN = "memoranda/0193/support"


class Journal:
    """Every third entry holds a record, every third a world, the others are maintenance.

    Those whose number is in `ended` are invalidations.
    """

    def __init__(self, size: int, name: str = "a", ended: Sequence[int] = ()) -> None:
        self.size = size
        self.name = name
        self.entries: list[bytes] = []
        self._bodies: dict[int, bytes] = {}
        previous = genesis(ORIGIN)
        for seq in range(size):
            kind = "invalidate" if seq in ended else ("create", "world", "maintenance")[seq % 3]
            body = self._body(seq, kind)
            digest = body_digest(self.salt(seq), body)
            entry = Entry(seq, kind, T0 - size + seq, "agent:writer", digest, previous)
            self.entries.append(entry_bytes(entry))
            previous = entry_hash(self.entries[-1]).hex()

    def salt(self, seq: int) -> bytes:
        return bytes.fromhex(sha256_hex(f"{self.name} {seq}".encode()))[:SALT_BYTES]

    def snapshot(self, seq: int) -> dict[str, Any]:
        return snapshot(data={"of": self.name, "count": seq})

    def original(self, seq: int, *, with_snapshot: bool = False) -> StoredOriginal:
        state = self.snapshot(seq) if with_snapshot and seq % 3 == 1 else None
        body = self._body(seq, "create" if seq % 3 == 0 else "world")
        return StoredOriginal(self.entries[seq], self.salt(seq), body, state)

    def ref(self, seq: int) -> MemoryRef:
        if seq % 3 == 0:
            return MemoryRef(world_id=body_address(self.original(seq).body))
        return MemoryRef(world_id=world_id(SCHEMA, snapshot_hash(self.snapshot(seq))))

    def place(self, seq: int, size: int | None = None) -> TreePlace:
        size = size or self.size
        blocks = self.blocks(size)
        needed = blocks_for_inclusion(seq, size) | blocks_for_inclusion(size - 1, size)
        read = {block: blocks[block] for block in needed}
        paths = [inclusion(one, size, read) for one in (seq, size - 1)]
        return TreePlace(size, root(size, read), paths[0], self.entries[size - 1], paths[1])

    def proof(self, seq: int, size: int | None = None) -> VerificationProof:
        found = prove(self.ref(seq), self.original(seq), place=self.place(seq, size))
        assert found.proof is not None, found.error
        return found.proof

    def checkpoint(self, size: int) -> Checkpoint:
        return Checkpoint(ORIGIN, size, tree.root(size, self.blocks(size)))

    def consistency(self, old: int, new: int) -> list[str]:
        return [one.hex() for one in tree.consistency(old, new, self.blocks(new))]

    def blocks(self, size: int) -> Blocks:
        found: dict[Block, Sequence[bytes]] = {}
        for level, hashes in enumerate(self._levels):
            known = hashes[: size >> (level * STRIDE)]
            for start in range(0, len(known), BLOCK):
                found[Block(level * STRIDE, start // BLOCK)] = known[start : start + BLOCK]
        return found

    @cached_property
    def _levels(self) -> list[list[bytes]]:
        levels = [tree.leaves(self.entries)]
        while len(levels[-1]) >= BLOCK:
            below = levels[-1]
            whole = range(0, len(below) - BLOCK + 1, BLOCK)
            levels.append([tree.node_of(below[start : start + BLOCK]) for start in whole])
        return levels

    def _body(self, seq: int, kind: str) -> bytes:
        if seq in self._bodies:
            return self._bodies[seq]
        if kind == "maintenance":
            return b'{"type":"Maintenance"}'
        if kind == "world":
            hashed = snapshot_hash(self.snapshot(seq))
            world = {
                "worldId": world_id(SCHEMA, hashed),
                "schemaHash": SCHEMA,
                "snapshotHash": hashed,
                "createdAt": T0,
                "createdBy": "prop-1",
            }
            body = canonical_bytes({"type": "World", "world": world})
        else:
            body = a_first_version(
                id=f"{self.name}-{seq}",
                statement=f'메모 {seq}: "prefers" email\n\\ of {self.name}',
                statement_type="SystemGeneratedStatement",
                at=T0,
                nonce=f"{seq:020}",
                trust="unreviewed",
                scope=None,
            ).canonical
        self._bodies[seq] = body
        return body
