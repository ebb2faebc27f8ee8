"""Auditing a scope against everything that was ever said of it, and a database as a whole.

1. the ledger itself                                     (`verify`), and that it is this scope's
2. the checkpoints that are kept with it                 root
3. those that anchors kept elsewhere                     anchor, signature
   and that no two witnesses were shown two histories    anchor
4. what the directory says of it                         directory
5. if asked: a known key, or so many witnesses, signed   signature
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

from memoranda.journeys.audit.checkpoints import Checkpoints
from memoranda.journeys.audit.verify import Progress, Report, nobody, verify
from memoranda.kernel.errors import AnchorFailed, InvalidCheckpoint
from memoranda.kernel.results import Result
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import (
    Claim,
    Finding,
    KeptNote,
    ScopeHead,
    WitnessingAnchor,
    examine,
    newest_heads,
    settle,
)
from memoranda.ledger.checkpoint import parse_origin
from memoranda.ledger.damage import Check, Damages
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES

IN_DATABASE: Final = "the database"
"""Where a finding says that its checkpoint was kept, if that is with the journal itself."""


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Result):
    """What an audit of one scope found: the report, and what each kept checkpoint says."""

    scope: str
    report: Report
    findings: Sequence[Finding] = ()
    unreachable: Mapping[str, str] = field(default_factory=dict)
    outside: Sequence[Finding] = ()
    """Those of the findings that come from outside: from an anchor, or from an auditor."""
    recorded: bool | None = None
    """Whether all damage is on record as a conformance break; None if there is none."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return self.report.is_sound

    @property
    def signed_by(self) -> Sequence[str]:
        """The known keys under whose signature the journal was found to agree, each once."""
        agreeing = (finding.claim for finding in self.findings if finding.verdict == "agrees")
        return sorted({name for claim in agreeing if claim for name in claim.signed_by})

    @property
    def standings(self) -> Mapping[str, int]:
        """How many of the checkpoints in the database are signed, unsigned and so on."""
        return Counter(
            str(finding.standing) for finding in self.findings if finding.where == IN_DATABASE
        )

    @property
    def kept_outside(self) -> int | None:
        """The size of the newest checkpoint that was kept outside and agrees."""
        agreeing = (finding.claim for finding in self.outside if finding.verdict == "agrees")
        return max((claim.checkpoint.size for claim in agreeing if claim), default=None)

    def wire_members(self) -> Mapping[str, object]:
        """The report, and what the checkpoints are worth."""
        return {
            "scope": self.scope or None,
            **self.report.wire_members(),
            "checkpoints": self.standings,
            "signed_by": self.signed_by,
            "kept_outside": self.kept_outside,
            "recorded": self.recorded,
        }


async def audit(
    checkpoints: Checkpoints,
    *,
    heads: Iterable[ScopeHead] = (),
    kept: Iterable[KeptNote] = (),
    require_signature: bool = False,
    quorum: int = 0,
    progress: Progress = nobody,
) -> Audit:
    """Audit one scope. `heads` are what the directory says of it, `kept` what an auditor kept.

    With `require_signature` every entry must be under a checkpoint that a known key has signed,
    wherever that is kept: then nobody else can have written the journal anew. With `quorum` so
    many witnesses must have cosigned all of it: then not even the holder of that key can.
    """
    ledger, known = checkpoints.ledger, checkpoints.seal.known
    origin = (await ledger.head()).origin
    asked: list[tuple[Check, Claim | Finding]] = [  # 2.
        ("root", examine(KeptNote(IN_DATABASE, note), known)) for note in await ledger.notes()
    ]
    for anchor in checkpoints.seal.anchors:  # 3.
        try:
            asked += [("anchor", examine(stored, known)) async for stored in anchor.read(origin)]
        except AnchorFailed as failed:
            checkpoints.failures[anchor.name] = failed.why
    asked += [("anchor", examine(stored, known)) for stored in kept]
    asked += [("directory", head.claim) for head in heads if head.origin == origin]  # 4.
    sizes = {claim.checkpoint.size for _, claim in asked if isinstance(claim, Claim)}
    report = await verify(ledger, roots_at=sizes, progress=progress)  # 1.
    if not _is_of(origin, checkpoints.scope):
        why = f"under the name {checkpoints.scope!r} is the journal {origin}"
        report.damages.add("head", None, why)
    findings = []
    for check, claim in asked:
        finding = claim if isinstance(claim, Finding) else _settled(claim, report)
        findings.append(finding)
        if finding.is_alarm:
            name: Check = "signature" if finding.verdict == "bad_signature" else check
            report.damages.add(name, None, str(finding), about=disagreeing(finding))
    outside = [one for (check, _), one in zip(asked, findings, strict=True) if check == "anchor"]
    witnesses = {
        anchor.name: anchor.key
        for anchor in checkpoints.seal.anchors
        if isinstance(anchor, WitnessingAnchor)
    }
    said = [finding for finding in outside if finding.where in witnesses]
    _report_two_histories(report, said)
    if require_signature:  # 5.
        _require_signature(report, findings)
    if quorum:
        by_key = {witnesses[finding.where]: finding for finding in said}
        by_key.pop(None, None)  # whose key is not known may be anybody
        _require_quorum(report, by_key.values(), quorum)
    return Audit(checkpoints.scope, report, findings, dict(checkpoints.failures), outside)


