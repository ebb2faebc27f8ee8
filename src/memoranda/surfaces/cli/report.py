"""What an audit of a database found, for people and as JSON.

Damage is told whole: how much of each kind, and the first of it. What an audit can't tell is
told as plainly, because a database that is sound by itself may still be another one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from memoranda.app.audit import DatabaseAudit
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.audit.whole import IN_DATABASE, Audit
from memoranda.ledger.anchor import KeptNote
from memoranda.ledger.damage import Damage, Damages
from memoranda.surfaces.cli.present import counted, listing, plain, print_item
from memoranda.surfaces.errors import NOT_SOUND, NOT_THERE

DIRECTORY = "(directory)"


def parts(found: DatabaseAudit) -> Sequence[Audit]:
    """The audits of all journals, the directory last."""
    return [*found.scopes, *([] if found.directory is None else [found.directory])]


def unreachable(found: DatabaseAudit) -> dict[str, str]:
    """The anchors that could not be read, and why."""
    return {name: why for part in parts(found) for name, why in part.unreachable.items()}


def status_of(found: DatabaseAudit) -> int:
    """The exit code: a comparison that was asked for and could not be made is no success."""
    if not found.is_sound:
        return NOT_SOUND
    return NOT_THERE if unreachable(found) else 0


# ------------------------------------------------------------------------------- JSON


def as_json(found: DatabaseAudit, seal: Seal) -> dict[str, Any]:
    """The document that docs/cli.md describes."""
    failed = unreachable(found)
    return {
        "sound": found.is_sound,
        "scopes": [part_as_json(part) for part in found.scopes],
        "directory": None if found.directory is None else part_as_json(found.directory),
        "damage": _damage_as_json(found.damages),
        "anchors": [
            {"name": one.name, "reachable": one.name not in failed, "why": failed.get(one.name)}
            for one in seal.anchors
        ],
        "cannot_tell": list(limits(found)),
    }


def part_as_json(part: Audit) -> dict[str, Any]:
    """What was found of one journal."""
    report = part.report
    return {
        "scope": part.scope or None,
        "origin": report.origin,
        "sound": part.is_sound,
        "entries": report.size,
        "root": report.root.hex(),
        "erased": report.erased,
        "versions": report.rows,
        "indexed": report.indexed,
        "checkpoints": dict(_standings(part)),
        "signed_by": list(part.signed_by),
        "kept_outside": newest_outside(part),
        "damage": _damage_as_json(report.damages),
        "recorded": part.recorded,
    }


def _damage_as_json(damages: Damages) -> dict[str, Any]:
    return {
        "counts": dict(damages.counts),
        "found": [{"check": one.check, "entry": one.seq, "why": one.why} for one in damages.found],
    }


# ------------------------------------------------------------------------- for people


def show(out: Console, found: DatabaseAudit, seal: Seal, kept: Sequence[KeptNote] = ()) -> None:
    """The table, all damage, and what can and can't be told."""
    table = listing()
    table.add_column("scope", ratio=1, overflow="fold")
    for name in ("entries", "erased", "versions"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("checkpoints", overflow="fold")
    table.add_column("kept outside", overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for part in parts(found):
        table.add_row(
            Text(plain(part.scope) or DIRECTORY),
            f"{part.report.size:,}",
            f"{part.report.erased:,}",
            f"{part.report.rows:,}",
            ", ".join(f"{count:,} {kind}" for kind, count in _standings(part).items()) or "none",
            _outside(part),
            Text("sound", "green") if part.is_sound else Text("DAMAGED", "bold red"),
        )
    out.print(table)
    for name, damages in _all_damage(found):
        _show_damage(out, name, damages)
    out.print()
    worth = (
        *_records(found),
        *_signatures(found),
        *_anchors(found, seal),
        *_agreeing(found, kept),
        *limits(found),
    )
    for sentence in worth:
        print_item(out, "- ", sentence)
    if found.is_sound and unreachable(found):
        out.print(Text("Sound, but an anchor that was to be compared could not be read.", "yellow"))
    elif found.is_sound:
        out.print(Text("Sound: nothing that was looked at is damaged.", "green"))
    else:
        kinds = sum((damages.counts for _, damages in _all_damage(found)), Counter())
        what = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        out.print(Text(f"DAMAGED: {what}.", "bold red"))


def _show_damage(out: Console, name: str, damages: Damages) -> None:
    out.print(Text(f"\nDamage in {name}, the first of each kind:", "bold"))
    table = listing()
    table.add_column("kind", no_wrap=True)
    table.add_column("found", justify="right", no_wrap=True)
    table.add_column("entry", justify="right", no_wrap=True)
    table.add_column("what is wrong", ratio=1, overflow="fold")
    for first in _first_of_each(damages):
        count = f"{damages.counts[first.check]:,}"
        entry = "-" if first.seq is None else f"{first.seq:,}"
        table.add_row(Text(first.check, "red"), count, entry, Text(plain(first.why)))
    out.print(table)


def _first_of_each(damages: Damages) -> Sequence[Damage]:
    first: dict[str, Damage] = {}
    for one in damages.found:
        known = first.get(one.check)
        if known is None or (one.seq is not None and (known.seq is None or one.seq < known.seq)):
            first[one.check] = one
    return list(first.values())


def _all_damage(found: DatabaseAudit) -> Iterator[tuple[str, Damages]]:
    for part in parts(found):
        if part.report.damages:
            yield plain(part.scope) or DIRECTORY, part.report.damages
    if found.damages:
        yield "the database as a whole", found.damages


# ---------------------------------------------------------------- what it is worth


def limits(found: DatabaseAudit) -> Iterator[str]:
    """What could not be told, because no checkpoint that was kept outside says it."""
    alone = [part for part in found.scopes if _outside(part) == "none"]
    for is_signed in (False, True):
        named = [repr(one.scope) for one in alone if bool(one.signed_by) == is_signed]
        if named:
            rewritten = "" if is_signed else "was written anew as a whole, "
            yield (
                f"No checkpoint that was kept outside was compared with {', '.join(named)}: "
                f"whether it {rewritten}was cut off at its end, or is an old backup, "
                "can't be told."
            )
    for part in found.scopes:
        newest = newest_outside(part)
        if newest is not None and newest < part.report.size:
            after = counted(part.report.size - newest, "entry", "entries")
            yield (
                f"The last {after} of {part.scope!r} came after the newest checkpoint that was "
                "kept outside: whether more came, or others, can't be told."
            )


def newest_outside(part: Audit) -> int | None:
    """The size of the newest checkpoint that was kept outside and agrees."""
    agreeing = (one.claim for one in part.outside if one.verdict == "agrees")
    return max((claim.checkpoint.size for claim in agreeing if claim), default=None)


def _outside(part: Audit) -> str:
    newest = newest_outside(part)
    if newest is not None:
        return "up to the end" if newest == part.report.size else f"up to {newest:,}"
    return "disagrees" if any(one.is_alarm for one in part.outside) else "none"


def _standings(part: Audit) -> Mapping[str, int]:
    """How many of the checkpoints in the database are signed, unsigned and so on."""
    return Counter(str(one.standing) for one in part.findings if one.where == IN_DATABASE)


def _records(found: DatabaseAudit) -> Iterator[str]:
    """Whether damage is on record, so that nothing of it is used as a fact."""
    damaged = [part for part in found.scopes if part.recorded is not None]
    for is_recorded, said in (
        (True, "is on record as a conformance break, until a re-audit: memoranda audit record"),
        (False, "could not be recorded as a conformance break: the database can't be written"),
    ):
        named = [repr(part.scope) for part in damaged if part.recorded is is_recorded]
        if named:
            yield f"The damage of {', '.join(named)} {said}."


def _signatures(found: DatabaseAudit) -> Iterator[str]:
    kinds = {kind for part in parts(found) for kind in _standings(part)}
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
        if anchor.name in failed:
            yield f"The anchor {plain(anchor.name)} could not be read: {failed[anchor.name]}."
        else:
            yield f"The anchor {plain(anchor.name)} was read."
    if not seal.anchors:
        yield "No anchor is named (MEMORANDA_ANCHOR_FILE)."


def _agreeing(found: DatabaseAudit, kept: Sequence[KeptNote]) -> Iterator[str]:
    names = {note.where for note in kept}
    for part in parts(found):
        for one in part.outside:
            if one.where in names and one.verdict == "agrees" and one.claim:
                size = counted(one.claim.checkpoint.size, "entry", "entries")
                yield f"The checkpoint {plain(one.where)} ({one.standing}) agrees, at {size}."
