"""Ids by their beginning, words that are no command, help, narrow terminals, completion."""

import os
import subprocess
import sys

import pytest
from rich.cells import cell_len

from memoranda.surfaces.cli.groups import DESTRUCTIVE
from memoranda.surfaces.cli.options import short_id
from tests.patience import PATIENCE
from tests.surfaces.cli.command import Command
from tests.surfaces.cli.shops import LARGE, LEE, SHOP, acted

WHY = ("--reason", "because")
UUID = "01a1ec7c-c2f2-7000-bac8-54a9c838c6b5"


@pytest.fixture
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())


# ------------------------------------------------------------------------------------ ids


def test_the_beginning_of_an_id_is_enough_if_only_one_begins_so(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "customer/7/tea")
    memoranda.json("remember", "coffee", "--id", "customer/8")

    assert memoranda.json("get", "customer/7")["data"] == "tea"
    assert memoranda.json("update", "customer/7", "green tea")["id"] == "customer/7/tea"
    assert memoranda.json("history", "customer/7/")[1]["act"] == "update"
    memoranda.json("forget", "customer/8", *WHY)
    assert memoranda.json("govern", "reinstate", "customer/8", *WHY)["version"] == 3


def test_where_several_begin_so_they_are_named(memoranda: Command) -> None:
    for id in ("a/1", "a/2", "a"):
        memoranda.json("remember", id, "--id", id)

    said = memoranda.refused("get", "a/", status=2)
    assert "a/1" in said
    assert "a/2" in said
    assert memoranda.json("get", "a")["data"] == "a"  # a whole id is that id
    assert "'zzz'" in memoranda.refused("get", "zzz", status=3)
    assert "''" in memoranda.refused("get", "", status=3)


def test_what_a_table_shows_is_taken(memoranda: Command) -> None:
    id = memoranda.json("remember", "tea")["id"]
    memoranda.json("remember", "coffee")

    shown = memoranda.text("list", "--text", "tea").splitlines()[1].split()[0]

    assert shown == short_id(id) == f"{id[:8]}…{id[-4:]}"
    assert memoranda.json("get", shown)["id"] == id
    assert memoranda.json("get", shown.replace("…", "..."))["id"] == id
    memoranda.setenv("COLUMNS", "120")
    assert id in memoranda("list").stdout


def test_only_ids_that_were_made_here_are_shortened() -> None:
    assert short_id(UUID) == "01a1ec7c…c6b5"
    assert short_id(f"prop-{UUID}") == "prop-01a1ec7c…c6b5"
    assert short_id("customer/7/prefers-email-over-calls") == "customer/7/prefers-email-over-calls"


@pytest.mark.usefixtures("own_modules")
def test_proposals_worlds_recalls_and_executions_are_found_so_too(memoranda: Command) -> None:
    memoranda.json("remember", "anything")
    recall = memoranda.json("recall", "anything")["traceId"]
    waiting = acted(memoranda, LARGE, "--memory", short_id(recall))["proposalId"]

    assert memoranda.json("worlds", "standing", short_id(waiting))["status"] == "evaluating"
    memoranda.json("approve", short_id(waiting), *WHY, *LEE)
    ran = memoranda("run", short_id(waiting), *SHOP)
    assert ran.exit_code == 0
    (branch,) = memoranda.json("worlds", "branches")
    world = branch["world"]
    assert memoranda.json("worlds", "restore", world[:12])["data"]
    assert memoranda.json("worlds", "branch", "other", "--at", world[:12])["world"] == world
    assert memoranda.json("worlds", "replay", short_id(waiting), *SHOP)["verdict"] == "same"
    for id, what in (
        (short_id(waiting), "proposal"),
        (recall[:20], "recall"),
        (world[:9], "world"),
    ):
        assert memoranda.json("why", id)["what"] == what


def test_before_something_is_erased_by_the_beginning_of_its_id_it_asks(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "customer/7")

    asked = memoranda("erase", "customer", *WHY, said="n\n")

    assert asked.exit_code == 1
    assert "customer/7" in asked.stderr
    assert memoranda.json("get", "customer/7")["data"] == "tea"
    assert memoranda.json("erase", "customer", *WHY, "--yes")["tombstones"][0]["id"] == "customer/7"


