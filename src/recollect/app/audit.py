"""Auditing databases by URL: verify and export. Nothing is written."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from recollect.app.databases import LedgerDatabase, acquire, release
from recollect.app.url import hidden
from recollect.journeys.audit.checkpoints import Checkpoints, Seal
from recollect.journeys.audit.export import export, export_log
from recollect.journeys.audit.verify import Progress, nobody
from recollect.journeys.audit.whole import Audit, audit, directory_heads, vanished
from recollect.kernel.clock import SystemClock
from recollect.kernel.errors import CapabilityMissing, StoreUnavailable
from recollect.kernel.randomness import Randomness
from recollect.ledger.anchor import KeptNote
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.damage import Damages
from recollect.ledger.directory import SCOPE as DIRECTORY
from recollect.ledger.signed_note import Signer
from recollect.stores.dictionary import DictDatabase

ScopeProgress = Callable[[str], Progress]
"""Makes the progress of one scope."""


@dataclass(frozen=True, slots=True)
class DatabaseAudit:
    """What an audit of a database found: its scopes, its directory, and what is gone whole."""

    scopes: Sequence[Audit]
    directory: Audit | None
    damages: Damages

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong anywhere."""
        parts = [*self.scopes, *([self.directory] if self.directory else [])]
        return not self.damages and all(part.is_sound for part in parts)


async def verify_database(
    url: str,
    *,
    scopes: Sequence[str] | None = None,
    seal: Seal | None = None,
    kept: Sequence[KeptNote] = (),
    require_signature: bool = False,
    progress: ScopeProgress | None = None,
    bodies: BodyCodec = PLAIN,
) -> DatabaseAudit:
    """Verify the scopes of a database, all or some, its directory, and that none has vanished.

    `kept` are checkpoints that somebody kept outside; each is compared with the journal of its
    origin, and one whose journal is not there is damage. With `require_signature` it is damage,
    too, where entries are under no checkpoint that one of the seal's known keys has signed.
    """
    seal, damages = seal or Seal(), Damages()
    async with _opened(url, bodies) as database:
        origins = await database.journals()
        asked = sorted(origins) if scopes is None else scopes
        for scope in asked:
            if scope not in origins:
                raise StoreUnavailable(hidden(url), f"there is no scope {scope!r} in it")
        heads = []
        if DIRECTORY in origins:
            directory = await _checkpoints(database, DIRECTORY, seal)
            heads = await directory_heads(directory.ledger, damages)
            vanished(heads, origins.values(), damages)
        by_origin = {origin: scope for scope, origin in origins.items()}
        audits: dict[str, Audit] = {}
        for scope in asked:
            mine = [one for one in kept if by_origin.get(_origin(one)) == scope]
            checkpoints = await _checkpoints(database, scope, seal)
            tell = progress(scope) if progress else nobody
            audits[scope] = await audit(
                checkpoints,
                heads=heads,
                kept=mine,
                require_signature=require_signature,
                progress=tell,
            )
        for one in kept:
            if _origin(one) not in by_origin:
                damages.add("anchor", None, f"{one.where}: {_origin(one)} is not in this database")
        directory_audit = audits.pop(DIRECTORY, None)
        return DatabaseAudit(list(audits.values()), directory_audit, damages)


async def export_scope(
    url: str,
    scope: str,
    *,
    signers: Sequence[Signer] = (),
    progress: Progress | None = None,
    bodies: BodyCodec = PLAIN,
) -> AsyncGenerator[bytes, None]:
    """The lines of the export of a scope's journal (docs/format.md)."""
    async with _opened(url, bodies) as database:
        ledger = (await _existing(database, url, scope)).ledger
        lines = export(ledger, scope, signers=signers, progress=progress or nobody)
        async with aclosing(lines):
            async for line in lines:
                yield line


async def export_memory_log(
    url: str, scope: str, *, progress: Progress | None = None, bodies: BodyCodec = PLAIN
) -> AsyncGenerator[bytes, None]:
    """The lines of a scope's MemoryLog, as seed 003 has it."""
    async with _opened(url, bodies) as database:
        ledger = (await _existing(database, url, scope)).ledger
        lines = export_log(ledger, progress=progress or nobody)
        async with aclosing(lines):
            async for line in lines:
                yield line


@asynccontextmanager
async def _opened(url: str, bodies: BodyCodec) -> AsyncIterator[LedgerDatabase]:
    database, lease = await acquire(url, SystemClock(), create=False, bodies=bodies)
    try:
        if isinstance(database, DictDatabase):
            raise CapabilityMissing("a journal")
        yield database
    finally:
        await release(lease)


async def _existing(database: LedgerDatabase, url: str, scope: str) -> Checkpoints:
    if scope not in await database.journals():
        raise StoreUnavailable(hidden(url), f"there is no scope {scope!r} in it")
    return await _checkpoints(database, scope, Seal())


async def _checkpoints(database: LedgerDatabase, scope: str, seal: Seal) -> Checkpoints:
    ledger = await database.ledger(scope, "", 0)
    return Checkpoints(scope, ledger, ledger, seal, SystemClock(), Randomness())


def _origin(kept: KeptNote) -> str:
    return kept.text.partition("\n")[0]
