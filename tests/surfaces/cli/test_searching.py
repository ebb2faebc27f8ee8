"""``memoranda search`` and ``memoranda reindex``."""

import pytest

from tests.surfaces.cli.command import Command


@pytest.fixture
def some(memoranda: Command) -> Command:
    """Things of two languages, in two scopes."""
    memoranda.json("remember", "The customer prefers email", "--id", "email")
    memoranda.json("remember", "고객은 전화를 원한다", "--id", "전화")
    memoranda.json("remember", "Customers call on Mondays", "--id", "calls")
    memoranda.json("remember", "a customer of another scope", "--id", "other", "-s", "two")
    return memoranda


def found(command: Command, *arguments: str) -> list[str]:
    return [one["id"] for one in command.listed("--text", *arguments)]


def test_words_are_found_newest_first_in_their_scope(some: Command) -> None:
    assert found(some, "customers") == ["calls", "email"]
    assert found(some, "고객") == ["전화"]
    assert found(some, "customer", "-s", "two") == ["other"]
    assert "전화" in some.text("list", "--text", "고객에게")


def test_every_word_is_asked_for_or_any(some: Command) -> None:
    assert found(some, "customer email") == ["email"]
    assert found(some, "customer email", "--any") == ["calls", "email"]
    assert found(some, "customer", "--limit", "1") == ["calls"]
    assert found(some, "customer", "--limit", "0") == []


def test_what_is_forgotten_or_says_nothing_is_not_found(some: Command) -> None:
    some.json("forget", "calls", "--reason", "wrong")

    assert found(some, "customer") == ["email"]
    assert found(some, "...") == []
    assert some.text("list", "--text", "zebra") == "Nothing that fits is remembered.\n"
    assert found(some, "customer", "--factual") == []


def test_a_search_makes_no_database(memoranda: Command) -> None:
    memoranda.refused("list", "--text", "anything", status=4)
    memoranda.refused("reindex", status=4)

    assert list((memoranda.folder / "data").iterdir()) == []


def test_an_index_is_made_anew_and_logged(some: Command) -> None:
    before = {one["scope"]: one["size"] for one in some.json("status")}

    made = some.json("reindex")

    assert [(one["scope"], one["objects"]) for one in made] == [("default", 3), ("two", 1)]
    assert found(some, "customers") == ["calls", "email"]
    assert some.json("verify")["sound"]
    assert {one["scope"]: one["size"] for one in some.json("status")} == {
        scope: entries + 1 for scope, entries in before.items()
    }
    assert some.text("reindex", "-s", "two").startswith("reindexed  two")
