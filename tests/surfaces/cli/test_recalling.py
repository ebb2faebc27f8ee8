"""`memoranda recall`, `original` and `embed`: what is selected, and what it was."""

from tests.surfaces.cli.command import Command

QUESTION = "how long until Anna has her money back?"


def remembered(memoranda: Command) -> None:
    memoranda.text("remember", "Anna: I want my money back", "--source", "ticket/1", "--id", "a")
    memoranda.text("remember", "Bob: it takes 14 days", "--source", "ticket/1", "--id", "b")


def test_a_recall_says_what_was_found_and_why(memoranda: Command) -> None:
    remembered(memoranda)

    shown = memoranda.text("recall", QUESTION, "--top-k", "2")

    assert "found" in shown
    assert "Bob: it takes 14 days" in shown
    assert "next to a match, 1 record before" in shown
    assert "id b; " in shown
    assert "verified" in shown


def test_a_recall_for_machines_leads_to_its_original_and_its_trace(memoranda: Command) -> None:
    remembered(memoranda)

    found = memoranda.json("recall", QUESTION, "--top-k", "1")

    item = found["items"][0]
    assert (found["outcome"], item["id"], item["verified"]) == ("found", "a", True)
    original = memoranda.json("journal", "original", item["ref"]["worldId"])
    assert (original["record"]["data"], original["verified"]) == (item["data"], True)
    assert "verified" in memoranda.text("journal", "original", item["ref"]["worldId"])
    why = memoranda.json("why", found["traceId"])
    assert (why["what"], why["known"]["query"]) == ("recall", QUESTION)
    assert QUESTION in memoranda.text("why", found["traceId"])


def test_an_empty_recall_is_an_answer(memoranda: Command) -> None:
    remembered(memoranda)

    shown = memoranda.text("recall", "submarine", "--top-k", "3")
    assert shown.startswith("empty  trace-")
    assert "Nothing was found. Ask in other words" in shown
    assert memoranda.json("recall", "submarine", "--top-k", "3")["items"] == []


def test_constraints_are_options(memoranda: Command) -> None:
    remembered(memoranda)
    memoranda.text("remember", "money is tagged", "--tag", "x", "--id", "c")

    tagged = memoranda.json("recall", "money", "--top-k", "5", "--tag", "x")
    sure = memoranda.json("recall", "money", "--top-k", "5", "--min-confidence", "0.99")
    none = memoranda.json("recall", "money", "--top-k", "5", "--token-budget", "0")
    before = memoranda.json(
        "recall", "money", "--top-k", "5", "--created-before", "2001-01-01T00:00:00Z"
    )
    verified = memoranda.json("recall", "money", "--top-k", "5", "--verified-only")

    assert [one["id"] for one in tagged["items"]] == ["c"]
    assert [len(one["items"]) for one in (sure, none, before)] == [0, 0, 0]
    assert {one["id"] for one in verified["items"]} == {"a", "b", "c"}


def test_five_are_recalled_where_nothing_else_is_said(memoranda: Command) -> None:
    for number in range(7):
        memoranda.text("remember", f"invoice {number} was paid", "--id", f"i{number}")

    assert len(memoranda.json("recall", "which invoice was paid?")["items"]) == 5


def test_an_unknown_selector_and_one_that_is_off_are_told(memoranda: Command) -> None:
    remembered(memoranda)

    assert memoranda("recall", QUESTION, "--top-k", "1", "--selector", "psychic").exit_code == 2
    assert memoranda("recall", QUESTION, "--top-k", "1", "--selector", "meaning").exit_code == 4
    assert "MEMORANDA_EMBEDDER_FOLDER" in memoranda.refused("maintain", "embed", status=4)
    assert "must be a text that is not blank" in memoranda.refused("recall", " ", status=2)


def test_a_reference_to_nothing_is_told(memoranda: Command) -> None:
    remembered(memoranda)

    assert memoranda("journal", "original", "f" * 64).exit_code == 3


def test_framed_is_what_a_model_is_shown(memoranda: Command) -> None:
    remembered(memoranda)

    shown = memoranda("recall", "money", "--top-k", "1", "--framed")

    assert shown.stdout.splitlines()[2] == "> Anna: I want my money back"
