"""What a re-audit rests on: a report of `verify`, of the journal as it is (GOV-BREAK)."""

from collections.abc import Collection, Mapping, Sequence

from memoranda.journeys.audit.verify import Report
from memoranda.kernel.errors import AuditRefused, InvalidProof
from memoranda.ledger.damage import Damage, first_damages
from memoranda.ledger.entry import NOTICES, entry_hash, read_entry
from memoranda.ledger.governance import Governance
from memoranda.ledger.unit import Head

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
    found = [one for one in report.damages.found if one.name != "signature"]
    damages = first_damages(found, state.damaged)
    # 2.
    if not report.damages.is_whole:
        why = f"there is too much damage ({report.damages.counts.total():,}) to accept each"
        raise AuditRefused(f"{why}; restore a backup, or copy what is sound to a new database")
    # 3.
    named = {str(one) for one in accept}
    missing = [
        one for one in damages if one.name not in state.accepted and one.accepted_as not in named
    ]
    if missing:
        shown = "; ".join(str(one) for one in missing[:_NAMED])
        more = f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""
        asked = tuple(sorted({one.accepted_as for one in missing}))
        why = f"there is damage that nobody accepted: {shown}{more}"
        how = f"mend it, or accept it by its entry or its check ({', '.join(asked[:_NAMED])})"
        raise AuditRefused(f"{why}; {how}", asked)
    # 4.
    unknown = named - {one.accepted_as for one in damages}
    if unknown:
        raise AuditRefused(f"{min(unknown)!r} is to be accepted, and the report has no such damage")
    return damages


def lifted(state: Governance, size: int, accepted: Sequence[Damage]) -> list[str]:
    """The breaks that a report of so many entries looked at: those before it, and its own."""
    names = {one.name for one in accepted}
    return [
        id
        for id, one in state.standing.items()
        if one.seq < size or (one.damages and one.damages <= names)
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
