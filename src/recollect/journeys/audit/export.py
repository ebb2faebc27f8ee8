"""Exports: a journal as NDJSON that anyone can verify, and the MemoryLog of seed 003."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from recollect.identity import canonical_bytes
from recollect.journeys.audit.verify import Progress, nobody
from recollect.ledger import tree
from recollect.ledger.checkpoint import Checkpoint, sign_checkpoint
from recollect.ledger.log import write_log
from recollect.ledger.logview import Erased, events
from recollect.ledger.signed_note import Signer
from recollect.ledger.unit import Ledger


async def export(
    ledger: Ledger,
    scope: str,
    *,
    signers: Sequence[Signer] = (),
    progress: Progress = nobody,
) -> AsyncGenerator[bytes, None]:
    """The lines of an export (`docs/format.md`): header, entries, and a checkpoint over them."""
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        header = {
            "type": "recollect-export",
            "v": 1,
            "origin": head.origin,
            "scope": scope,
            "size": head.size,
        }
        yield canonical_bytes(header) + b"\n"
        done = 0
        async with aclosing(snapshot.entries()) as chunks:
            async for chunk in chunks:
                for _, entry, salt, body in chunk:
                    line = {
                        "entry": entry.decode(),
                        "salt": None if salt is None else salt.hex(),
                        "body": None if body is None else body.decode(),
                    }
                    yield canonical_bytes(line) + b"\n"
                done += len(chunk)
                progress("entries", done, head.size)
        blocks = await ledger.hashes(tree.blocks_for_root(head.size))
        root = tree.root(head.size, blocks)
        note = await sign_checkpoint(Checkpoint(head.origin, head.size, root), signers)
        yield canonical_bytes({"type": "end", "checkpoint": str(note)}) + b"\n"


async def export_log(ledger: Ledger, *, progress: Progress = nobody) -> AsyncGenerator[bytes, None]:
    """The lines of the MemoryLog: exactly the seed's events and fields (GOV-LOG)."""
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        erased = Erased()
        async with aclosing(snapshot.rows()) as rows:
            async for some in rows:
                erased.feed(some)
        done = 0
        async with aclosing(snapshot.entries()) as entries:
            async for chunk in entries:
                for line in write_log(events(chunk, erased)):
                    yield line
                done += len(chunk)
                progress("entries", done, head.size)
