"""Histories, by URL or from exports that are kept as files: replayed, and nothing is written."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

from recollect.app.databases import acquire, release
from recollect.app.url import file_url, hidden
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.table import GovernedTable
from recollect.journeys.intent.chronicle import Chronicle
from recollect.journeys.intent.history import History
from recollect.journeys.intent.replaying import Replay
from recollect.journeys.intent.runtime import Runtime, of_domain
from recollect.kernel.clock import SystemClock
from recollect.kernel.errors import CapabilityMissing, InvalidJson, InvalidProof, StoreUnavailable
from recollect.kernel.json import parse
from recollect.kernel.randomness import Randomness
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.entry import body_digest, read_entry
from recollect.ledger.unit import Adoption, StoredEntry
from recollect.stores.dictionary import DictDatabase
from recollect.worlds.domain import Domain

AT_ONCE: Final = 500
"""So many lines of an export are read in one go."""


@asynccontextmanager
async def history(
    url: str, scope: str, domain: Domain | Runtime, *, bodies: BodyCodec = PLAIN
) -> AsyncIterator[History]:
    """The history of a scope; StoreUnavailable where database or scope are not there."""
    database, lease = await acquire(url, SystemClock(), create=False, bodies=bodies)
    try:
        if isinstance(database, DictDatabase):
            raise CapabilityMissing("a journal")
        if scope not in await database.scopes():
            raise StoreUnavailable(hidden(url), f"there is no scope {scope!r} in it")
        randomness = Randomness()
        table = GovernedTable(await database.ledger(scope, "", 0), Drafts(scope, randomness))
        runtime = of_domain(domain) if isinstance(domain, Domain) else domain
        yield History(Chronicle(table, randomness), runtime)
    finally:
        await release(lease)


@asynccontextmanager
async def exported_history(file: str | Path, domain: Domain | Runtime) -> AsyncIterator[History]:
    """The history that an export holds, in a database that is there for as long as it is used.

    InvalidProof for a file that is no export, or whose entries don't follow each other.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        url = file_url(Path(folder) / "history.db")
        scope = await _adopted(Path(file), url)
        async with history(url, scope, domain) as found:
            yield found


async def replay_export(file: str | Path, domain: Domain | Runtime) -> AsyncGenerator[Replay, None]:
    """Replay everything in an export, such as one that is kept with the tests of a domain.

    ::

        async for replay in recollect.replay_export("tests/histories/shop.ndjson", shop):
            assert replay.is_same, replay.why
    """
    async with exported_history(file, domain) as found, aclosing(found.whole()) as replays:
        async for replay in replays:
            yield replay


# --------------------------------------------------------------------------- adopting


async def _adopted(file: Path, url: str) -> str:
    """Take over the entries of an export; the scope that they are of."""
    with await asyncio.to_thread(file.open, encoding="utf-8") as lines:
        header = _read(file, 1, await asyncio.to_thread(lines.readline))
        if header.get("type") != "recollect-export":
            raise InvalidProof(f"{file} is no export of a journal")
        scope, origin = header["scope"], header["origin"]
        database, lease = await acquire(url, SystemClock())
        try:
            assert not isinstance(database, DictDatabase)  # noqa: S101 - the URL names a file
            async with database.adoption(scope, origin, 0) as adoption:
                size = await _adopt(file, lines, adoption)
        finally:
            await release(lease)
    if size != header["size"]:
        raise InvalidProof(f"{file} has {size} entries, and its header says {header['size']}")
    return str(scope)


async def _adopt(file: Path, lines: TextIO, adoption: Adoption) -> int:
    size = 0
    while some := await asyncio.to_thread(lambda: list(islice(lines, AT_ONCE))):
        entries = _entries(file, some, size)
        await adoption.entries(entries)
        size += len(entries)
    return size


def _entries(file: Path, lines: Sequence[str], size: int) -> list[StoredEntry]:
    """The entries of some lines, each with the body that it was written with."""
    found = []
    for seq, line in enumerate(lines, size):
        said = _read(file, seq + 2, line)
        if said.get("type") == "end":
            break
        entry = said["entry"].encode()
        salt, body = said["salt"], said["body"]
        if body is None:
            found.append(StoredEntry(seq, entry, None, None))
            continue
        stored = StoredEntry(seq, entry, bytes.fromhex(salt), body.encode())
        if body_digest(bytes.fromhex(salt), body.encode()) != read_entry(entry).body_digest:
            raise InvalidProof(f"entry {seq} of {file} has another body than it was written with")
        found.append(stored)
    return found


def _read(file: Path, number: int, line: str) -> Any:
    try:
        said = parse(line.encode())
    except InvalidJson as refused:
        raise InvalidProof(f"line {number} of {file} is no JSON ({refused.why})") from None
    return said if isinstance(said, dict) else {}
