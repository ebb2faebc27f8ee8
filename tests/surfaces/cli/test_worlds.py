"""``memoranda act``, ``run``, ``resume``, ``branches`` and ``restore``."""

import sys

import pytest

from memoranda.kernel.json import parse
from tests.surfaces.cli.command import Command
from tests.surfaces.cli.shops import DECIDED, KNOWN, LARGE, LEE, SHOP, SMALL, acted, wrote


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command imports is gone after the test."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


def test_an_action_runs_and_moves_the_head(memoranda: Command) -> None:
    run = acted(memoranda, SMALL)

    assert list(run) == [
        *("proposalId", "status", "executionKey", "world", "data", "recall"),
    ]
    assert (run["status"], run["recall"]) == ("completed", "answered")
    assert run["data"]["paid"]["t1"]["how"] == "card"
    (branch,) = memoranda.json("worlds", "branches")
    assert (branch["name"], branch["world"]) == ("main", run["world"])
    assert memoranda.text("worlds", "branches").startswith("branch  main")


def test_the_provider_recalls_and_remembers(memoranda: Command) -> None:
    memoranda.json("remember", "ann prefers a voucher", "--tag", "ann")

    assert acted(memoranda, SMALL)["data"]["paid"]["t1"]["how"] == "voucher"
    assert "ann was paid 20 for t1" in memoranda.text("list", "--tag", "ann")


@pytest.mark.rule("M-2", "C-1")
def test_an_action_rests_on_the_recalls_that_are_named_and_gets_their_memory(
    memoranda: Command,
) -> None:
    memoranda.json("remember", "ann prefers a voucher")
    traces = [
        memoranda.json("recall", question, "--top-k", "1")["traceId"]
        for question in ("what does ann prefer?", "vouchers?")
    ]
    named = [part for trace in traces for part in ("--memory", trace)]
    given = ("act", "refund", "--input", SMALL, *SHOP)

    run = parse(memoranda(*given, *named, "--json").stdout)
    other = parse(memoranda(*given, "--json").stdout)

    assert (run["recall"], run["data"]["paid"]["t1"]["how"]) == ("answered", "voucher")
    told = memoranda.json("why", run["proposalId"])["parts"]
    assert [part["id"] for part in told if part["what"] == "recall"] == traces
    assert other["recall"] == "none"  # another process knows of no recall but those named
    assert "nowhere" in memoranda.refused(*given, "--memory", "nowhere", status=3)


def test_what_waits_runs_once_it_is_approved(memoranda: Command) -> None:
    waiting = acted(memoranda, LARGE, "--reason", "lost")
    id = waiting["proposalId"]
    assert (waiting["status"], "world" in waiting) == ("evaluating", False)
    assert "waits for a decision" in memoranda.refused("run", id, *SHOP, status=3)

    memoranda.json("approve", id, "--reason", "yes", *LEE)
    ran = memoranda.text("run", id, *SHOP, *KNOWN)

    assert ran.startswith(f"completed  {id}")
    assert memoranda.text("run", id, *SHOP).startswith(f"completed  {id}")
    assert (
        memoranda.text("worlds", "resume", *SHOP) == "Nothing that was approved is left to run.\n"
    )


def test_resume_runs_what_was_approved(memoranda: Command) -> None:
    id = acted(memoranda, LARGE)["proposalId"]
    memoranda.json("approve", id, "--reason", "yes", *LEE)

    result = memoranda("worlds", "resume", *SHOP)

    assert result.exit_code == 0
    assert result.stdout.startswith(f"completed  {id}")
    assert "the bank pays kim 250" in result.stderr


def has_database(memoranda: Command) -> bool:
    return bool(list((memoranda.folder / "data").glob("*.db")))


def test_a_run_that_fails_is_told_and_exits_with_3(memoranda: Command) -> None:
    wrote(
        memoranda,
        "broken_shop",
        "from memoranda.worlds.domain import Domain\n"
        "shop = Domain('broken', '1')\n"
        "@shop.action\n"
        "def fall(ctx):\n"
        "    raise OverflowError('too deep')\n",
    )
    shown = memoranda.text("act", "fall", "--domain", "broken_shop:shop", status=3)

    assert shown.startswith("failed  prop-")
    assert "action.raised: too deep" in shown
    failed = memoranda.json("act", "fall", "--domain", "broken_shop:shop", status=3)
    assert failed["error"]["code"] == "action.raised"


def test_a_snapshot_is_restored_as_json(memoranda: Command) -> None:
    run = acted(memoranda, SMALL)

    world = memoranda.json("worlds", "restore", run["world"])
    execution = memoranda.json("worlds", "restore", run["executionKey"])

    assert world["data"] == run["data"]
    assert "input" not in world
    assert execution["input"]["$app"]["memoryContext"] == []
    assert "'nowhere'" in memoranda.refused("worlds", "restore", "nowhere", status=3)


def test_without_a_branch_that_is_said(memoranda: Command) -> None:
    memoranda.json("remember", "x")

    assert memoranda.json("worlds", "branches") == []
    assert "no branch yet" in memoranda.text("worlds", "branches")


def test_a_key_makes_a_retry_land_once(memoranda: Command) -> None:
    once = acted(memoranda, SMALL, "--idempotency-key", "k1")
    again = acted(memoranda, SMALL, "--idempotency-key", "k1")

    assert once["proposalId"] == again["proposalId"]


def test_a_scope_and_a_branch_are_named(memoranda: Command) -> None:
    violated = acted(memoranda, SMALL, "--path", "other", "--branch", "b2", status=3)

    assert violated["error"]["code"] == "scope.violated"
    assert [one["name"] for one in memoranda.json("worlds", "branches")] == ["b2"]


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
        ([*SHOP, "--input", "{"], "--input is not JSON"),
    ],
)
def test_what_is_wrong_with_the_code_is_said_plainly(
    memoranda: Command, arguments: list[str], said: str
) -> None:
    wrote(memoranda, "raising", "1 / 0")
    wrote(memoranda, "needing", "import no_such_module_either")

    assert said in memoranda.refused("act", "refund", *arguments, status=2)
    assert not has_database(memoranda)


def test_an_action_or_an_input_that_the_domain_does_not_know_is_refused(memoranda: Command) -> None:
    assert "no such action" in memoranda.refused("act", "fly", *SHOP, status=2)
    assert "ticket" in memoranda.refused("act", "refund", *SHOP, "--input", "{}", status=2)


def test_an_act_waits_for_a_decision_as_long_as_it_is_told(memoranda: Command) -> None:
    result = memoranda("act", "refund", "--input", LARGE, *SHOP, *DECIDED, "--wait", "0.01")

    assert result.exit_code == 0
    assert result.stdout.startswith("evaluating  prop-")


def test_a_host_of_ones_own_is_a_domain_too(memoranda: Command) -> None:
    wrote(
        memoranda,
        "own_host",
        "import memoranda\n"
        "from examples.refunds.shop import shop\n"
        "from memoranda.worlds.local_host import LocalHost\n"
        "host = memoranda.hosted_by(LocalHost(shop), shop.schema_hash, {'paid': {}})\n",
    )
    own = ("--domain", "own_host:host")
    result = memoranda("act", "refund", "--input", SMALL, *own)

    assert result.exit_code == 0
    assert memoranda.text("worlds", "replay", "--report", *own) == "1 execution: 1 same.\n"
