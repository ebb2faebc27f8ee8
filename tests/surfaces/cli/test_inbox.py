"""``memoranda inbox``, ``approve``, ``reject`` and ``abstain``."""

import asyncio
import sys

import pytest

from memoranda import App
from memoranda.app.opening import open as open_memory
from memoranda.kernel.errors import ApprovalPending
from memoranda.records.model import MemoryOperation, Risk
from memoranda.worlds.policies import HumanInTheLoop
from tests.surfaces.cli.command import Command
from tests.surfaces.cli.shops import LARGE, LEE, SHOP, acted, wrote

TRIBUNAL = """
from memoranda.worlds.policies import Majority, Tribunal

three = Tribunal(["human:a", "human:b", "human:c"], Majority())
"""


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command imports is gone after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


def test_the_inbox_tells_what_somebody_has_to_know(memoranda: Command) -> None:
    id = acted(memoranda, LARGE, "--reason", "the parcel never arrived")["proposalId"]

    (waiting,) = memoranda.json("inbox")
    shown = memoranda.text("inbox")

    assert list(waiting) == ["proposal", "branch", "waitingFor", "until", "risk", "votes"]
    assert (waiting["proposal"]["proposalId"], waiting["waitingFor"]) == (id, ["human:lee"])
    for told in (id, "refund", '"amount": 250', "human:7", "the parcel never arrived", "human:lee"):
        assert told in shown
    assert waiting["proposal"]["baseWorld"][:12] in shown


def test_an_empty_inbox_says_so(memoranda: Command) -> None:
    memoranda.json("remember", "x")

    assert memoranda.json("inbox") == []
    assert memoranda.text("inbox") == "Nothing waits for a decision.\n"


def test_a_decision_is_made_once_and_by_whoever_may(memoranda: Command) -> None:
    id = acted(memoranda, LARGE)["proposalId"]

    assert "proposed it" in memoranda.refused("approve", id, "--reason", "x", status=3)
    stranger = ("--actor", "human:8")
    assert "not among those" in memoranda.refused(
        "reject", id, "--reason", "x", *stranger, status=3
    )
    rejected = memoranda.json("reject", id, "--reason", "too much", *LEE)
    assert (rejected["status"], rejected["verdict"]) == ("rejected", "rejected")
    assert rejected["decision"]["decision"] == {"kind": "rejected", "reason": "too much"}
    assert "already" in memoranda.refused("approve", id, "--reason", "x", *LEE, status=3)
    assert memoranda.json("inbox") == []
    assert memoranda.text("run", id, *SHOP, status=3).startswith("rejected  prop-")


def test_one_verb_approves_proposals_and_what_is_remembered(memoranda: Command) -> None:
    memoranda.json("remember", "x", "--id", "fact")
    id = acted(memoranda, LARGE)["proposalId"]

    assert memoranda.json("approve", "fact", "--reason", "seen", *LEE)["version"] == 2
    shown = memoranda.text("approve", id, "--reason", "seen", *LEE)
    assert shown.startswith(f"approved   {id}")
    assert "memoranda run" in shown
    memoranda.refused("approve", "nothing", "--reason", "x", status=3)


def test_a_tribunal_votes_until_it_is_decided(memoranda: Command) -> None:
    wrote(memoranda, "court", TRIBUNAL)
    words = ("act", "refund", "--input", LARGE, *SHOP, "--authority", "court:three", "--json")
    assert memoranda(*words).exit_code == 0
    id = memoranda.json("inbox")[0]["proposal"]["proposalId"]

    voted = memoranda.json("abstain", id, "--reason", "unsure", "--actor", "human:a")
    assert (voted["status"], voted["waitingFor"]) == ("evaluating", ["human:b", "human:c"])
    shown = memoranda.text("approve", id, "--reason", "fine", "--actor", "human:b")
    assert shown.split() == ["voted", id, "waiting", "for", "human:c"]
    assert "abstain" in memoranda.text("inbox")
    decided = memoranda.json("approve", id, "--reason", "fine", "--actor", "human:c")
    assert decided["status"] == "approved"
    assert len(decided["decision"]["votes"]) == 3


@pytest.mark.parametrize("verb", ["approve", "reject", "abstain"])
def test_a_decision_needs_a_reason(memoranda: Command, verb: str) -> None:
    id = acted(memoranda, LARGE)["proposalId"]

    memoranda.refused(verb, id, *LEE, status=2)
    assert len(memoranda.json("inbox")) == 1


class Careful:
    """Whatever is new has to be approved."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        return operation.type == "create"

    def assess_risk(self, operation: MemoryOperation, /) -> Risk:
        return "high" if operation.type == "create" else "low"


def test_an_operation_on_memory_is_told_in_words_and_done_with_its_approval(
    memoranda: Command,
) -> None:
    async def ask() -> str:
        human = HumanInTheLoop(["human:lee"])
        async with open_memory(
            "memoranda.db", actor="agent:a", app=App(memory_policy=Careful(), authority=human)
        ) as memory:
            with pytest.raises(ApprovalPending) as pending:
                await memory.remember("the plan is secret", id="plan")
            return pending.value.proposal

    id = asyncio.run(ask())

    shown = memoranda.text("inbox")
    assert "system.memory.create create plan: the plan is secret" in shown
    assert "risk         high" in shown
    done = memoranda.text("approve", id, "--reason", "fine", *LEE)
    assert done.split()[-4:] == ["done", "with", "the", "decision"]
    assert memoranda.json("get", "plan")["data"] == "the plan is secret"
    assert "create plan: the plan is secret" in memoranda.text("why", id)
    assert memoranda.text("worlds", "replay", "--report", *SHOP) == "1 execution: 1 not run.\n"
