"""``memoranda forget``, ``archive``, ``reinstate`` and ``erase``."""

import pytest

from tests.surfaces.cli.command import Command

CERTIFICATE = ["type", "origin", "actor", "at", "reason", "cause", "counts", "dryRun", "tombstones"]
CANARY = "zanzibar-canary"


@pytest.fixture
def three(memoranda: Command) -> Command:
    """Three things, two of them about one person."""
    memoranda.json("remember", f"one {CANARY}", "--id", "a", "--subject", "p7", "--tag", "t")
    memoranda.json("remember", "two", "--id", "b", "--subject", "p7")
    memoranda.json("remember", "three", "--id", "c")
    memoranda.json("update", "a", f"one, better {CANARY}")
    return memoranda


def test_forgotten_things_are_not_listed_and_come_back(three: Command) -> None:
    three.json("forget", "a", "--reason", "wrong", "--cause", "correction")
    archived = three.json("govern", "archive", "b", "--reason", "old")

    assert [one["id"] for one in three.listed()] == ["c"]
    assert "invalidated" in three.refused("get", "a", status=3)
    shown = three.listed("--include", "invalidated", "--include", "archived")
    assert {one["id"]: one["status"] for one in shown} == {
        "a": "invalidated", "b": "archived", "c": "active",
    }  # fmt: skip
    assert "invalidated" in three.text("list", "--include", "invalidated")
    assert archived["version"] == 2
    assert three.json("govern", "reinstate", "b", "--reason", "still needed")["version"] == 3
    assert [one["id"] for one in three.listed()] == ["c", "b"]


@pytest.mark.parametrize("verb", ["forget", "govern archive", "govern reinstate", "erase"])
def test_every_verb_of_forgetting_needs_a_reason(three: Command, verb: str) -> None:
    three.refused(*verb.split(), "a", status=2)
    status = 3 if verb == "govern reinstate" else 2
    three.refused(*verb.split(), "a", "--reason", "  ", status=status)
    assert three.json("get", "a")["version"] == 2


def test_a_cause_is_one_of_the_named_ones(three: Command) -> None:
    three.refused("forget", "a", "--reason", "x", "--cause", "whim", status=2)


def test_a_verb_that_the_status_rules_out_is_exit_3(three: Command) -> None:
    assert "active" in three.refused("govern", "reinstate", "a", "--reason", "x", status=3)


def test_a_dry_run_counts_and_changes_nothing(three: Command) -> None:
    would = three.json("erase", "--subject", "p7", "--reason", "asked", "--dry-run")

    assert list(would) == CERTIFICATE
    assert would["dryRun"] is True
    assert (would["counts"]["objects"], would["counts"]["versions"]) == (2, 3)
    assert would["tombstones"] == []
    assert three.json("get", "a")["version"] == 2
    shown = three.text("erase", "--whole-scope", "--reason", "asked", "--dry-run")
    assert shown.startswith("would be erased  3 objects")


def test_erasing_one_thing_asks_nothing_and_leaves_a_certificate(three: Command) -> None:
    certificate = three.json("erase", "a", "--reason", "asked")

    counts = certificate["counts"]
    assert (certificate["dryRun"], counts["objects"], counts["versions"]) == (False, 1, 2)
    assert [one["id"] for one in certificate["tombstones"]] == ["a"]
    assert three.refused("get", "a", status=3) == (
        "error: The record 'a' is erased: it can't be shown.\n"
    )
    assert [event["remembered"] for event in three.json("history", "a")] == [None] * 3
    assert three.json("verify")["sound"]
    for file in (three.folder / "data").iterdir():
        assert CANARY.encode() not in file.read_bytes()


