"""``recollect act``, ``run``, ``resume``, ``branches`` and ``restore``."""

import sys

import pytest

from tests.cli.command import Command
from tests.cli.shops import DECIDED, KNOWN, LARGE, LEE, SHOP, SMALL, acted, wrote


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command imports is gone after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


def test_an_action_runs_and_moves_the_head(recollect: Command) -> None:
    run = acted(recollect, SMALL)

    assert list(run) == [
        *("proposal_id", "status", "execution_key", "world", "data", "error", "recall"),
    ]
    assert (run["status"], run["recall"]) == ("completed", "answered")
    assert run["data"]["paid"]["t1"]["how"] == "card"
    (branch,) = recollect.json("branches")
    assert (branch["name"], branch["world"]) == ("main", run["world"])
    assert recollect.text("branches").startswith("branch  main")


def test_the_provider_recalls_and_remembers(recollect: Command) -> None:
    recollect.json("remember", "ann prefers a voucher", "--tag", "ann")

    assert acted(recollect, SMALL)["data"]["paid"]["t1"]["how"] == "voucher"
    assert "ann was paid 20 for t1" in recollect.text("list", "--tag", "ann")


def test_what_waits_runs_once_it_is_approved(recollect: Command) -> None:
    waiting = acted(recollect, LARGE, "--why", "lost")
    id = waiting["proposal_id"]
    assert (waiting["status"], waiting["world"]) == ("evaluating", None)
    assert "evaluating" in recollect.refused("run", id, *SHOP, status=3)

    recollect.json("approve", id, "--reason", "yes", *LEE)
    ran = recollect.text("run", id, *SHOP, *KNOWN)

    assert ran.startswith(f"completed  {id}")
    assert recollect.text("run", id, *SHOP).startswith(f"completed  {id}")
    assert recollect.text("resume", *SHOP) == "Nothing that was approved is left to run.\n"


def test_resume_runs_what_was_approved(recollect: Command) -> None:
    id = acted(recollect, LARGE)["proposal_id"]
    recollect.json("approve", id, "--reason", "yes", *LEE)

    result = recollect("resume", *SHOP)

    assert result.exit_code == 0
    assert result.stdout.startswith(f"completed  {id}")
    assert "the bank pays kim 250" in result.stderr


def has_database(recollect: Command) -> bool:
    return bool(list((recollect.folder / "data").glob("*.db")))


def test_a_run_that_fails_is_told_and_exits_with_3(recollect: Command) -> None:
    wrote(
        recollect,
        "broken_shop",
        "from recollect.worlds import Domain\n"
        "shop = Domain('broken', '1')\n"
        "@shop.action\n"
        "def fall(ctx):\n"
        "    raise OverflowError('too deep')\n",
    )
    shown = recollect.text("act", "fall", "--domain", "broken_shop:shop", status=3)

    assert shown.startswith("failed  prop-")
    assert "action.raised: too deep" in shown
    failed = recollect.json("act", "fall", "--domain", "broken_shop:shop", status=3)
    assert failed["error"]["code"] == "action.raised"


def test_a_snapshot_is_restored_as_json(recollect: Command) -> None:
    run = acted(recollect, SMALL)

    world = recollect.json("restore", run["world"])
    execution = recollect.json("restore", run["execution_key"])

    assert world["data"] == run["data"]
    assert "input" not in world
    assert execution["input"]["$app"]["memoryContext"] == []
    assert "'nowhere'" in recollect.refused("restore", "nowhere", status=3)


def test_without_a_branch_that_is_said(recollect: Command) -> None:
    recollect.json("remember", "x")

    assert recollect.json("branches") == []
    assert "no branch yet" in recollect.text("branches")


def test_a_key_makes_a_retry_land_once(recollect: Command) -> None:
    once = acted(recollect, SMALL, "--key", "k1")
    again = acted(recollect, SMALL, "--key", "k1")

    assert once["proposal_id"] == again["proposal_id"]


def test_a_scope_and_a_branch_are_named(recollect: Command) -> None:
    violated = acted(recollect, SMALL, "--allow", "other", "--branch", "b2", status=3)

    assert violated["error"]["code"] == "scope.violated"
    assert [one["name"] for one in recollect.json("branches")] == ["b2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--domain", "shop"], "'shop' is not written as MODULE:NAME"),
        (["--domain", "no_such_module:shop"], "there is no module 'no_such_module'"),
        (["--domain", "examples.refunds.shop:nothing"], "It has: examples.refunds.shop:shop."),
        (["--domain", "examples.refunds.shop:LIMIT"], "is a int, and no Domain"),
        (["--domain", "raising:shop"], "can't be imported: ZeroDivisionError"),
        (["--domain", "needing:shop"], "needs a module that is missing"),
        ([*SHOP, "--authority", "examples.refunds.shop:pay"], "and not a policy"),
        ([*SHOP, "--provider", "examples.refunds.shop:pay"], "and not a MemoryProvider"),
        ([*SHOP, "--input", "{"], "--input is no JSON"),
    ],
)
def test_what_is_wrong_with_the_code_is_said_plainly(
    recollect: Command, arguments: list[str], said: str
) -> None:
    wrote(recollect, "raising", "1 / 0")
    wrote(recollect, "needing", "import no_such_module_either")

    assert said in recollect.refused("act", "refund", *arguments, status=2)
    assert not has_database(recollect)


def test_an_action_or_an_input_that_the_domain_does_not_know_is_refused(recollect: Command) -> None:
    assert "no such action" in recollect.refused("act", "fly", *SHOP, status=2)
    assert "ticket" in recollect.refused("act", "refund", *SHOP, "--input", "{}", status=2)


def test_an_act_waits_for_a_decision_as_long_as_it_is_told(recollect: Command) -> None:
    result = recollect("act", "refund", "--input", LARGE, *SHOP, *DECIDED, "--wait", "0.01")

    assert result.exit_code == 0
    assert result.stdout.startswith("waiting  prop-")


def test_a_host_of_ones_own_is_a_domain_too(recollect: Command) -> None:
    wrote(
        recollect,
        "own_host",
        "import recollect\n"
        "from examples.refunds.shop import shop\n"
        "from recollect.worlds import LocalHost\n"
        "host = recollect.hosted_by(LocalHost(shop), shop.schema_hash, {'paid': {}})\n",
    )
    own = ("--domain", "own_host:host")
    result = recollect("act", "refund", "--input", SMALL, *own)

    assert result.exit_code == 0
    assert recollect.text("replay", "--report", *own) == "1 execution: 1 same.\n"
