"""Histories, by URL or from exports that are kept as files: replayed, and nothing is written."""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from memoranda.app.databases import file_url, hidden, journals_at
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.intent.branches import Runtime, of_domain
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.replays import Replay, WorldHistory
from memoranda.kernel.actors import check_scope
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import InvalidJson, InvalidProof, ScopeNotFound
from memoranda.kernel.json import parse
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.entry import body_digest, read_entry
from memoranda.ledger.port import Adoption
from memoranda.ledger.unit import StoredEntry
from memoranda.worlds.domain import Domain

_HEXADECIMAL: Final = re.compile(r"(?:[0-9a-f]{2})+")

AT_ONCE: Final = 500
"""So many lines of an export are read in one go."""


@asynccontextmanager
async def history(
    url: str, scope: str, domain: Domain | Runtime, *, bodies: BodyCodec = PLAIN
) -> AsyncIterator[WorldHistory]:
    """The history of a scope; StoreUnavailable or ScopeNotFound where there is none."""
    async with journals_at(url, read_only=True, bodies=bodies) as database:
        ledger = await database.existing(scope)
        if ledger is None:
            raise ScopeNotFound(hidden(url), scope)
        randomness = Randomness()
        table = GovernedTable(ledger, Drafts(scope, randomness))
        runtime = of_domain(domain) if isinstance(domain, Domain) else domain
        yield WorldHistory(Chronicle(table, randomness), runtime)


@asynccontextmanager
async def exported_history(
    file: str | Path, domain: Domain | Runtime
) -> AsyncIterator[WorldHistory]:
    """The history that an export holds, in a database that is there for as long as it is used.

    InvalidProof for a file that is no export, or whose entries don't follow each other.
    """
    with tempfile.TemporaryDirectory(prefix="memoranda-") as folder:
        url = file_url(Path(folder) / "history.db")
        scope = await _adopted(Path(file), url)
        async with history(url, scope, domain) as found:
            yield found


async def replay_export(file: str | Path, domain: Domain | Runtime) -> AsyncGenerator[Replay, None]:
    """Replay everything in an export, such as one that is kept with the tests of a domain.

    ::

        async for replay in memoranda.replay_export("histories/shop.ndjson", shop):
            assert replay.is_same, replay.why
    """
    async with exported_history(file, domain) as found, aclosing(found.whole()) as replays:
        async for replay in replays:
            yield replay


# --------------------------------------------------------------------------- adopting


async def _adopted(file: Path, url: str) -> str:
    """Take over the entries of an export; the scope that they are of."""
    with await asyncio.to_thread(file.open, "rb") as lines:
        header = _read(file, 1, await asyncio.to_thread(lines.readline))
        match header:
            case {"type": "memoranda-export", "scope": str(), "origin": str(), "size": int()}:
                scope, origin = check_scope(header["scope"]), header["origin"]
            case _:
                raise InvalidProof(f"{file} is no export of a journal: its first line says none")
        async with (
            journals_at(url) as database,
            database.adoption(scope, origin, 0) as adoption,
        ):
            size = await _adopt(file, lines, adoption)
    if size != header["size"]:
        raise InvalidProof(f"{file} has {size} entries, and its header says {header['size']}")
    return str(scope)


async def _adopt(file: Path, lines: BinaryIO, adoption: Adoption) -> int:
    size = 0
    while some := await asyncio.to_thread(lambda: list(islice(lines, AT_ONCE))):
        entries = _entries(file, some, size)
        await adoption.entries(entries)
        size += len(entries)
    return size


def _entries(file: Path, lines: Sequence[bytes], size: int) -> list[StoredEntry]:
    """The entries of some lines, each with the body that it was written with."""
    found = []
    for seq, line in enumerate(lines, size):
        said = _read(file, seq + 2, line)
        if said.get("type") == "end":
            break
        match said:
            case {"entry": str(entry), "body": None}:
                found.append(StoredEntry(seq, entry.encode(), None, None))
            case {"entry": str(entry), "body": str(body), "salt": str(hexadecimal)} if (
                _HEXADECIMAL.fullmatch(hexadecimal)
            ):
                salt = bytes.fromhex(hexadecimal)
                if body_digest(salt, body.encode()) != read_entry(entry.encode()).body_digest:
                    why = f"entry {seq} of {file} has another body than it was written with"
                    raise InvalidProof(why)
                found.append(StoredEntry(seq, entry.encode(), salt, body.encode()))
            case _:
                raise InvalidProof(f"line {seq + 2} of {file} is no entry with its body")
    return found


def _read(file: Path, number: int, line: bytes) -> Any:
    try:
        said = parse(line)
    except InvalidJson as refused:
        raise InvalidProof(f"line {number} of {file} is no JSON ({refused.why})") from None
    return said if isinstance(said, dict) else {}