def test_erasing_more_than_one_thing_counts_first_and_asks(three: Command) -> None:
    asked = ("erase", "--subject", "p7", "--reason", "asked")
    declined, no_answer = three(*asked, said="n\n"), three(*asked, said="")
    assert (declined.exit_code, no_answer.exit_code) == (1, 1)
    assert "erased" not in declined.stdout
    assert "2 objects" in declined.stderr
    assert len(three.listed()) == 3

    agreed = three(*asked, said="y\n")
    assert agreed.exit_code == 0
    assert "erased   2 objects" in agreed.stdout
    assert [one["id"] for one in three.listed()] == ["c"]


def test_with_yes_a_whole_scope_goes_without_a_question(three: Command) -> None:
    certificate = three.json("erase", "--whole-scope", "--reason", "asked", "--yes")

    assert certificate["counts"]["objects"] == 3
    assert three.listed("--include", "invalidated") == []
    again = three.json("erase", "--whole-scope", "--reason", "asked again")
    assert again == certificate, "and nobody is asked about what is gone"


def test_what_went_with_others_is_not_asked_about_again(three: Command) -> None:
    certificate = three.json("erase", "--subject", "p7", "--reason", "asked", "--yes")

    again = three.json("erase", "a", "--reason", "asked once more")

    assert again == certificate


def test_what_is_to_be_erased_is_named_once(three: Command) -> None:
    three.refused("erase", "--reason", "x", status=2)
    three.refused("erase", "a", "--whole-scope", "--reason", "x", status=2)
    three.refused("erase", "nothing", "--reason", "x", status=3)


def test_scrub_alone_writes_the_database_anew(three: Command) -> None:
    assert three.json("maintain", "scrub") == {"scrubbed": True}
    assert "written anew" in three.text("maintain", "scrub")
    assert three.json("verify")["sound"]


def test_every_count_of_an_erasure_is_told_in_words(three: Command) -> None:
    three.json("remember", "four", "--id", "d", "--tag", "t", "--idempotency-key", "once")

    shown = " ".join(three.text("erase", "d", "--reason", "asked", "--dry-run").split())

    assert "1 object (0 made from others) with 1 version, 1 tag, 1 word in the index" in shown
    assert "1 word in the index and 1 retry" in shown


def test_a_subject_that_is_no_text_is_refused(three: Command) -> None:
    words = ("erase", "--subject", "\udcff", "--reason", "asked for", "--yes")

    assert "subject" in three.refused(*words, status=2)
    assert len(three.listed()) == 3


def test_what_is_said_of_a_thing_passes_on(three: Command) -> None:
    three.json("remember", "Kim lives here", "--id", "k", "--source", "doc/1", "--subject", "kim")

    updated = three.json("update", "k", "Kim lives there", "--tag", "home")
    assert updated["droppedSources"] == 1
    assert "1 source" in three.text("update", "k", "Kim", "--source", "doc/2") + three.text(
        "update", "k", "Kim was here"
    )
    both = three.json(
        "govern", "supersede", "k", "Kim left", "--reason", "moved", "--jurisdiction", "DE"
    )
    heir = three.json("get", both[1]["id"])
    assert (heir["subject"], heir["tags"], heir["sources"]) == ("kim", ["home"], [])
    three.json("update", both[1]["id"], "Lee left", "--subject", "lee")
    assert three.json("get", both[1]["id"])["subject"] == "lee"
    assert three.refused("update", "c", "x", "--keep-sources", status=2)


def test_a_question_goes_with_the_person_or_by_its_id(three: Command) -> None:
    about = three.json("recall", "Hildegunde", "--top-k", "1", "--subject", "hilde")
    other = three.json("recall", "Waldemar", "--top-k", "1")

    assert three.json("erase", "--subject", "hilde", "--reason", "asked")["counts"]["traces"] == 1
    certificate = three.json("erase", other["traceId"], "--reason", "asked")
    assert (certificate["counts"]["traces"], certificate["scrubbed"]) == (1, True)
    assert three.json("erase", other["traceId"], "--reason", "again") == certificate
    assert "erased" in three.text("why", about["traceId"])
