"""Exports: a journal as NDJSON that anyone can verify; MemoryLog and MemoryObjects of seed 003."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from memoranda.identity import canonical_bytes, decode
from memoranda.identity.merkle import Frontier, leaf_hash
from memoranda.journeys.audit.checkpoints import root_at
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.kernel.errors import EntryDamaged, InvalidProof
from memoranda.ledger.checkpoint import Checkpoint, sign_checkpoint
from memoranda.ledger.codec import check_readable
from memoranda.ledger.entry import read_entry
from memoranda.ledger.log import Erased, events, is_as_written, write_log
from memoranda.ledger.object import sealed, status_of
from memoranda.ledger.port import Ledger
from memoranda.ledger.signed_note import Signer
from memoranda.ledger.snapshot import ENTRIES, ROWS, LedgerSnapshot
from memoranda.ledger.unit import StoredEntry
from memoranda.ledger.walk import OBJECT_KINDS


async def export(
    ledger: Ledger,
    scope: str,
    *,
    signers: Sequence[Signer] = (),
    progress: Progress = nobody,
) -> AsyncGenerator[bytes, None]:
    """The lines of an export (`docs/format.md`): header, entries, and a checkpoint over them.

    A damaged journal is exported as it is: whoever verifies the export finds the damage. What can't
    be unpacked is not exported: BodyUnreadable.
    """
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        header = {
            "type": "memoranda-export",
            "v": 1,
            "origin": head.origin,
            "scope": scope,
            "size": head.size,
        }
        yield canonical_bytes(header) + b"\n"
        done = 0
        async with aclosing(snapshot.rows(ENTRIES)) as chunks:
            async for chunk in chunks:
                check_readable(stored.body for stored in chunk)
                for _, entry, salt, body in chunk:
                    line = {
                        "entry": _text(entry),
                        "salt": None if salt is None else salt.hex(),
                        "body": None if body is None else _text(body),
                    }
                    yield canonical_bytes(line) + b"\n"
                done += len(chunk)
                progress("entries", done, head.size)
        checkpoint = Checkpoint(head.origin, done, await _root(ledger, snapshot, done))
        note = await sign_checkpoint(checkpoint, signers)
        yield canonical_bytes({"type": "end", "checkpoint": str(note)}) + b"\n"


def _text(stored: bytes) -> str:
    """Stored bytes as a string. What is no text gets escapes that no JSON has, and so no form."""
    return stored.decode(errors="backslashreplace").replace("\0", r"\x00")


async def _root(ledger: Ledger, snapshot: LedgerSnapshot, size: int) -> bytes:
    try:
        return await root_at(ledger, size)
    except InvalidProof:
        frontier = Frontier()
        async with aclosing(snapshot.rows(ENTRIES)) as chunks:
            async for chunk in chunks:
                for stored in chunk:
                    frontier, _ = frontier.append(leaf_hash(stored.entry))
        return frontier.root()


async def export_log(ledger: Ledger, *, progress: Progress = nobody) -> AsyncGenerator[bytes, None]:
    """The lines of the MemoryLog: exactly the seed's events and fields (GOV-LOG).

    The log of a damaged journal is exported all the same, for it has the breaks: it says so in the
    place of what is not what was written.
    """
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        erased = await _erased(snapshot)
        done = 0
        async with aclosing(snapshot.rows(ENTRIES)) as entries:
            async for chunk in entries:
                check_readable(stored.body for stored in chunk)
                for line in write_log(events(chunk, erased)):
                    yield line
                done += len(chunk)
                progress("entries", done, head.size)


async def export_objects(
    ledger: Ledger, *, subject: str | None = None, progress: Progress = nobody
) -> AsyncGenerator[bytes, None]:
    """Every version of every object, a line each with its integrity hash, in the journal's order.

    What was erased is left out, tombstones too: nothing of it is left to export (GOV-OBJECT).
    With a `subject`, only what is about that person.
    EntryDamaged where something is not what was written: its hash would be made anew here.
    """
    async with ledger.snapshot() as snapshot:
        head = await snapshot.head()
        erased = await _erased(snapshot)
        done = 0
        async with aclosing(snapshot.rows(ENTRIES)) as entries:
            async for chunk in entries:
                _check_written(chunk, erased)
                for stored in chunk:
                    if stored.body is None or read_entry(stored.entry).kind not in OBJECT_KINDS:
                        continue
                    document = decode(stored.body)
                    is_asked = subject is None or document.get("subject") == subject
                    if is_asked and status_of(document) != "erased":
                        yield canonical_bytes(sealed(document)) + b"\n"
                done += len(chunk)
                progress("entries", done, head.size)


async def _erased(snapshot: LedgerSnapshot) -> Erased:
    erased = Erased()
    async with aclosing(snapshot.rows(ROWS)) as rows:
        async for some in rows:
            check_readable(row.body for row in some)
            erased.feed(some)
    return erased


def _check_written(chunk: Sequence[StoredEntry], erased: Erased) -> None:
    """Refuse an object that is gone and was not erased, or that is another one."""
    check_readable(stored.body for stored in chunk)
    for stored in chunk:
        if read_entry(stored.entry).kind not in OBJECT_KINDS or stored.seq in erased.versions:
            continue
        if stored.body is None:
            raise EntryDamaged(stored.seq, "body", "its body is not there, and nothing says why")
        if not is_as_written(stored):
            raise EntryDamaged(stored.seq, "body", "its body is not the one that was written")
