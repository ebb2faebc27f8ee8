"""What is wrong with a journal as it is, and what a re-audit of it rests on (GOV-BREAK)."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Final, cast

from memoranda.journeys.audit.checkpoints import Checkpoints, checkpoint_of
from memoranda.journeys.audit.verify import Report
from memoranda.journeys.audit.whole import disagreeing
from memoranda.kernel.errors import (
    AuditRefused,
    EntryDamaged,
    InvalidProof,
    ItemDamaged,
    SessionDamaged,
)
from memoranda.ledger.damage import Check, Damage, first_damages
from memoranda.ledger.entry import NOTICES, entry_hash, genesis, read_entry
from memoranda.ledger.governance import Governance
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ROWS
from memoranda.ledger.tree import BLOCK
from memoranda.ledger.unit import Head

ANCHORED_AT_OPEN: Final = 8
"""How many of an anchor's newest notes are compared when a handle is opened; `verify` takes all."""


def damage_of(failed: BaseException | None) -> Damage | None:
    """The damage that a read met; None for an error that is no damage."""
    match failed:
        case ItemDamaged():
            return Damage("item", None, f"the item {failed.item}: {failed.why}")
        case SessionDamaged():
            return Damage("session", None, f"the session {failed.session!r}: {failed.why}")
        case EntryDamaged():
            return Damage(cast("Check", failed.part), failed.entry, failed.why)
    return None


async def damages_at_end(
    ledger: Ledger, checkpoints: Checkpoints, state: Governance
) -> list[Damage]:
    """What is wrong with the notices, the end of the journal and its newest checkpoints.

    The rest is for `verify`: nobody waits for that when a handle is opened.
    """
    found = [*state.unreadable, *await _at_end(ledger, await ledger.head())]
    # Where entries are gone, as a re-audit accepted, there is no root over them.
    if not found and len(await ledger.bytes_at(state.damaged)) == len(state.damaged):
        try:
            await checkpoint_of(ledger)
        except InvalidProof as damaged:
            found.append(Damage("tree", None, damaged.why))
    return found + [
        Damage("anchor", None, str(finding), disagreeing(finding))
        for finding in await checkpoints.findings(newest=ANCHORED_AT_OPEN)
        if finding.is_alarm
    ]


async def _at_end(ledger: Ledger, head: Head) -> list[Damage]:
    """Whether the journal ends where its head says, and its last block is whole.

    Somebody may write meanwhile: an entry beyond the head is one too many if the head stays.
    """
    found = []
    is_longer = bool(await ledger.bytes_at([head.size]))
    if is_longer and (await ledger.head()).size == head.size:
        found.append(Damage("seq", head.size, "it stands beyond the end of the journal"))
    if not head.size:
        if head.entry_hash.hex() != genesis(head.origin):
            found.append(Damage("head", None, "it is of no entry, and not of this journal"))
        return found
    block = range((head.size - 1) // BLOCK * BLOCK, head.size)
    stored = await ledger.bytes_at(block)
    found += [Damage("seq", seq, "it is not there") for seq in block if seq not in stored]
    last = stored.get(head.size - 1)
    if last is not None and entry_hash(last) != head.entry_hash:
        why = "the entry before it is not the one that it was written after"
        found.append(Damage("previous", head.size, why))
    return found


# ----------------------------------------------------------------------------- re-audits

_NAMED = 3
"""How many damages a refusal names."""


def check_report(
    report: Report,
    head: Head,
    since: Mapping[int, bytes],
    state: Governance,
    accept: Collection[int | str],
) -> list[Damage]:
    """The damage that a re-audit accepts; AuditRefused if it can't rest on this report.

    `since` are the entries that came after it.

    1. the report is of this journal as it is; what came since is about the whole memory, such as
       the breaks that `verify` logged
    2. all of its damage is listed
    3. all of it was accepted before, or is named: by its entry, or by its check if it has none
    4. nothing is named that is not in it
    """
    # 1.
    _check_present(report, head, since)
    # That nobody has signed is what an auditor asked for, and no damage.
    found = [damage for damage in report.damages.found if damage.name != "signature"]
    damages = first_damages(found, state.damaged)
    # 2.
    if not report.damages.is_whole:
        why = f"there is too much damage ({report.damages.counts.total():,}) to accept each"
        raise AuditRefused(f"{why}; restore a backup, or copy what is sound to a new database")
    # 3.
    named = {str(number) for number in accept}
    missing = [
        damage
        for damage in damages
        if damage.name not in state.accepted and damage.accepted_as not in named
    ]
    if missing:
        shown = "; ".join(str(damage) for damage in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        asked = tuple(sorted({damage.accepted_as for damage in missing}))
        why = f"there is damage that nobody accepted: {shown}{more}"
        how = f"mend it, or accept it by its entry or its check ({', '.join(asked[:_NAMED])})"
        raise AuditRefused(f"{why}; {how}", asked)
    # 4.
    unknown = named - {damage.accepted_as for damage in damages}
    if unknown:
        raise AuditRefused(f"{min(unknown)!r} is to be accepted, and the report has no such damage")
    return damages


def lifted(state: Governance, size: int, accepted: Sequence[Damage]) -> list[str]:
    """The breaks that a report of so many entries looked at: those before it, and its own."""
    names = {damage.name for damage in accepted}
    return [
        id
        for id, standing_break in state.standing.items()
        if standing_break.seq < size or (standing_break.damages and standing_break.damages <= names)
    ]


def _check_present(report: Report, head: Head, since: Mapping[int, bytes]) -> None:
    then = report.head
    why = "the report is of another journal, or of one that was rewritten since"
    if then.origin != head.origin or then.size > head.size:
        raise AuditRefused(f"{why}; verify again, and take that report")
    if len(since) < head.size - then.size:
        raise AuditRefused("entries that came after the report are not there; verify again")
    previous = then.entry_hash
    for seq, stored in sorted(since.items()):
        try:
            entry = read_entry(stored)
        except InvalidProof as refused:
            raise AuditRefused(f"entry {seq} is damaged: {refused.why}") from refused
        if entry.previous_entry_hash != previous.hex():
            raise AuditRefused(f"{why}; verify again, and take that report")
        if entry.kind not in NOTICES:
            grown = f"the journal grew from {then.size:,} to {head.size:,} entries since the report"
            raise AuditRefused(f"{grown}; stop who writes, verify again, and record it at once")
        previous = entry_hash(stored)
    if previous != head.entry_hash:
        raise AuditRefused(f"{why}; verify again, and take that report")


async def objects_at(ledger: Ledger, seqs: Collection[int]) -> set[str]:
    """The ids of the objects that these entries are about."""
    found: set[str] = set()
    if seqs:
        async with ledger.snapshot() as snapshot, aclosing(snapshot.rows(ROWS)) as chunks:
            async for rows in chunks:
                found |= {row.version.id for row in rows if row.seq in seqs}
    return found


def models_of(state: Governance, breaks: Collection[str]) -> dict[str, list[str]]:
    """The models that these breaks are about, by role."""
    roles: dict[str, set[str]] = {}
    for id in breaks:
        role, identity = state.standing[id].role, state.standing[id].identity
        if role is not None and identity is not None:
            roles.setdefault(role, set()).add(identity)
    return {role: sorted(known) for role, known in roles.items()}
