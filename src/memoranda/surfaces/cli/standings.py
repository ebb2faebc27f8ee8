"""How a scope stands, its policies, its indexes, and whether a document is valid, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from memoranda.journeys.audit.checkpoints import Seal
from memoranda.journeys.govern.conformance import Status
from memoranda.journeys.maintain.embedding import Brought
from memoranda.journeys.maintain.reindex import Reindexed
from memoranda.kernel.results import Result
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.policy import Policy
from memoranda.ledger.signed_note import check_signatures
from memoranda.ledger.violation import Violation
from memoranda.surfaces.cli.present import Column, counted, details, plain, statement, table
from memoranda.surfaces.errors import NOT_SOUND


@dataclass(frozen=True, slots=True, repr=False)
class ScopeStatus(Result):
    """How a scope stands, and who is known here to have signed its newest checkpoint."""

    found: Status
    seal: Seal

    def wire_members(self) -> Mapping[str, object]:
        """The status, with its checkpoint taken apart."""
        return {**self.found.wire_members(), "checkpoint": self.checkpoint}

    @property
    def checkpoint(self) -> dict[str, Any] | None:
        """The newest checkpoint: what it covers, and who signed it."""
        if self.found.checkpoint is None:
            return None
        checkpoint, note = parse_checkpoint(self.found.checkpoint)
        signatures = check_signatures(note, self.seal.known)
        return {
            "size": checkpoint.size,
            "root": checkpoint.root.hex(),
            "standing": signatures.standing,
            "signedBy": [str(one) for one in signatures.signed],
            "note": self.found.checkpoint,
        }


@dataclass(frozen=True, slots=True, repr=False)
class ScopeReindexed(Result):
    """The index of a scope, made anew."""

    scope: str
    found: Reindexed

    def wire_members(self) -> Mapping[str, object]:
        """The scope, and what was indexed."""
        return {"scope": self.scope, **self.found.wire_members()}


@dataclass(frozen=True, slots=True, repr=False)
class Validated(Result):
    """What is wrong with a document of others, or of ours."""

    violations: Sequence[Violation]
    events: int | None = None
    """How many events it has, if it is a log."""
    is_lenient: bool = False

    @property
    def errors(self) -> int:
        """How many violations are more than warnings."""
        return sum(one.severity == "error" for one in self.violations)

    @property
    def exit_status(self) -> int:
        """What is let through is no failure."""
        return NOT_SOUND if self.errors and not self.is_lenient else 0

    def wire_members(self) -> Mapping[str, object]:
        """Whether it is valid, and every violation."""
        is_log = {} if self.events is None else {"events": self.events}
        return {"valid": not self.errors, **is_log, "violations": self.violations}


# ------------------------------------------------------------------------------ scopes


def status(one: ScopeStatus) -> RenderableType:
    """Entries, checkpoint, policies, breaks and anchors of a scope."""
    found = one.found
    policies = ", ".join(f"{kind} {each.version}" for kind, each in found.policies.items())
    rows: list[tuple[str, RenderableType]] = [
        ("scope", Text(plain(found.scope), "bold")),
        ("entries", f"{found.size:,}"),
        ("checkpoint", _checkpoint(one)),
        ("policies", policies),
        *[("BREAK", Text(plain(why), "bold red")) for why in found.breaks.values()],
        *[("anchor", plain(line)) for line in _anchors(one)],
    ]
    if found.breaks:
        rows.append(("to do", "after a re-audit: memoranda govern record-audit REF --reason …"))
    return details(rows)


def _checkpoint(one: ScopeStatus) -> str:
    found = one.checkpoint
    if found is None:
        return "none yet"
    covered = "all entries"
    if found["size"] != one.found.size:
        covered = f"the first {counted(found['size'], 'entry', 'entries')}"
    who = f" by {', '.join(found['signedBy'])}" if found["signedBy"] else ""
    return f"of {covered}, {found['standing']}{who}"


def _anchors(one: ScopeStatus) -> Sequence[str]:
    if not one.seal.anchors:
        return ["none is named (MEMORANDA_ANCHOR_FILE)"]
    found = one.found
    lines = [f"{name}: not reachable: {why}" for name, why in found.unreachable.items()]
    alarms = [str(each) for each in found.anchors if each.is_alarm]
    agreeing = sum(each.verdict == "agrees" for each in found.anchors)
    names = ", ".join(each.name for each in one.seal.anchors if each.name not in found.unreachable)
    if agreeing:
        lines.append(f"{names}: agrees, {counted(agreeing, 'checkpoint')} compared")
    elif names and not alarms:
        lines.append(f"{names}: keeps no checkpoint of this scope yet")
    return [*lines, *alarms]


def policy(one: Policy) -> RenderableType:
    """A policy in force."""
    return details([(f"{one.kind} {one.version}", statement(dict(one.rules)))])


def reindexed(one: ScopeReindexed) -> RenderableType:
    """What was indexed anew."""
    rows = [("reindexed", plain(one.scope)), ("objects", f"{one.found.objects:,}")]
    return details([*rows, ("digest", one.found.digest)])


def embedded(made: Brought) -> RenderableType:
    """How many vectors were made, and by which model."""
    rows = [
        ("embedded", f"{made.embedded:,}"),
        ("vectors", f"{made.vectors:,}"),
        ("model", plain(made.model)),
        ("digest", made.digest),
    ]
    if made.refused:
        rows.append(("refused", plain(", ".join(made.refused))))
    return details(rows)


# --------------------------------------------------------------------------- documents


def validated(one: Validated) -> RenderableType:
    """Every violation, and what they come to."""
    what = "The object" if one.events is None else f"The log of {counted(one.events, 'event')}"
    warnings = len(one.violations) - one.errors
    also = f" and {counted(warnings, 'warning')}" if warnings else ""
    verdict = f"is not valid: {counted(one.errors, 'error')}{also}" if one.errors else "is valid"
    last = Text(f"{what} {verdict}.")
    if not one.violations:
        return last
    line = [] if one.events is None else [Column("line", is_number=True)]
    names = ("check", "rule", "severity")
    columns = [*line, *map(Column, names), Column("what is wrong", is_text=True)]
    return Group(table(columns, [_cells(each, one) for each in one.violations]), Text(), last)


def _cells(each: Violation, of: Validated) -> list[str]:
    line = [] if of.events is None else ["-" if each.line is None else f"{each.line:,}"]
    return [*line, each.check, each.rule, each.severity, plain(f"{each.where}: {each.why}")]
