"""What an audit of a database found, and the status of its scopes.

Damage is shown whole: how much of each kind, and the first of it. What an audit can't know is
said as plainly, because a database that is sound by itself may still be another one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.app.surfaces import KeptNote
from memoranda.formats import check_signatures, parse_checkpoint
from memoranda.policies import Policy
from memoranda.surfaces.cli.present import (
    Output,
    blocks,
    counted,
    details,
    item,
    plain,
    shows,
    statement,
    table,
)
from memoranda.surfaces.errors import NOT_SOUND, NOT_THERE
from memoranda.types import (
    Audit,
    Brought,
    Damage,
    Damages,
    DatabaseAudit,
    Reindexed,
    Seal,
    Status,
    WitnessAnchor,
)

DIRECTORY = "(directory)"


def parts(found: DatabaseAudit) -> Sequence[Audit]:
    """The audits of all journals, the directory last."""
    return [*found.scopes, *([] if found.directory is None else [found.directory])]


def unreachable(found: DatabaseAudit) -> dict[str, str]:
    """The anchors that could not be read, and why."""
    return {name: why for part in parts(found) for name, why in part.unreachable.items()}


def copied(done: str, found: DatabaseAudit, source: str, target: str) -> Output:
    """Scopes that were copied, and found sound where they arrived."""
    line = Text(_copied(done, found, source, target))
    rows = [[*_counts(part), Text("sound", "green")] for part in found.scopes]  # else it raises
    words = Group(line, Text(), table(f"{_COUNTS}, on arrival", rows)) if rows else line
    return Output({"from": source, "to": target, "scopes": found.scopes}, words)


def verified(
    found: DatabaseAudit, seal: Seal, kept: Sequence[KeptNote] = (), quorum: int = 0
) -> Output:
    """An audit: the table, all damage, and what can and can't be known.

    A comparison that was asked for and could not be made is no success, unless it is that of a
    witness and there are enough others.
    """
    failed = unreachable(found)
    needed = {
        anchor.name for anchor in seal.anchors if not (quorum and isinstance(anchor, WitnessAnchor))
    }
    is_incomplete = any(name in needed for name in failed)
    anchors = [
        {
            "name": anchor.name,
            "reachable": anchor.name not in failed,
            "why": failed.get(anchor.name),
        }
        for anchor in seal.anchors
    ]
    document = {**found.to_wire(), "anchors": anchors, "cannotTell": list(limits(found))}
    status = NOT_SOUND if not found.is_sound else NOT_THERE if is_incomplete else 0
    return Output(document, _audit(found, seal, kept, is_incomplete=is_incomplete), status)


def restored(found: DatabaseAudit, seal: Seal, source: str, target: str) -> Output:
    """A backup that was put back, and what an audit of it says."""
    audit = verified(found, seal)
    summary = Text(_copied("restored", found, source, target))
    words = blocks([summary, audit.words, Text(_after_restoring(found))])
    return Output({"from": source, "to": target, **audit.document}, words, audit.exit_status)


def _copied(done: str, found: DatabaseAudit, source: str, target: str) -> str:
    scopes = counted(len(found.scopes), "scope")
    entries = counted(sum(part.report.size for part in found.scopes), "entry", "entries")
    return f"{done} {scopes}, {entries}, from {plain(source)} to {plain(target)}"


def _audit(
    found: DatabaseAudit, seal: Seal, kept: Sequence[KeptNote], *, is_incomplete: bool
) -> RenderableType:
    columns = f"{_COUNTS}, checkpoints, kept outside, verdict"
    shown: list[RenderableType] = [table(columns, map(_row, parts(found)))]
    shown += [_damage(name, damages) for name, damages in _all_damage(found)]
    shown.append(Text())
    notes = (
        *_records(found),
        *_signatures(found),
        *_anchors(found, seal),
        *_agreeing(found, kept),
        *limits(found),
    )
    shown += [item("- ", sentence) for sentence in notes]
    if found.is_sound and is_incomplete:
        last = Text("Sound, but an anchor that was to be compared could not be read.", "yellow")
    elif found.is_sound:
        last = Text("Sound: nothing that was looked at is damaged.", "green")
    else:
        kinds = sum((damages.counts for _, damages in _all_damage(found)), Counter())
        what = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        last = Text(f"DAMAGED: {what}.", "bold red")
    return Group(*shown, last)


_COUNTS: Final = "scope+, entries#, erased#, versions#"


def _counts(part: Audit) -> list[Any]:
    report = part.report
    return [part.scope or DIRECTORY, report.size, report.erased, report.rows]


def _row(part: Audit) -> list[Any]:
    standings = "\n".join(f"{count:,} {kind}" for kind, count in part.standings.items())
    verdict = Text("sound", "green") if part.is_sound else Text("DAMAGED", "bold red")
    return [*_counts(part), Text(standings or "none"), _outside(part), verdict]


def _damage(name: str, damages: Damages) -> RenderableType:
    rows = [
        [
            Text(first.check, "red"),
            damages.counts[first.check],
            "-" if first.seq is None else first.seq,
            first.why,
        ]
        for first in _first_of_each(damages)
    ]
    heading = Text(f"\nDamage in {name}, the first of each kind:", "bold")
    return Group(heading, table("kind, found#, entry#, what is wrong+", rows))


def _after_restoring(found: DatabaseAudit) -> str:
    findings = [finding for part in found.scopes for finding in part.outside]
    if any(finding.verdict == "rolled_back" for finding in findings):
        return (
            "The backup is older than what an anchor has seen: that is the rollback above. The "
            "entries that came after the backup are not in it. The anchor will show a rollback "
            "from now on, and a fork once the journal has grown: nobody can tell a backup that "
            "was put back from a journal that was cut off. Keep this report, with the reason."
        )
    return (
        "A backup is as old as it is: an anchor that has seen entries from after it will show a "
        "rollback."
    )


def _first_of_each(damages: Damages) -> Sequence[Damage]:
    first: dict[str, Damage] = {}
    for damage in damages.found:
        known = first.get(damage.check)
        if known is None or (
            damage.seq is not None and (known.seq is None or damage.seq < known.seq)
        ):
            first[damage.check] = damage
    return list(first.values())


def _all_damage(found: DatabaseAudit) -> Iterator[tuple[str, Damages]]:
    for part in parts(found):
        if part.report.damages:
            yield plain(part.scope) or DIRECTORY, part.report.damages
    if found.damages:
        yield "the database as a whole", found.damages


# ---------------------------------------------------------------- what it is worth


def limits(found: DatabaseAudit) -> Iterator[str]:
    """What could not be known, because no checkpoint that was kept outside says it."""
    alone = [part for part in found.scopes if _outside(part) == "none"]
    for is_signed in (False, True):
        named = [repr(audit.scope) for audit in alone if bool(audit.signed_by) == is_signed]
        if named:
            rewritten = "" if is_signed else "was written anew as a whole, "
            yield (
                f"No checkpoint that was kept outside was compared with {', '.join(named)}: "
                f"whether it {rewritten}was cut off at its end, or is an old backup, "
                "can't be told."
            )
    for part in found.scopes:
        newest = part.kept_outside
        if newest is not None and newest < part.report.size:
            after = counted(part.report.size - newest, "entry", "entries")
            yield (
                f"The last {after} of {part.scope!r} came after the newest checkpoint that was "
                "kept outside: whether more came, or others, can't be told."
            )


def _outside(part: Audit) -> str:
    newest = part.kept_outside
    if newest is not None:
        return "up to the end" if newest == part.report.size else f"up to {newest:,}"
    return "disagrees" if any(finding.is_alarm for finding in part.outside) else "none"


def _records(found: DatabaseAudit) -> Iterator[str]:
    """Whether damage is on record, so that nothing of it is used as a fact."""
    damaged = [part for part in found.scopes if part.recorded is not None]
    for is_recorded, said in (
        (
            True,
            "is on record as a conformance break, until a re-audit: memoranda govern record-audit",
        ),
        (False, "could not be recorded as a conformance break: the database can't be written"),
    ):
        named = [repr(part.scope) for part in damaged if part.recorded is is_recorded]
        if named:
            yield f"The damage of {', '.join(named)} {said}."


def _signatures(found: DatabaseAudit) -> Iterator[str]:
    kinds = {kind for part in parts(found) for kind in part.standings}
    signers = sorted({name for part in parts(found) for name in part.signed_by})
    if signers:
        yield f"Checkpoints are signed by {', '.join(signers)}."
    if "unsigned" in kinds:
        yield "There are unsigned checkpoints: whoever can write the database can make such anew."
    if "foreign" in kinds:
        yield (
            "There are checkpoints signed by keys that are not known here: "
            "name the ring that has them in MEMORANDA_KEYRING."
        )


def _anchors(found: DatabaseAudit, seal: Seal) -> Iterator[str]:
    failed = unreachable(found)
    for anchor in seal.anchors:
        name = f"The anchor {plain(anchor.name)}"
        if isinstance(anchor, WitnessAnchor):
            name = f"The witness {plain(anchor.name)}{'' if anchor.key else ', of no known key,'}"
        if anchor.name in failed:
            yield f"{name} could not be read: {failed[anchor.name]}."
        else:
            yield f"{name} was read."
    if not seal.anchors:
        yield "No anchor is named (MEMORANDA_ANCHOR_FILE)."


def _agreeing(found: DatabaseAudit, kept: Sequence[KeptNote]) -> Iterator[str]:
    names = {note.where for note in kept}
    for part in parts(found):
        for finding in part.outside:
            if finding.where in names and finding.verdict == "agrees" and finding.claim:
                size = counted(finding.claim.checkpoint.size, "entry", "entries")
                where = plain(finding.where)
                yield f"The checkpoint {where} ({finding.standing}) agrees, at {size}."


# ------------------------------------------------------------------------------ scopes


def status(found: Status, seal: Seal) -> Output:
    """How a scope stands: entries, checkpoint, policies, breaks and anchors."""
    policies = ", ".join(f"{kind} {each.version}" for kind, each in found.policies.items())
    checkpoint = _checkpoint(found, seal)
    rows: list[tuple[str, Any]] = [
        ("scope", Text(plain(found.scope), "bold")),
        ("entries", found.size),
        ("checkpoint", _covered(checkpoint, found.size)),
        ("policies", policies),
        *[("BREAK", Text(plain(why), "bold red")) for why in found.breaks.values()],
        *[("anchor", line) for line in _compared(found, seal)],
    ]
    if found.breaks:
        rows.append(("to do", "after a re-audit: memoranda govern record-audit REF --reason …"))
    return Output({**found.to_wire(), "checkpoint": checkpoint}, details(rows))


def _checkpoint(found: Status, seal: Seal) -> dict[str, Any] | None:
    if found.checkpoint is None:
        return None
    checkpoint, note = parse_checkpoint(found.checkpoint)
    signatures = check_signatures(note, seal.known)
    return {
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
        "standing": signatures.standing,
        "signedBy": [str(key) for key in signatures.signed],
        "note": found.checkpoint,
    }


def _covered(checkpoint: dict[str, Any] | None, size: int) -> str:
    if checkpoint is None:
        return "none yet"
    covered = "all entries"
    if checkpoint["size"] != size:
        covered = f"the first {counted(checkpoint['size'], 'entry', 'entries')}"
    who = f" by {', '.join(checkpoint['signedBy'])}" if checkpoint["signedBy"] else ""
    return f"of {covered}, {checkpoint['standing']}{who}"


def _compared(found: Status, seal: Seal) -> Sequence[str]:
    if not seal.anchors:
        return ["none is named (MEMORANDA_ANCHOR_FILE)"]
    lines = [f"{name}: not reachable: {why}" for name, why in found.unreachable.items()]
    alarms = [str(each) for each in found.anchors if each.is_alarm]
    agreeing = sum(each.verdict == "agrees" for each in found.anchors)
    names = ", ".join(each.name for each in seal.anchors if each.name not in found.unreachable)
    if agreeing:
        lines.append(f"{names}: agrees, {counted(agreeing, 'checkpoint')} compared")
    elif names and not alarms:
        lines.append(f"{names}: keeps no checkpoint of this scope yet")
    return [*lines, *alarms]


def reindexed(scope: str, found: Reindexed) -> Output:
    """The index of a scope that was made anew."""
    words = details([("reindexed", scope), ("objects", found.objects), ("digest", found.digest)])
    return Output({"scope": scope, **found.to_wire()}, words)


@shows(Policy)
def _policy(policy: Policy) -> RenderableType:
    return details([(f"{policy.kind} {policy.version}", statement(dict(policy.rules)))])


@shows(Brought)
def _embedded(made: Brought) -> RenderableType:
    names = ("embedded", "vectors", "model", "digest", "refused")
    return details((name, getattr(made, name)) for name in names)
