"""Copies and backups of databases by URL, verified before they are believed."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from recollect.app.audit import DatabaseAudit, ScopeProgress, verify_database
from recollect.app.databases import LedgerDatabase, acquire, release
from recollect.app.url import file_url, hidden
from recollect.journeys.audit.checkpoints import Seal
from recollect.journeys.audit.verify import nobody
from recollect.journeys.maintain.copy import copy
from recollect.kernel.clock import Clock, SystemClock
from recollect.kernel.errors import CapabilityMissing, StoreFailed, StoreUnavailable
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.directory import SCOPE as DIRECTORY
from recollect.outside.files import sync_folder
from recollect.stores.dictionary import DictDatabase

_MODE: Final = 0o600


async def copy_scopes(
    source_url: str,
    target_url: str,
    *,
    scopes: Sequence[str] | None = None,
    progress: ScopeProgress | None = None,
    bodies: BodyCodec = PLAIN,
) -> DatabaseAudit:
    """Copy scopes, all or some, into another database, which must not have them yet.

    A journal keeps its origin, chain, tree and checkpoints. Each scope lands whole or not at all;
    what has arrived is verified. `bodies` says how bodies are stored, here and there.
    """
    copied = await _copied(source_url, target_url, scopes, progress, bodies)
    audit = await verify_database(target_url, scopes=copied, progress=progress, bodies=bodies)
    if not audit.is_sound:
        reports = [one.report.damages for one in audit.scopes]
        first = next(damage for part in (*reports, audit.damages) for damage in part.found)
        raise StoreFailed(hidden(target_url), f"what arrived is damaged ({first}); keep the source")
    return audit


async def backup(
    url: str,
    file: str | Path,
    *,
    progress: ScopeProgress | None = None,
    bodies: BodyCodec = PLAIN,
) -> DatabaseAudit:
    """Copy everything into a new SQLite file while writing goes on, and verify it there.

    The file has its name when all of it is on the disk and was found to be sound, never before.
    Only its owner can read it.
    """
    path = Path(file)
    folder = await asyncio.to_thread(_new_folder, path)
    try:
        part = folder / path.name
        audit = await copy_scopes(url, file_url(part), progress=progress, bodies=bodies)
        await asyncio.to_thread(_give_name, part, path)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)
    return audit


async def restore(
    file: str | Path,
    target_url: str,
    *,
    seal: Seal | None = None,
    progress: ScopeProgress | None = None,
    bodies: BodyCodec = PLAIN,
) -> DatabaseAudit:
    """Copy what a backup has into a database that must not have it, and audit what arrived.

    It is compared with every anchor of the seal. One that has seen entries from after the backup
    finds that the journal is shorter than it was: that is damage of the report, as it must be.
    """
    copied = await _copied(file_url(file), target_url, None, progress, bodies)
    return await verify_database(
        target_url, scopes=copied, seal=seal, progress=progress, bodies=bodies
    )


# ---------------------------------------------------------------------------- copying


async def _copied(
    source_url: str,
    target_url: str,
    scopes: Sequence[str] | None,
    progress: ScopeProgress | None,
    bodies: BodyCodec,
) -> Sequence[str]:
    """Copy scopes; which. Nothing is written before each is known to be here, and none there."""
    clock = SystemClock()
    async with _opened(source_url, clock, bodies, create=False) as source:
        origins = await source.journals()
        named = [name for name in sorted(origins) if name != DIRECTORY]
        asked = named if scopes is None else list(dict.fromkeys(scopes))
        for scope in asked:
            if scope not in named:
                raise StoreUnavailable(hidden(source_url), f"there is no scope {scope!r} in it")
        async with _opened(target_url, clock, bodies, create=True) as target:
            known = await target.journals()
            for scope in asked:
                if scope in known:
                    why = f"it has the scope {scope!r} already; name another database"
                    raise StoreUnavailable(hidden(target_url), why)
            for scope in asked:
                ledger = await source.ledger(scope, "", 0)
                now = clock.now_ms()
                tell = progress(scope) if progress else nobody
                async with target.adoption(scope, origins[scope], now) as adoption:
                    await copy(ledger, adoption, hidden(source_url), now, progress=tell)
    return asked


@asynccontextmanager
async def _opened(
    url: str, clock: Clock, bodies: BodyCodec, *, create: bool
) -> AsyncIterator[LedgerDatabase]:
    database, lease = await acquire(url, clock, create=create, bodies=bodies)
    try:
        if isinstance(database, DictDatabase):
            raise CapabilityMissing("a journal")
        yield database
    finally:
        await release(lease)


# ------------------------------------------------------------------- a backup's file


def _new_folder(path: Path) -> Path:
    """A folder for a backup in the making, beside it and closed to others."""
    if os.path.lexists(path):
        raise _exists(path)
    if not path.parent.is_dir():
        raise StoreUnavailable(str(path), f"there is no folder {path.parent}")
    return Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part"))


def _give_name(part: Path, path: Path) -> None:
    if part.with_name(f"{part.name}-wal").exists():
        raise StoreFailed(str(path), "the backup could not be closed")
    part.chmod(_MODE)
    try:
        os.link(part, path)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise _exists(path) from None
    sync_folder(path.parent)


def _exists(path: Path) -> StoreUnavailable:
    return StoreUnavailable(str(path), "it exists already; a backup never overwrites anything")