def disagreeing(finding: Finding) -> str:
    """What tells a checkpoint that disagrees from others, however the journal grows."""
    if finding.claim is None:
        return finding.where
    checkpoint = finding.claim.checkpoint
    return f"{checkpoint.size}-{checkpoint.root.hex()[:16]}"


async def directory_heads(directory: Ledger, damages: Damages) -> list[ScopeHead]:
    """The last head that the directory names for each journal; damage where it can't be read."""
    bodies = []
    async with directory.snapshot() as snapshot:
        async for chunk in snapshot.rows(ENTRIES):
            for stored in chunk:
                if stored.body is None:
                    damages.add("directory", stored.seq, "what it says of a journal is gone")
                else:
                    bodies.append(stored.body)
    try:
        return list(newest_heads(bodies).values())
    except InvalidCheckpoint as refused:
        damages.add("directory", None, str(refused))
        return []


def vanished(heads: Iterable[ScopeHead], origins: Iterable[str], damages: Damages) -> None:
    """Report every journal that the directory names and that is not there."""
    there = set(origins)
    for head in heads:
        if head.origin not in there:
            finding = settle(head.claim, head.origin, None, None)
            damages.add("directory", None, f"the scope {head.scope!r}: {finding.why}")


def _is_of(origin: str, scope: str) -> bool:
    try:
        return (parse_origin(origin).scope or DIRECTORY) == scope
    except InvalidCheckpoint:
        return False


def _require_signature(report: Report, findings: Iterable[Finding]) -> None:
    signed = (finding.claim for finding in findings if finding.verdict == "agrees")
    covered = max(
        (claim.checkpoint.size for claim in signed if claim and claim.signed_by), default=0
    )
    if covered < report.size:
        why = f"no known key has signed a checkpoint of all {report.size:,} entries"
        if covered:
            why += f": the newest that one has signed is of {covered:,}"
        report.damages.add("signature", None, why)


def _report_two_histories(report: Report, said: Sequence[Finding]) -> None:
    """Name two witnesses of which one has cosigned what the other's history does not have.

    One agrees with the journal at least as far as the other does not; or both have another root.
    """
    for finding, other in permutations(said, 2):
        if finding.verdict != "forked" or finding.claim is None or other.claim is None:
            continue
        here, there = finding.claim.checkpoint, other.claim.checkpoint
        is_split = (other.verdict == "agrees" and there.size >= here.size) or (
            other.verdict == "forked"
            and there.size == here.size
            and there.root != here.root
            and finding.where < other.where  # else both orders tell it
        )
        if is_split:
            why = (
                f"the witnesses {finding.where} and {other.where} were shown two histories of "
                f"{here.origin}: the first has cosigned {here.size} entries that are not those of "
                "the second"
            )
            report.damages.add("anchor", None, why, about=f"split-{disagreeing(finding)}")


def _require_quorum(report: Report, said: Iterable[Finding], quorum: int) -> None:
    agreeing = (finding.claim for finding in said if finding.verdict == "agrees")
    sizes = sorted((claim.checkpoint.size for claim in agreeing if claim), reverse=True)
    covered = sizes[quorum - 1] if len(sizes) >= quorum else 0
    if covered < report.size:
        why = f"fewer than {quorum} witnesses have cosigned all {report.size:,} entries"
        if covered:
            why += f": the newest that {quorum} have cosigned is of {covered:,}"
        report.damages.add("signature", None, why)


def _settled(claim: Claim, report: Report) -> Finding:
    root = report.roots.get(claim.checkpoint.size)
    return settle(claim, report.origin, report.size, root)