# ---------------------------------------------------------------------------------- words


@pytest.mark.parametrize("word", ["erse", "eras", "ereise", "forgot", "forge", "rejected"])
def test_nothing_destructive_is_suggested(memoranda: Command, word: str) -> None:
    said = memoranda.refused(word, status=2)

    assert not any(f"memoranda {one}'" in said for one in DESTRUCTIVE)


def test_what_may_be_meant_is_suggested(memoranda: Command) -> None:
    assert "'memoranda remember'" in memoranda.refused("rember", status=2)
    assert "'memoranda worlds replay'" in memoranda.refused("worlds", "reply", status=2)
    assert "'memoranda backup --help'" in memoranda.refused("backup", "list", status=2)


def test_help_is_a_command(memoranda: Command) -> None:
    assert memoranda.text("help") == memoranda.text("--help")
    assert memoranda.text("help", "worlds", "replay") == memoranda.text("worlds", "replay", "-h")
    assert "nowhere" in memoranda.refused("help", "nowhere", status=2)


@pytest.mark.parametrize("path", ["recall", "remember", "verify", "journal entries", "copy"])
def test_help_is_in_plain_words_with_the_common_options_apart(
    memoranda: Command, path: str
) -> None:
    shown = memoranda.text(*path.split(), "--help")

    assert not any(one in shown for one in ("<str>", "<int", "<bool>", "list[", "x>=0", "--no-f"))
    own, common = shown.split("─ Common options ")
    assert "--json" in common
    assert "--json" not in own


def test_completion_is_offered_and_completes(memoranda: Command) -> None:
    assert "--install-completion" in memoranda.text("--help")
    environment = {"_MEMORANDA_COMPLETE": "complete_bash", "COMP_WORDS": "memoranda rem"}
    done = subprocess.run(
        [sys.executable, "-m", "memoranda"],
        env={**os.environ, **environment, "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )

    assert done.stdout.split() == ["remember"]


# --------------------------------------------------------------------------------- widths


@pytest.mark.parametrize("width", [60, 80, 120])
def test_everything_fits_the_terminal(memoranda: Command, width: int) -> None:
    memoranda.setenv("COLUMNS", str(width))
    long = "고객은 서울에 살고 한국어로 답을 받고 싶어 한다. The customer lives in Seoul. " * 4
    id = memoranda.json("remember", long, "--source", "ticket/812", "--tag", "customer")["id"]
    memoranda.json("update", id, long + "Really.", *WHY)

    verbs = (
        ("list",), ("get", id), ("history", id), ("why", id), ("recall", "Seoul"), ("status",),
        ("verify",), ("journal", "entries"), ("govern", "policies"), ("scopes",), ("rules",),
    )  # fmt: skip
    for verb in verbs:
        shown = memoranda(*verb)
        assert (verb, shown.exit_code) == (verb, 0)
        assert max(map(cell_len, shown.stdout.splitlines())) <= width


def test_a_narrow_terminal_has_a_line_for_each_value(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x", "--scope", "support")
    memoranda.setenv("COLUMNS", "60")

    verified = memoranda("verify").stdout.splitlines()
    history = memoranda("history", "x", "--scope", "support").stdout.splitlines()

    assert verified[0].split() == ["scope", "support"]
    assert history[1].split() == ["did", "create"]


def test_a_policy_is_broken_between_words(memoranda: Command) -> None:
    memoranda.json("remember", "tea")

    shown = memoranda.text("govern", "policies")

    assert '"on_conflict": ' in " ".join(shown.split())


# ---------------------------------------------------------------------------------- times


def test_days_and_spans_are_times(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x", "--valid-to", "2999-12-31")
    memoranda.json("remember", "old", "--id", "y", "--expires", "yesterday")

    assert memoranda.json("get", "x")["validTo"] == 32503679999999  # the end of that day
    for asked in (("--created-after", "2h ago"), ("--created-before", "today"), ("--at", "now")):
        assert [one["id"] for one in memoranda.listed(*asked)] == ["x"]
    assert memoranda.listed("--at", "yesterday") == []
    assert [one["id"] for one in memoranda.listed("--at", "1")] == ["x"]  # an entry
    assert "soon" in memoranda.refused("list", "--created-after", "soon", status=2)
