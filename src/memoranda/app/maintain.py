"""Whole databases by URL: copies, which are verified before they are believed, and a worker."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from memoranda.app.audit import DatabaseAudit, ScopeProgress, verify_opened
from memoranda.app.databases import file_url, hidden, journals_at
from memoranda.app.opening import connect
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.audit.verify import nobody
from memoranda.journeys.maintain.schedule import JobRun
from memoranda.journeys.maintain.upkeep import copy
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import (
    ScopeExists,
    ScopeNotFound,
    StoreFailed,
    StoreUnavailable,
)
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.outside.files import sync_folder
from memoranda.recall.embedder import Embedder

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
    audit = await _copied(source_url, target_url, scopes, None, progress, bodies)
    if not audit.is_sound:
        reports = [scope.report.damages for scope in audit.scopes]
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
    return await _copied(file_url(file), target_url, None, seal, progress, bodies)


async def upgrade(url: str) -> Sequence[str]:
    """Bring the schema of a database up to date, on purpose; which migrations were applied.

    The first write of a newer memoranda does the same; a read never does. Nothing is made.
    """
    async with journals_at(url, create=False) as database:
        return await database.upgrade()


async def work(
    url: str,
    stop: asyncio.Event,
    *,
    seal: Seal | None = None,
    embedder: Embedder | None = None,
    tell: Callable[[JobRun], None],
) -> None:
    """Run the maintenance jobs of all scopes that are due, one at a time, until it is to stop.

    What it has begun then is put back, for another worker or the next one.
    """
    async with connect(url, seal=seal, embedder=embedder, create=False) as database:
        working = asyncio.ensure_future(database._worker(tell=tell).work())  # noqa: SLF001 - its own
        stopped = asyncio.ensure_future(stop.wait())
        done, _ = await asyncio.wait({working, stopped}, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        working.cancel()
        await asyncio.wait({working})
        if working in done:
            working.result()


# ---------------------------------------------------------------------------- copying


async def _copied(
    source_url: str,
    target_url: str,
    scopes: Sequence[str] | None,
    seal: Seal | None,
    progress: ScopeProgress | None,
    bodies: BodyCodec,
) -> DatabaseAudit:
    """Copy scopes, and verify what arrived.

    Nothing is written before each is known to be here, and none there.
    """
    async with journals_at(source_url, bodies=bodies, read_only=True) as source:
        origins = await source.journals()
        named = [name for name in sorted(origins) if name != DIRECTORY]
        asked = named if scopes is None else list(dict.fromkeys(scopes))
        for scope in asked:
            if scope not in named:
                raise ScopeNotFound(hidden(source_url), scope)
        async with journals_at(target_url, bodies=bodies) as target:
            known = await target.journals()
            for scope in asked:
                if scope in known:
                    raise ScopeExists(hidden(target_url), scope)
            await target.upgrade()
            for scope in asked:
                ledger = await source.existing(scope)
                assert ledger is not None  # noqa: S101 - it is among its journals
                now = SystemClock().now_ms()
                tell = progress(scope) if progress else nobody
                async with target.adoption(scope, origins[scope], now) as adoption:
                    await copy(ledger, adoption, hidden(source_url), now, progress=tell)
            return await verify_opened(
                target, target_url, scopes=asked, seal=seal, progress=progress
            )


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
