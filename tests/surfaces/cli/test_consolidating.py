"""``memoranda consolidate``, ``approve`` and ``supersede``."""

import pytest

from tests.surfaces.cli.command import Command

SAID = ("--statement", "x", "--justification", "y")


@pytest.fixture
def three(memoranda: Command) -> Command:
    """Two things with a source, and one without."""
    memoranda.json("remember", "Kim prefers email", "--id", "a", "--source", "ticket/1")
    memoranda.json("remember", "Kim wants no calls", "--id", "b", "--source", "ticket/2")
    memoranda.json("remember", "somebody said so", "--id", "c")
    return memoranda


def test_several_things_are_summed_up_and_stay(three: Command) -> None:
    receipt = three.json(
        *("govern", "consolidate", "a", "b", "--statement", "Write to Kim, don't call"),
        *("--justification", "both say so", "--tag", "kim", "--source", "ticket/3"),
        *("--derived-fragment", "Write to Kim"),
    )

    made = three.json("get", receipt["id"])
    assert made["statementType"] == "ConsolidatedStatement"
    assert [one["uri"] for one in made["sources"]] == ["ticket/1", "ticket/2", "ticket/3"]
    assert made["tags"] == ["kim"]
    assert len(three.listed()) == 4
    assert three.json("verify")["sound"]


def test_a_receipt_is_shown_to_people(three: Command) -> None:
    shown = three.text(
        "govern", "consolidate", "a", "b", "--statement", "x", "--justification", "y"
    )

    assert shown.startswith("consolidated  ")


def test_a_refusal_names_every_gate_and_changes_nothing(three: Command) -> None:
    three.json("forget", "b", "--reason", "wrong")
    asked = (
        *("govern", "consolidate", "a", "b", "c", "--statement", "all", "--justification", " "),
        *("--verdict", "Factual"),
    )
    before = three.json("status")[0]["size"]

    refused = three.json(*asked, status=3)
    shown = three.text(*asked, status=3)

    assert list(refused) == ["refused", "gates", "failures"]
    assert refused["refused"] is True
    assert refused["gates"] == ["A", "B", "E"]
    assert {"gate", "rule", "why", "ids"} == set(refused["failures"][0])
    assert [one["ids"] for one in refused["failures"] if one["rule"] == "GOV-CONS-5"] == [["c"]]
    assert "Refused by 3 gates: A, B, E. Nothing was changed." in shown
    assert all(one["rule"] in shown for one in refused["failures"])
    assert three.json("status")[0]["size"] == before


def test_a_conflict_is_refused_or_recorded(memoranda: Command) -> None:
    for id, verdict in (("a", "Inference"), ("b", "False")):
        memoranda.json(
            *("remember", "The office is open", "--id", id, "--source", f"ticket/{id}"),
            *("--verdict", verdict),
        )
    asked = (
        *("govern", "consolidate", "a", "b", "--statement", "It is disputed whether it is open"),
        *("--justification", "they disagree", "--verdict", "Unanswered"),
    )

    assert memoranda.json(*asked, status=3)["gates"] == ["D"]
    memoranda.json(*asked, "--on-conflict", "record")
    memoranda.refused(*asked, "--on-conflict", "ignore", status=2)


def test_what_is_not_there_or_not_said_can_not_be_consolidated(three: Command) -> None:
    said = ("--statement", "x", "--justification", "y")
    assert "'z'" in three.refused("govern", "consolidate", "a", "z", *said, status=3)
    assert three.json("govern", "consolidate", "a", *said, status=3)["gates"] == ["A"]
    three.refused("govern", "consolidate", *said, status=2)
    three.refused("govern", "consolidate", "a", "b", "--statement", "x", status=2)


def test_only_somebody_else_approves(three: Command) -> None:
    assert "human:7" in three.refused("approve", "a", "--reason", "ok", status=3)

    assert three.json("approve", "a", "--reason", "ok", "--actor", "human:8")["version"] == 2
    assert three.json("get", "a")["trust"] == "approved"
    assert three.text("approve", "b", "--reason", "ok", "--actor", "human:8").startswith("approved")
    three.refused("approve", "nothing", "--reason", "ok", status=3)
    three.refused("approve", "c", status=2)
    three.refused("approve", "c", "--reason", " ", "--actor", "human:8", status=2)


def test_something_new_stands_in_the_place_of_the_old(three: Command) -> None:
    done = three.json(
        *("govern", "supersede", "a", "Kim prefers letters", "--reason", "said so"),
        *("--cause", "correction", "--source", "ticket/4", "--tag", "kim"),
    )

    assert (done[0]["id"], done[0]["version"]) == ("a", 2)
    new = three.json("get", done[1]["id"])
    assert (new["data"], new["tags"]) == ("Kim prefers letters", ["kim"])
    assert f"superseded by '{new['id']}'" in three.refused("get", "a", status=3)
    assert three.json("verify")["sound"]


def test_what_supersedes_is_a_text_or_data_and_has_a_reason(three: Command) -> None:
    shown = three.text(
        "govern", "supersede", "a", "--data", '{"channel": "fax"}', "--reason", "said so"
    )
    three.text("govern", "supersede", "b", "-", "--reason", "said so", said="from a pipe\n")

    assert shown.startswith("superseded  a")
    assert [one["data"] for one in three.listed("--limit", "2")] == [
        "from a pipe", {"channel": "fax"},
    ]  # fmt: skip
    three.refused("govern", "supersede", "a", "again", "--reason", "x", status=3)
    three.refused("govern", "supersede", "c", "--reason", "x", status=2)
    three.refused("govern", "supersede", "c", "text", "--reason", " ", status=2)
    three.refused("govern", "supersede", "c", "text", status=2)
    assert three.json("get", "c")["version"] == 1
