"""Proposals, decisions, runs, deaths and restarts in any order, against a simple model."""

import asyncio
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from memoranda.kernel.errors import BranchMoved, DecisionRefused, IllegalMove
from memoranda.testkit.strategies import FrozenClock
from memoranda.worlds.policies import HumanInTheLoop
from tests.handles import opened
from tests.journeys.intent.counter import COUNTER, OUTSIDE
from tests.journeys.intent.simulators import Died, dies_at

if TYPE_CHECKING:
    from memoranda import Memory

LIMIT_MS = 1_000
BRANCHES = st.sampled_from(["main", "side"])


@dataclass
class Modelled:
    """A proposal as it should stand."""

    branch: str
    by: int
    base: int
    """How often the head of its branch had moved when it was proposed."""
    at: int
    status: str = "evaluating"
    is_unsure: bool = False


@dataclass
class Head:
    moved: int = 0
    total: int = 0


@dataclass
class Model:
    """What should be known."""

    proposals: dict[str, Modelled] = field(default_factory=dict)
    heads: dict[str, Head] = field(default_factory=dict)


class Worlds(RuleBasedStateMachine):
    """One file, a worker that proposes and runs, and somebody who decides."""

    proposals = Bundle("proposals")

    def __init__(self) -> None:
        super().__init__()
        OUTSIDE.calls.clear()
        self.loop = asyncio.new_event_loop()
        self.folder = TemporaryDirectory()
        self.url = f"sqlite:///{Path(self.folder.name)}/memory.db"
        self.clock = FrozenClock(1_763_000_000_000)
        self.model = Model()
        self.numbers = count(1)
        self.open = AsyncExitStack()
        self.do(self.reopen())

    def do(self, work: Any) -> Any:
        """Run something to its end."""
        return self.loop.run_until_complete(work)

    async def reopen(self) -> None:
        """Both handles anew."""
        await self.open.aclose()
        self.open = AsyncExitStack()
        policy = HumanInTheLoop(["human:alice"], timeout_ms=LIMIT_MS)
        shared = {"scope": "s", "clock": self.clock, "domain": COUNTER, "authority": policy}
        opens = self.open.enter_async_context
        self.worker: Memory[Any] = await opens(
            opened(self.url, actor="agent:worker", **shared)  # type: ignore[arg-type]
        )
        self.alice: Memory[Any] = await opens(
            opened(self.url, actor="human:alice", **shared)  # type: ignore[arg-type]
        )

    def teardown(self) -> None:
        """Close the file."""
        self.do(self.open.aclose())
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()
        self.folder.cleanup()

    # ---------------------------------------------------------------------------- rules

    @rule(target=proposals, branch=BRANCHES, is_approved=st.sampled_from([True, True, False]))
    def propose(self, branch: str, *, is_approved: bool) -> str:
        by = 2 ** next(self.numbers) % (2**40)
        submitted = self.do(self.worker.worlds.propose("ask", {"text": by}, branch=branch))
        head = self.model.heads.setdefault(branch, Head())
        self.model.proposals[submitted.proposal_id] = Modelled(
            branch, by, head.moved, self.clock.at
        )
        if is_approved:
            self.answer(submitted.proposal_id, "approve")
        return str(submitted.proposal_id)

    @rule(proposal=proposals, verb=st.sampled_from(["approve", "reject"]))
    def answer(self, proposal: str, verb: str) -> None:
        known = self.model.proposals[proposal]
        refused = False
        try:
            self.do(getattr(self.alice.inbox, verb)(proposal, reason="so be it"))
        except DecisionRefused:
            refused = True
        is_late = self.clock.at >= known.at + LIMIT_MS
        assert refused == (known.status != "evaluating" or is_late)
        if known.status == "evaluating":
            is_approved = verb == "approve" and not is_late
            known.status = "approved" if is_approved else "rejected"

    @rule(proposal=proposals)
    def run(self, proposal: str) -> None:
        known = self.model.proposals[proposal]
        try:
            run = self.do(self.worker.worlds.run(proposal))
        except IllegalMove:
            assert known.status == "evaluating"
            return
        except BranchMoved:
            assert self.model.heads[known.branch].moved != known.base
        else:
            assert run.status == self.ran(known)
            return
        known.status = "failed"

    @rule()
    def resume(self) -> None:
        # by the names of the proposals, which rise
        open_ones = [
            one
            for _, one in sorted(self.model.proposals.items())
            if one.status in {"approved", "executing"}
        ]
        runs = self.do(self.worker.worlds.resume())
        assert len(runs) == len(open_ones)
        for known in open_ones:
            self.ran(known)

    @rule(proposal=proposals, at=st.integers(0, 2), landed=st.booleans())
    def die(self, proposal: str, at: int, *, landed: bool) -> None:
        """The process ends at one of the commits of a run, and starts again."""
        known = self.model.proposals[proposal]
        dies_at(self.worker, at, landed=landed)
        before = known.status
        with suppress(Died, BranchMoved, IllegalMove):
            self.do(self.worker.worlds.run(proposal))
        self.do(self.reopen())
        if before not in {"approved", "executing"}:
            return
        standing = self.do(self.worker.worlds.standing(proposal))
        known.status = standing.status
        if standing.status == "completed":
            head = self.model.heads[known.branch]
            assert head.moved == known.base
            head.moved += 1
            head.total += 1
        why = self.do(self.worker.why(proposal))
        effects = [part for each in why.parts for part in each.parts if part.what == "effect"]
        known.is_unsure = standing.status == "executing" and not effects

    @rule(ms=st.integers(1, LIMIT_MS // 3))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    @rule()
    def look(self) -> None:
        waiting = [one.proposal.proposal_id for one in self.do(self.alice.inbox.list())]
        for known in self.model.proposals.values():
            if known.status == "evaluating" and self.clock.at >= known.at + LIMIT_MS:
                known.status = "rejected"
        expected = [id for id, one in self.model.proposals.items() if one.status == "evaluating"]
        assert sorted(waiting) == sorted(expected)

    @rule()
    def restart(self) -> None:
        self.do(self.reopen())

    def ran(self, known: Modelled) -> str:
        """The status that a run leads to, in the model too."""
        if known.status in {"approved", "executing"}:
            head = self.model.heads[known.branch]
            if known.is_unsure or head.moved != known.base:
                known.status = "failed"
            else:
                known.status = "completed"
                head.moved += 1
                head.total += 1
        return known.status

    # ----------------------------------------------------------------------- invariants

    @invariant()
    def stands_as_modelled(self) -> None:
        for id, known in self.model.proposals.items():
            assert self.do(self.worker.worlds.standing(id)).status == known.status, known

    @invariant()
    def heads_are_as_modelled(self) -> None:
        heads = {one.name: one.world for one in self.do(self.worker.worlds.branches())}
        for name, head in self.model.heads.items():
            data = self.do(self.worker.worlds.restore(heads[name])).data
            assert len(data["notes"]) == head.total

    @invariant()
    def no_effect_is_called_twice(self) -> None:
        assert len(OUTSIDE.calls) == len(set(OUTSIDE.calls))

    @invariant()
    def replays(self) -> None:
        for name in self.model.heads:
            verdicts = self.do(self.replayed(name))
            assert set(verdicts) <= {"same"}

    async def replayed(self, name: str) -> list[str]:
        """Every verdict of a branch."""
        return [one.verdict async for one in self.worker.worlds.replay_branch(name)]


TestWorlds = Worlds.TestCase
TestWorlds.settings = settings(max_examples=30, stateful_step_count=30)
