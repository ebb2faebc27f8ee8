"""Auditing databases by URL: verify and export.

Nothing is written but the conformance breaks that damage is, where that is asked for.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Literal, cast

from memoranda.app.databases import LedgerDatabase, hidden, journals_at
from memoranda.journeys.audit.checkpoints import Checkpoints, Seal
from memoranda.journeys.audit.export import export, export_log, export_objects
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.audit.whole import Audit, audit, directory_heads, vanished
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import FilteredLedger, GovernedTable
from memoranda.kernel.clock import Randomness, SystemClock
from memoranda.kernel.errors import ScopeNotFound, StoreError
from memoranda.kernel.results import Result
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import KeptNote
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.damage import Damages
from memoranda.ledger.signed_note import Signer

ExportKind = Literal["journal", "log", "objects"]
ScopeProgress = Callable[[str], Progress]
"""Makes the progress of one scope."""


@dataclass(frozen=True, slots=True, repr=False)
class DatabaseAudit(Result):
    """What an audit of a database found: its scopes, its directory, and what is gone whole."""

    scopes: Sequence[Audit]
    directory: Audit | None
    damages: Damages

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong anywhere."""
        parts = [*self.scopes, *([self.directory] if self.directory else [])]
        return not self.damages and all(part.is_sound for part in parts)

    def wire_members(self) -> Mapping[str, object]:
        """Whether it is sound, and what was found of each journal."""
        return {
            "sound": self.is_sound,
            "scopes": self.scopes,
            "directory": self.directory,
            "damage": self.damages,
        }


async def verify_database(
    url: str,
    *,
    scopes: Sequence[str] | None = None,
    seal: Seal | None = None,
    kept: Sequence[KeptNote] = (),
    expected: Sequence[str] = (),
    require_signature: bool = False,
    quorum: int = 0,
    record: bool = False,
    progress: ScopeProgress | None = None,
    bodies: BodyCodec = PLAIN,
) -> DatabaseAudit:
    """Verify the scopes of a database, all or some, its directory, and that none has vanished.

    `kept` are checkpoints that somebody kept outside; each is compared with the journal of its
    origin, and one whose journal is not there is damage. So is an `expected` origin that no journal
    has: a witness knows journals by that. With `require_signature` it is damage, too, where entries
    are under no checkpoint that one of the seal's known keys has signed; with `quorum`, where fewer
    of its witnesses than that have cosigned them. With `record`, damage of a scope is logged there
    as a conformance break, if it can be written.
    """
    async with journals_at(url, read_only=True, bodies=bodies) as database:
        found = await verify_opened(
            database,
            url,
            scopes=scopes,
            seal=seal,
            kept=kept,
            expected=expected,
            require_signature=require_signature,
            quorum=quorum,
            progress=progress,
        )
    return await _on_record(found, url, seal or Seal(), bodies) if record else found


async def verify_opened(
    database: LedgerDatabase,
    url: str,
    *,
    scopes: Sequence[str] | None = None,
    seal: Seal | None = None,
    kept: Sequence[KeptNote] = (),
    expected: Sequence[str] = (),
    require_signature: bool = False,
    quorum: int = 0,
    progress: ScopeProgress | None = None,
) -> DatabaseAudit:
    """The same for a database that is open already; its URL is for messages."""
    seal, damages = seal or Seal(), Damages()
    origins = await database.journals()
    asked = sorted(origins) if scopes is None else scopes
    for scope in asked:
        if scope not in origins:
            raise ScopeNotFound(hidden(url), scope)
    heads = []
    if DIRECTORY in origins:
        directory = await _checkpoints(database, DIRECTORY, seal)
        heads = await directory_heads(directory.ledger, damages)
        vanished(heads, origins.values(), damages)
    by_origin = {origin: scope for scope, origin in origins.items()}
    audits: dict[str, Audit] = {}
    for scope in asked:
        mine = [note for note in kept if by_origin.get(_origin(note)) == scope]
        checkpoints = await _checkpoints(database, scope, seal)
        tell = progress(scope) if progress else nobody
        audits[scope] = await audit(
            checkpoints,
            heads=heads,
            kept=mine,
            require_signature=require_signature,
            quorum=quorum,
            progress=tell,
        )
    for note in kept:
        if _origin(note) not in by_origin:
            damages.add("anchor", None, f"{note.where}: {_origin(note)} is not in this database")
    for origin in expected:
        if origin not in by_origin:
            damages.add("anchor", None, f"expected: {origin} is not in this database")
    directory_audit = audits.pop(DIRECTORY, None)
    return DatabaseAudit(list(audits.values()), directory_audit, damages)


async def _on_record(
    found: DatabaseAudit, url: str, seal: Seal, bodies: BodyCodec
) -> DatabaseAudit:
    """The same, its damage logged: only where there is some is the database opened to write."""
    if all(scope.is_sound for scope in found.scopes):
        return found
    async with AsyncExitStack() as stack:
        try:
            opening = journals_at(url, create=False, bodies=bodies)
            database = await stack.enter_async_context(opening)
        except StoreError:  # it was read, and can't be written
            unrecorded = [
                scope if scope.is_sound else replace(scope, recorded=False)
                for scope in found.scopes
            ]
            return replace(found, scopes=unrecorded)
        scopes = [
            scope
            if scope.is_sound
            else await _recorded(await _checkpoints(database, scope.scope, seal), scope)
            for scope in found.scopes
        ]
        return replace(found, scopes=scopes)


async def _recorded(checkpoints: Checkpoints, found: Audit) -> Audit:
    drafts = Drafts(checkpoints.scope, Randomness())
    table = GovernedTable(cast("FilteredLedger", checkpoints.ledger), drafts)
    conformance = Conformance(checkpoints.scope, table, drafts, SystemClock(), checkpoints)
    return await conformance.recorded(found)


def exported(
    ledger: FilteredLedger,
    scope: str,
    kind: ExportKind,
    signers: Sequence[Signer],
    progress: Progress,
    subject: str | None = None,
) -> AsyncGenerator[bytes, None]:
    """The lines of an export: the journal, or what seed 003 calls its log and its objects."""
    match kind:
        case "journal":
            return export(ledger, scope, signers=signers, progress=progress)
        case "log":
            return export_log(ledger, progress=progress)
        case "objects":
            return export_objects(ledger, subject=subject, progress=progress)


async def export_scope(
    url: str,
    scope: str,
    kind: ExportKind = "journal",
    *,
    signers: Sequence[Signer] = (),
    progress: Progress = nobody,
    bodies: BodyCodec = PLAIN,
) -> AsyncGenerator[bytes, None]:
    """The lines of the export of a scope (docs/format.md)."""
    async with journals_at(url, read_only=True, bodies=bodies) as database:
        ledger = await database.existing(scope)
        if ledger is None:
            raise ScopeNotFound(hidden(url), scope)
        async with aclosing(exported(ledger, scope, kind, signers, progress)) as lines:
            async for line in lines:
                yield line


async def _checkpoints(database: LedgerDatabase, scope: str, seal: Seal) -> Checkpoints:
    ledger = await database.existing(scope)
    assert ledger is not None  # noqa: S101 - it was found before, and no journal ever goes
    return Checkpoints(scope, ledger, seal)


def _origin(kept: KeptNote) -> str:
    return kept.text.partition("\n")[0]
