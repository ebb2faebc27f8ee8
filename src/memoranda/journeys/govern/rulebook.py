"""What the journal says of a memory as a whole, and what that allows: policies are obeyed here.

Whoever may do what stands in the policies in force (`ledger.policy`); that something is refused
while a break stands, in GOV-BREAK. Each act asks once, just before it writes. A policy or a break
that another process writes in between is obeyed from the next act on.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from memoranda.identity import decode
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import (
    ConformanceBroken,
    JudgementRefused,
    PolicyRefused,
    RecordNotFound,
)
from memoranda.ledger.entry import read_entry
from memoranda.ledger.governance import Governance, Standing, folded
from memoranda.ledger.object import CAUSES, VerdictType
from memoranda.ledger.policy import ConsolidationRules, ForgettingRules, OnConflict, OversightRules
from memoranda.ledger.unit import Draft, Ledger

Guard = Callable[[Sequence[Draft]], None]
"""Looks at what is about to be written, and refuses what must not be."""

_FACTUAL: Final = b'"verdict_type":"Factual"'
_MAKES: Final = frozenset({"create", "consolidate"})


class Rulebook:
    """The state of one scope's memory as a whole, read from its journal whenever it is asked."""

    def __init__(self, scope: str, ledger: Ledger) -> None:
        self._scope = scope
        self._ledger = ledger
        self.unrecorded: dict[str, Standing] = {}
        """Breaks that were found and could not be recorded: they stand for this handle alone."""

    async def state(self) -> Governance:
        """What the journal says of the memory as a whole, and what could not be told it."""
        state = await self.logged()
        if not self.unrecorded:
            return state
        return replace(state, standing={**state.standing, **self.unrecorded})

    async def logged(self) -> Governance:
        """What the journal says."""
        return folded(await self._ledger.notices())

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
            one = ahead.pop()
            if one in seen:
                continue
            seen.add(one)
            versions = await self._ledger.versions(one)
            if one == id and not versions:
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
        """The same for an erasure."""
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
