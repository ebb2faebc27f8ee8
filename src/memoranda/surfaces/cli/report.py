"""What an audit of a database found, for people and as JSON.

Damage is told whole: how much of each kind, and the first of it. What an audit can't tell is
told as plainly, because a database that is sound by itself may still be another one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.app.audit import DatabaseAudit
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.audit.whole import Audit
from memoranda.kernel.results import Result
from memoranda.ledger.anchor import KeptNote
from memoranda.ledger.damage import Damage, Damages
from memoranda.surfaces.cli.present import Column, blocks, counted, item, plain, table
from memoranda.surfaces.errors import NOT_SOUND, NOT_THERE

DIRECTORY = "(directory)"


def parts(found: DatabaseAudit) -> Sequence[Audit]:
    """The audits of all journals, the directory last."""
    return [*found.scopes, *([] if found.directory is None else [found.directory])]


def unreachable(found: DatabaseAudit) -> dict[str, str]:
    """The anchors that could not be read, and why."""
    return {name: why for part in parts(found) for name, why in part.unreachable.items()}


@dataclass(frozen=True, slots=True, repr=False)
class Verified(Result):
    """An audit of a database, and what it was compared with."""

    found: DatabaseAudit
    seal: Seal
    kept: Sequence[KeptNote] = ()
    restored: "Copied | None" = None
    """What was put back before it was verified."""

    @property
    def exit_status(self) -> int:
        """A comparison that was asked for and could not be made is no success."""
        if not self.found.is_sound:
            return NOT_SOUND
        return NOT_THERE if unreachable(self.found) else 0

    def wire_members(self) -> Mapping[str, object]:
        """The document that docs/cli.md describes."""
        failed = unreachable(self.found)
        anchors = [
            {"name": one.name, "reachable": one.name not in failed, "why": failed.get(one.name)}
            for one in self.seal.anchors
        ]
        places = {} if self.restored is None else self.restored.places
        told = {"anchors": anchors, "cannot_tell": list(limits(self.found))}
        return {**places, **self.found.wire_members(), **told}


@dataclass(frozen=True, slots=True, repr=False)
class Copied(Result):
    """Scopes that were copied from one place to another, and found sound where they arrived."""

    done: str
    found: DatabaseAudit
    source: str
    target: str

    @property
    def places(self) -> Mapping[str, str]:
        """Where they were, and where they are."""
        return {"from": self.source, "to": self.target}

    def wire_members(self) -> Mapping[str, object]:
        """Both places, and the audit of each scope."""
        return {**self.places, "scopes": self.found.scopes}

    def __str__(self) -> str:
        """What was done, in a sentence."""
        entries = sum(part.report.size for part in self.found.scopes)
        scopes = counted(len(self.found.scopes), "scope")
        what = f"{scopes}, {counted(entries, 'entry', 'entries')}"
        return f"{self.done} {what}, from {plain(self.source)} to {plain(self.target)}"


# ------------------------------------------------------------------------- for people


def copied(one: Copied) -> RenderableType:
    """What was copied, and that it is sound."""
    if not one.found.scopes:
        return Text(str(one))
    rows = [[*_counts(part), Text("sound", "green")] for part in one.found.scopes]  # else it raises
    return Group(Text(str(one)), Text(), table([*_COUNTS, Column("on arrival")], rows))


def verified(one: Verified) -> RenderableType:
    """The table, all damage, and what can and can't be told."""
    if one.restored is None:
        return _audit(one)
    summary, after = Text(str(one.restored)), Text(_after_restoring(one.found))
    return blocks([summary, _audit(one), after])


def _audit(one: Verified) -> RenderableType:
    found = one.found
    columns = [*_COUNTS, *map(Column, ("checkpoints", "kept outside", "verdict"))]
    shown: list[RenderableType] = [table(columns, map(_row, parts(found)))]
    shown += [_damage(name, damages) for name, damages in _all_damage(found)]
    shown.append(Text())
    worth = (
        *_records(found),
        *_signatures(found),
        *_anchors(found, one.seal),
        *_agreeing(found, one.kept),
        *limits(found),
    )
    shown += [item("- ", sentence) for sentence in worth]
    if found.is_sound and unreachable(found):
        last = Text("Sound, but an anchor that was to be compared could not be read.", "yellow")
    elif found.is_sound:
        last = Text("Sound: nothing that was looked at is damaged.", "green")
    else:
        kinds = sum((damages.counts for _, damages in _all_damage(found)), Counter())
        what = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
        last = Text(f"DAMAGED: {what}.", "bold red")
    return Group(*shown, last)


_COUNTS: Final = (
    Column("scope", is_text=True),
    *(Column(name, is_number=True) for name in ("entries", "erased", "versions")),
)


def _counts(part: Audit) -> list[str]:
    counts = (part.report.size, part.report.erased, part.report.rows)
    return [plain(part.scope) or DIRECTORY, *(f"{count:,}" for count in counts)]


def _row(part: Audit) -> list[str | Text]:
    standings = "\n".join(f"{count:,} {kind}" for kind, count in part.standings.items())
    verdict = Text("sound", "green") if part.is_sound else Text("DAMAGED", "bold red")
    return [*_counts(part), standings or "none", _outside(part), verdict]


def _damage(name: str, damages: Damages) -> RenderableType:
    numbers = [Column(one, is_number=True) for one in ("found", "entry")]
    columns = [Column("kind"), *numbers, Column("what is wrong", is_text=True)]
    rows = [
        [
            Text(first.check, "red"),
            f"{damages.counts[first.check]:,}",
            "-" if first.seq is None else f"{first.seq:,}",
            plain(first.why),
        ]
        for first in _first_of_each(damages)
    ]
    heading = Text(f"\nDamage in {name}, the first of each kind:", "bold")
    return Group(heading, table(columns, rows))


def _after_restoring(found: DatabaseAudit) -> str:
    findings = [one for part in found.scopes for one in part.outside]
    if any(one.verdict == "rolled_back" for one in findings):
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
    return "disagrees" if any(one.is_alarm for one in part.outside) else "none"


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
