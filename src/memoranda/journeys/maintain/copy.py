"""Copying a journal into another database: the same entries, the same hashes, the same proofs."""

from contextlib import aclosing

from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.kernel.errors import StoreFailed
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.damage import Damages
from memoranda.ledger.port import Adoption, Ledger
from memoranda.ledger.snapshot import ATTACHMENTS, ENTRIES, ROWS
from memoranda.ledger.walk import Walk


async def copy(
    source: Ledger, target: Adoption, database: str, at: int, *, progress: Progress = nobody
) -> int:
    """Copy a journal with its rows, what landed with it, and its checkpoints; its size.

    The journal is walked on its way: a damaged one is not copied, and StoreFailed says why.
    """
    damages = Damages()
    async with source.snapshot() as snapshot:
        head = await snapshot.head()
        walk = Walk(head.origin, damages)
        async with aclosing(snapshot.rows(ENTRIES)) as chunks:
            async for entries in chunks:
                walk.feed(entries)
                _refuse(damages, database)
                await target.entries(entries)
                progress("entries", walk.size, head.size)
        if (walk.size, walk.last_hash) != (head.size, head.entry_hash.hex()):
            damages.add("head", None, "the journal does not end where its head says")
            _refuse(damages, database)
        async with aclosing(snapshot.rows(ROWS)) as chunks_of_rows:
            async for rows in chunks_of_rows:
                await target.rows(rows)
        async with aclosing(snapshot.rows(ATTACHMENTS)) as chunks:
            async for attachments in chunks:
                await target.attachments(attachments)
    notes = [(parse_checkpoint(note).checkpoint.size, note) for note in await source.notes()]
    await target.notes([note for note in notes if note[0] <= walk.size], at)
    return walk.size


def _refuse(damages: Damages, database: str) -> None:
    if damages:
        why = f"its journal is damaged ({damages.found[0]}); run `memoranda verify`"
        raise StoreFailed(database, why)
