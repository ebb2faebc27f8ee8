"""What the journal says of a memory as a whole, and what that allows: policies are obeyed here.

The policies in force (`ledger.policy`) say who may do what; while a break stands, some acts are
refused (GOV-BREAK). Each act asks once, just before it writes, or expects that what was read
before is still so (`obeyed`). A policy or a break that another process writes in between is obeyed
from the next act on.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from memoranda.identity import decode
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import (
    ConformanceBroken,
    JudgementRefused,
    MarkMoved,
    PolicyRefused,
    RecordNotFound,
)
from memoranda.ledger.entry import read_entry
from memoranda.ledger.governance import Governance, StandingBreak, folded
from memoranda.ledger.object import CAUSES, VerdictType
from memoranda.ledger.policy import ConsolidationRules, ForgettingRules, OnConflict, OversightRules
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import NOTICE, Draft, Expected, StoredEntry

R = TypeVar("R")

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
        """What the journal says of the memory as a whole, and breaks that are not on record."""
        return self.state_by(await self._ledger.notices())

    def state_by(self, notices: list[StoredEntry]) -> Governance:
        """The same, by notices that were just read."""
        state = self._folded_from(notices)
        if not self.unrecorded:
            return state
        return replace(state, standing={**state.standing, **self.unrecorded})

    async def known(self) -> Governance:
        """What it said when it was read last: for whoever sees soon enough if it still does."""
        return await self.logged() if self._folded is None else self._folded[1]

    async def logged(self) -> Governance:
        """What the journal says; read each time, and folded where it says something else."""
        return self._folded_from(await self._ledger.notices())

    def _folded_from(self, notices: list[StoredEntry]) -> Governance:
        known = self._folded
        if known is None or (notices is not known[0] and notices != known[0]):
            known = self._folded = (notices, folded(notices))
        return known[1]

    async def obeyed(
        self,
        check: Callable[[Governance], None],
        act: Callable[[Sequence[Expected]], Awaitable[R]],
    ) -> R:
        """Do what the policies allow; PolicyRefused if they don't.

        What was read of them before is taken to be still so: the act expects it, and is refused by
        the statement that writes where it is not. Then they are read, and it is tried again; and so
        they are before it is refused here.
        """
        known = self._folded
        while True:
            is_read = known is None
            if known is None:
                await self.logged()
                known = self._folded
                assert known is not None  # noqa: S101 - just read
            notices, state = known
            known = None
            try:
                check(state)
            except PolicyRefused:
                if is_read:
                    raise
                continue
            try:
                return await act((Expected(NOTICE, notices[-1].seq if notices else None),))
            except MarkMoved as moved:
                if moved.name != NOTICE:
                    raise

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
        may_forget(actor, [cause], await self.state())

    async def check_erasing(self, actor: str, cause: str) -> None:
        may_forget(actor, [cause], await self.state(), "erase")

    async def consolidation(self, actor: str, on_conflict: OnConflict) -> ConsolidationRules:
        """How to consolidate; PolicyRefused to whoever may not, or for what may not be asked."""
        rules = (await self.state()).policies["consolidation"].read(ConsolidationRules)
        _check_by("consolidation", rules.by, actor, "consolidate")
        if on_conflict not in rules.on_conflict:
            allowed = ", ".join(rules.on_conflict)
            raise PolicyRefused("consolidation", f"on_conflict is only {allowed}")
        return rules


def may_forget(actor: str, causes: Sequence[str], state: Governance, verb: str = "forget") -> None:
    """PolicyRefused for a cause, or an actor, that the forgetting policy does not name."""
    rules = state.policies["forgetting"].read(ForgettingRules)
    _check_by("forgetting", rules.by if verb == "forget" else rules.erase_by, actor, verb)
    for cause in causes:
        if cause not in CAUSES or cause in rules.causes:
            continue  # other causes are refused by the verb
        counts = f"only {', '.join(rules.causes)} count" if rules.causes else "no cause counts"
        raise PolicyRefused("forgetting", f"the cause is {cause!r}, and {counts}")


def _check_by(policy: str, kinds: Sequence[str], actor: str, verb: str) -> None:
    if parse_actor(actor).kind not in kinds:
        may = f"only {', '.join(kinds)} may" if kinds else "nobody may"
        raise PolicyRefused(policy, f"{actor!r} wants to {verb}, and {may}")


def _makes_factual(draft: Draft) -> bool:
    """Whether a draft makes an object Factual; for most their bytes are enough to know."""
    if draft.kind not in _MAKES or _FACTUAL not in draft.body:
        return False
    return bool(decode(draft.body).get("verdict_type") == "Factual")
