"""``recollect inbox``, ``approve``, ``reject`` and ``abstain``."""

import asyncio
import sys

import pytest

from recollect.app.memory import open as open_memory
from recollect.kernel.errors import ApprovalPending
from recollect.records.authority import MemoryOperation, Risk
from recollect.worlds import HumanInTheLoop
from tests.cli.command import Command
from tests.cli.shops import LARGE, LEE, SHOP, acted, wrote

TRIBUNAL = """
from recollect.worlds import Majority, Tribunal

three = Tribunal(["human:a", "human:b", "human:c"], Majority())
"""


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command imports is gone after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


def test_the_inbox_tells_what_somebody_has_to_know(recollect: Command) -> None:
    id = acted(recollect, LARGE, "--why", "the parcel never arrived")["proposal_id"]

    (waiting,) = recollect.json("inbox")
    shown = recollect.text("inbox")

    assert list(waiting) == ["proposal", "branch", "waitingFor", "until", "risk", "votes"]
    assert (waiting["proposal"]["proposalId"], waiting["waitingFor"]) == (id, ["human:lee"])
    for told in (id, "refund", '"amount":250', "human:7", "the parcel never arrived", "human:lee"):
        assert told in shown
    assert waiting["proposal"]["baseWorld"][:12] in shown


def test_an_empty_inbox_says_so(recollect: Command) -> None:
    recollect.json("remember", "x")

    assert recollect.json("inbox") == []
    assert recollect.text("inbox") == "Nothing waits for a decision.\n"


def test_a_decision_is_made_once_and_by_whoever_may(recollect: Command) -> None:
    id = acted(recollect, LARGE)["proposal_id"]

    assert "proposed it" in recollect.refused("approve", id, "--reason", "x", status=3)
    stranger = ("--actor", "human:8")
    assert "none of those" in recollect.refused("reject", id, "--reason", "x", *stranger, status=3)
    rejected = recollect.json("reject", id, "--reason", "too much", *LEE)
    assert (rejected["status"], rejected["waiting_for"]) == ("rejected", [])
    assert rejected["decision"]["decision"] == {"kind": "rejected", "reason": "too much"}
    assert "already" in recollect.refused("approve", id, "--reason", "x", *LEE, status=3)
    assert recollect.json("inbox") == []
    assert recollect.text("run", id, *SHOP, status=3).startswith("rejected  prop-")


def test_one_verb_approves_proposals_and_what_is_remembered(recollect: Command) -> None:
    recollect.json("remember", "x", "--id", "fact")
    id = acted(recollect, LARGE)["proposal_id"]

    assert recollect.json("approve", "fact", "--reason", "seen", *LEE)["version"] == 2
    shown = recollect.text("approve", id, "--reason", "seen", *LEE)
    assert shown.startswith(f"approved   {id}")
    assert "recollect run" in shown
    recollect.refused("approve", "nothing", "--reason", "x", status=3)


def test_a_tribunal_votes_until_it_is_decided(recollect: Command) -> None:
    wrote(recollect, "court", TRIBUNAL)
    words = ("act", "refund", "--input", LARGE, *SHOP, "--authority", "court:three", "--json")
    assert recollect(*words).exit_code == 0
    id = recollect.json("inbox")[0]["proposal"]["proposalId"]

    voted = recollect.json("abstain", id, "--reason", "unsure", "--actor", "human:a")
    assert (voted["status"], voted["waiting_for"]) == ("evaluating", ["human:b", "human:c"])
    shown = recollect.text("approve", id, "--reason", "fine", "--actor", "human:b")
    assert shown.split() == ["voted", id, "waiting", "for", "human:c"]
    assert "abstain" in recollect.text("inbox")
    decided = recollect.json("approve", id, "--reason", "fine", "--actor", "human:c")
    assert decided["status"] == "approved"
    assert len(decided["decision"]["votes"]) == 3


@pytest.mark.parametrize("verb", ["approve", "reject", "abstain"])
def test_a_decision_needs_a_reason(recollect: Command, verb: str) -> None:
    id = acted(recollect, LARGE)["proposal_id"]

    recollect.refused(verb, id, *LEE, status=2)
    assert len(recollect.json("inbox")) == 1


class Careful:
    """Whatever is new has to be approved."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        return operation.type == "create"

    def assess_risk(self, operation: MemoryOperation, /) -> Risk:
        return "high" if operation.type == "create" else "low"


def test_an_operation_on_memory_is_told_in_words_and_done_with_its_approval(
    recollect: Command,
) -> None:
    async def ask() -> str:
        human = HumanInTheLoop(["human:lee"])
        async with open_memory(
            "sqlite:///recollect.db", actor="agent:a", memory_policy=Careful(), authority=human
        ) as memory:
            with pytest.raises(ApprovalPending) as pending:
                await memory.remember("the plan is secret", id="plan")
            return pending.value.proposal

    id = asyncio.run(ask())

    shown = recollect.text("inbox")
    assert "system.memory.create create plan: the plan is secret" in shown
    assert "risk         high" in shown
    done = recollect.text("approve", id, "--reason", "fine", *LEE)
    assert done.split()[-4:] == ["done", "with", "the", "decision"]
    assert recollect.json("get", "plan")["data"] == "the plan is secret"
    assert "create plan: the plan is secret" in recollect.text("why", id)
    assert recollect.text("replay", "--report", *SHOP) == "1 execution: 1 not run.\n"
