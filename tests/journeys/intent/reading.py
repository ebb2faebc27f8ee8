"""What a journal says of worlds."""

from collections import Counter
from typing import Any, NamedTuple

from memoranda import Memory
from memoranda.identity import decode
from memoranda.ledger.entry import read_entry
from memoranda.ledger.snapshot import ENTRIES
from tests.handles import inside


class Said(NamedTuple):
    """An entry with its document, and the bytes of its body."""

    seq: int
    kind: str
    actor: str
    body_digest: str
    document: Any
    body: bytes


async def said(memory: Memory[Any], *types: str) -> list[Said]:
    """The facts of these types, or all of them, in the order of the journal."""
    async with inside(memory).ledger.snapshot() as snapshot:
        stored = [one async for chunk in snapshot.rows(ENTRIES) for one in chunk]
    found = []
    for one in stored:
        if one.body is None:
            continue
        entry, document = read_entry(one.entry), decode(one.body)
        if not types or document["type"] in types:
            found.append(
                Said(one.seq, entry.kind, entry.actor, entry.body_digest, document, one.body)
            )
    return found


async def counts(memory: Memory[Any]) -> Counter[str]:
    """How many facts of each type there are."""
    return Counter(one.document["type"] for one in await said(memory))


async def head(memory: Memory[Any], branch: str = "main") -> str:
    """The world at the head of a branch."""
    return next(one.world for one in await memory.worlds.branches() if one.name == branch)
