"""What the journal says of a memory as a whole, and what that allows: policies are obeyed here.

Whoever may do what stands in the policies in force (`ledger.policy`); that something is refused
while a break stands, in GOV-BREAK. Each act asks once, just before it writes. A policy or a break
that another process writes in between is obeyed from the next act on.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from memoranda.identity import decode
from memoranda.journeys.audit.verify import Report
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import (
    AuditRefused,
    ConformanceBroken,
    InvalidProof,
    JudgementRefused,
    PolicyRefused,
    RecordNotFound,
)
from memoranda.ledger.damage import Damage, first_damages
from memoranda.ledger.entry import NOTICES, entry_hash, read_entry
from memoranda.ledger.governance import Governance, StandingBreak, folded
from memoranda.ledger.object import CAUSES, VerdictType
from memoranda.ledger.policy import ConsolidationRules, ForgettingRules, OnConflict, OversightRules
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import Draft, Head, StoredEntry

Guard = Callable[[Sequence[Draft]], None]
"""Looks at what is about to be written, and refuses what must not be."""

_FACTUAL: Final = b'"verdict_type":"Factual"'
_MAKES: Final = frozenset({"create", "consolidate"})


class Rulebook:
    """The state of one scope's memory as a whole, read from its journal whenever it is asked."""

    def __init__(self, scope: str, ledger: Ledger) -> None:
        self._scope = scope
        self._ledger = ledger
        self._folded: tuple[list[StoredEntry], Governance] | None = None
        self.unrecorded: dict[str, StandingBreak] = {}
        """Breaks that were found and could not be recorded: they stand for this handle alone."""

    async def state(self) -> Governance:
        """What the journal says of the memory as a whole, and what could not be told it."""
        state = await self.logged()
        if not self.unrecorded:
            return state
        return replace(state, standing={**state.standing, **self.unrecorded})

    async def logged(self) -> Governance:
        """What the journal says; read each time, and folded where it says something else."""
        notices = await self._ledger.notices()
        if self._folded is None or notices != self._folded[0]:
            self._folded = (notices, folded(notices))
        return self._folded[1]

    async def check_factual(self) -> Governance:
        """Refuse factual use while a break stands; ConformanceBroken names the first."""
        state = await self.state()
        for why in state.breaks.values():
            raise ConformanceBroken(self._scope, why)
        return state

    # --------------------------------------------------------------------------- judging

    async def check_judging(
        self, verdict: VerdictType, actor: str, makers: Collection[str] | None = None
    ) -> None:
        """Refuse a maker's own verdict that something is Factual, unless the policy lets them.

        Of what is new the actor is the maker; of what is there, all of its `makers` are.
        ConformanceBroken while a break stands: until a re-audit nothing is recorded as Factual.
        """
        if verdict != "Factual":
            return
        state = await self.check_factual()
        if makers is not None and actor not in makers:
            return
        if not state.policies["oversight"].read(OversightRules).maker_may_judge:
            raise JudgementRefused(actor)

    async def makers(self, id: str) -> frozenset[str]:
        """Who wrote any version of an object, or of what it was made from, however indirectly."""
        actors: set[str] = set()
        seen: set[str] = set()
        ahead = [id]
        while ahead:
            text = ahead.pop()
            if text in seen:
                continue
            seen.add(text)
            versions = await self._ledger.versions(text)
            if text == id and not versions:
                raise RecordNotFound(id)
            for past in versions:
                actors.add(read_entry(past.entry).actor)
                if past.body is not None:
                    document = decode(past.body)
                    ahead += [each["id"] for each in document.get("inputs") or ()]
        return frozenset(actors)

    async def guard(self) -> Guard:
        """Refuses drafts that make something Factual, where a break stands now."""
        breaks = (await self.state()).breaks

        def guarded(drafts: Sequence[Draft]) -> None:
            for why in breaks.values():
                if any(_makes_factual(draft) for draft in drafts):
                    raise ConformanceBroken(self._scope, why)

        return guarded

    # -------------------------------------------------------------------------- policies

    async def check_forgetting(self, actor: str, cause: str) -> None:
        """Refuse a cause, or an actor, that the forgetting policy does not name."""
        rules = await self._forgetting()
        _check_by("forgetting", rules.by, actor, "forget")
        _check_cause(rules, cause)

    async def check_erasing(self, actor: str, cause: str) -> None:
        rules = await self._forgetting()
        _check_by("forgetting", rules.erase_by, actor, "erase")
        _check_cause(rules, cause)

    async def consolidation(self, actor: str, on_conflict: OnConflict) -> ConsolidationRules:
        """How to consolidate; PolicyRefused to whoever may not, or for what may not be asked."""
        rules = (await self.state()).policies["consolidation"].read(ConsolidationRules)
        _check_by("consolidation", rules.by, actor, "consolidate")
        if on_conflict not in rules.on_conflict:
            allowed = ", ".join(rules.on_conflict)
            raise PolicyRefused("consolidation", f"on_conflict is only {allowed}")
        return rules

    async def _forgetting(self) -> ForgettingRules:
        return (await self.state()).policies["forgetting"].read(ForgettingRules)


def _check_by(policy: str, kinds: Sequence[str], actor: str, verb: str) -> None:
    if parse_actor(actor).kind not in kinds:
        may = f"only {', '.join(kinds)} may" if kinds else "nobody may"
        raise PolicyRefused(policy, f"{actor!r} wants to {verb}, and {may}")


def _check_cause(rules: ForgettingRules, cause: str) -> None:
    if cause in CAUSES and cause not in rules.causes:  # what is none, the verb itself refuses
        counts = f"only {', '.join(rules.causes)} count" if rules.causes else "no cause counts"
        raise PolicyRefused("forgetting", f"the cause is {cause!r}, and {counts}")


def _makes_factual(draft: Draft) -> bool:
    """Whether a draft makes an object Factual; most are told by their bytes alone."""
    if draft.kind not in _MAKES or _FACTUAL not in draft.body:
        return False
    return bool(decode(draft.body).get("verdict_type") == "Factual")


# ------------------------------------------------------------------------------------------------
# What a re-audit rests on: a report of `verify`, of the journal as it is (GOV-BREAK).

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
