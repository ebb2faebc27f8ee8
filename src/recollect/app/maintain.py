"""Copies and backups of databases by URL, verified before they are believed."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from recollect.app.audit import DatabaseAudit, ScopeProgress, verify_database
from recollect.app.databases import LedgerDatabase, acquire, release
from recollect.journeys.audit.verify import nobody
from recollect.journeys.maintain.copy import copy
from recollect.kernel.clock import SystemClock
from recollect.kernel.errors import CapabilityMissing, StoreFailed, StoreUnavailable
from recollect.ledger.directory import SCOPE as DIRECTORY
from recollect.stores.dictionary import DictDatabase


async def copy_scopes(
    source_url: str,
    target_url: str,
    *,
    scopes: Sequence[str] | None = None,
    progress: ScopeProgress | None = None,
) -> DatabaseAudit:
    """Copy scopes, all or some, into another database, which must not have them yet.

    A journal keeps its origin, chain, tree and checkpoints. Each scope lands whole or not at all;
    what has arrived is verified.
    """
    clock = SystemClock()
    source, source_lease = await acquire(source_url, clock, create=False)
    try:
        target, target_lease = await acquire(target_url, clock)
        try:
            from_database, into = _governed(source), _governed(target)
            origins = await from_database.journals()
            asked = [name for name in sorted(origins) if name] if scopes is None else scopes
            for scope in asked:
                if scope not in origins or scope == DIRECTORY:
                    raise StoreUnavailable(source_url, f"there is no scope {scope!r} in it")
            for scope in asked:
                ledger = await from_database.ledger(scope, "", 0)
                now = clock.now_ms()
                tell = progress(scope) if progress else nobody
                async with into.adoption(scope, origins[scope], now) as adoption:
                    await copy(ledger, adoption, source_url, now, progress=tell)
            return await _verified(target_url, asked)
        finally:
            await release(target_lease)
    finally:
        await release(source_lease)


async def backup(
    url: str, file: str | Path, *, progress: ScopeProgress | None = None
) -> DatabaseAudit:
    """Copy everything into a new SQLite file while writing goes on, and verify it there."""
    path = Path(file)
    if await asyncio.to_thread(path.exists):
        raise StoreUnavailable(str(path), "it exists already; a backup never overwrites anything")
    return await copy_scopes(url, f"sqlite:///{path}", progress=progress)


async def _verified(url: str, scopes: Sequence[str]) -> DatabaseAudit:
    audit = await verify_database(url, scopes=scopes)
    if not audit.is_sound:
        found = [damage for one in audit.scopes for damage in one.report.damages.found]
        raise StoreFailed(url, f"what arrived is damaged ({found[0]}); keep the source")
    return audit


def _governed(database: LedgerDatabase | DictDatabase) -> LedgerDatabase:
    if isinstance(database, DictDatabase):
        raise CapabilityMissing("a journal")
    return database
