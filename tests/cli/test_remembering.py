"""``recollect remember``, ``update``, ``list``, ``get`` and ``history``."""

import os

import pytest
from rich.cells import cell_len

from recollect.ledger.validate import validate_object
from tests.cli.command import Command

RECEIPT = ["id", "version", "entry_hash", "size"]
OBJECT = [
    *("id", "version", "data", "status", "statement_type", "verdict", "trust", "sources"),
    *("created_at", "updated_at", "valid_from", "valid_to", "expires_at", "subject", "tags"),
    *("meta", "hash"),
]
EVENT = ["version", "entry", "event", "at", "actor", "reason", "object"]


def test_what_is_remembered_is_got_with_all_that_was_said_of_it(recollect: Command) -> None:
    receipt = recollect.json(
        *("remember", "The customer prefers email", "--id", "pref", "--source", "ticket/812"),
        *("--source", "call/3", "--tag", "customer", "--tag", "channel", "--subject", "person/7"),
        *("--valid-from", "2026-01-01T00:00:00Z", "--valid-to", "2999-12-31T00:00:00Z"),
        *("--expires", "2999-12-31T00:00:00Z", "--verdict", "Factual"),
    )
    found = recollect.json("get", "pref")

    assert list(receipt) == RECEIPT
    assert (receipt["id"], receipt["version"], receipt["size"]) == ("pref", 1, 2)
    assert list(found) == OBJECT
    assert found["data"] == "The customer prefers email"
    assert found["sources"] == [{"uri": "ticket/812"}, {"uri": "call/3"}]
    assert set(found["tags"]) == {"customer", "channel"}
    assert found["subject"] == "person/7"
    assert found["statement_type"] == "UserProvidedStatement"
    assert found["valid_to"] == found["expires_at"] == 32503593600000
    assert recollect.json("get", "pref", "--factual") == found


def test_data_is_remembered_and_patched(recollect: Command) -> None:
    recollect.json("remember", "--data", '{"도시":"서울","n":1}', "--id", "kr")
    receipt = recollect.json("update", "kr", "--data", '{"n":2}', "--expected-version", "1")

    assert receipt["version"] == 2
    assert recollect.json("get", "kr")["data"] == {"도시": "서울", "n": 2}


def test_a_text_comes_from_standard_input(recollect: Command) -> None:
    recollect.json("remember", "-", "--id", "x", said="한 줄\nand another\n")

    assert recollect.json("get", "x")["data"] == "한 줄\nand another"


@pytest.mark.parametrize(
    "arguments",
    [
        ("remember",),
        ("remember", "both", "--data", "1"),
        ("remember", "--data", "{"),
        ("remember", "x", "--expires", "tomorrow"),
        ("remember", "x", "--verdict", "Factual"),
        ("remember", "x", "--verdict", "Perhaps"),
        ("remember", "x", "--actor", "nobody"),
        ("remember", "x", "--scope", ""),
        ("remember", "x", "-d", "dict://"),
        ("remember", "x", "-d", "sqlite://:memory:"),
    ],
)
def test_what_can_not_be_meant_is_refused_and_nothing_is_made(
    recollect: Command, arguments: tuple[str, ...]
) -> None:
    recollect.refused(*arguments, status=2)

    assert "x" not in recollect("list").stdout


def test_looking_makes_no_database_and_no_scope(recollect: Command) -> None:
    for verb in (("list",), ("get", "x"), ("history", "x"), ("update", "x", "y"), ("status",)):
        recollect.refused(*verb, status=4)
    assert list((recollect.folder / "data").iterdir()) == []

    recollect.json("remember", "x", "--scope", "support")
    recollect.refused("list", "--scope", "other", status=4)
    assert recollect.json("scopes") == ["support"]


def test_the_list_is_newest_first_and_takes_tags_and_a_limit(recollect: Command) -> None:
    for number in range(3):
        tags = ["--tag", "odd"] if number % 2 else ["--tag", "even"]
        recollect.json("remember", f"number {number}", "--id", f"n{number}", *tags)

    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in recollect.json("list", *arguments)]

    assert ids() == ["n2", "n1", "n0"]
    assert ids("--tag", "even") == ["n2", "n0"]
    assert ids("--limit", "1", "--offset", "1") == ["n1"]
    assert ids("--limit", "0") == []
    assert "Nothing" in recollect.text("list", "--tag", "none")


def test_both_times_are_answered(recollect: Command) -> None:
    recollect.json(
        *("remember", "then", "--id", "x", "--valid-from", "2020-01-01T00:00:00Z"),
        *("--valid-to", "2999-01-01T00:00:00Z"),
    )
    recollect.json("remember", "past", "--id", "y", "--expires", "2020-01-01T00:00:00Z")

    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in recollect.json("list", *arguments)]

    assert ids() == ["x"]
    assert ids("--include", "expired") == ["y", "x"]
    assert ids("--as-of", "2020-01-01T00:00:00Z") == []
    assert ids("--valid-at", "2010-01-01T00:00:00Z") == ["y"]
    assert "expired" in recollect.refused("get", "y", status=3)
    assert recollect.json("get", "y", "--include", "expired")["data"] == "past"


def test_history_has_every_step_with_its_reason(recollect: Command) -> None:
    recollect.json("remember", "one", "--id", "x")
    recollect.json("update", "x", "two", "--reason", "better known", "--actor", "agent:a")
    recollect.json("forget", "x", "--reason", "obsolete")

    events = recollect.json("history", "x")

    assert [list(event) for event in events] == [EVENT] * 3
    assert [event["event"] for event in events] == ["create", "create", "invalidate"]
    assert [event["actor"] for event in events] == ["human:7", "agent:a", "human:7"]
    assert [event["reason"] for event in events] == [None, "better known", "obsolete"]
    assert [event["object"]["data"] for event in events] == ["one", "two", "two"]
    assert "why: better known" in recollect.text("history", "x")


def test_an_unknown_id_is_exit_3(recollect: Command) -> None:
    recollect.json("remember", "one", "--id", "x")

    for verb in (("get", "y"), ("history", "y"), ("update", "y", "two"), ("get", "y", "--object")):
        assert "'y'" in recollect.refused(*verb, status=3)
    assert recollect.refused("update", "x", "two", "--expected-version", "7", status=3)


def test_a_retry_with_its_key_lands_once(recollect: Command) -> None:
    first = recollect.json("remember", "one", "--key", "request 1")

    assert recollect.json("remember", "one", "--key", "request 1") == first
    recollect.refused("remember", "two", "--key", "request 1", status=3)


def test_by_default_the_actor_is_a_number_and_no_name(recollect: Command) -> None:
    recollect.environment.delenv("RECOLLECT_ACTOR")
    recollect.json("remember", "one", "--id", "x")

    assert recollect.json("history", "x")[0]["actor"] == f"human:uid-{os.getuid()}"


def test_scope_and_database_come_from_the_environment(recollect: Command) -> None:
    recollect.setenv("RECOLLECT_DATABASE_URL", "sqlite:///other.db")
    recollect.setenv("RECOLLECT_SCOPE", "support")
    recollect.json("remember", "one")

    assert recollect.json("scopes") == ["support"]
    assert (recollect.folder / "data" / "other.db").exists()


def test_the_object_of_the_seed_is_printed_and_valid(recollect: Command) -> None:
    recollect.json("remember", "고객은 이메일을 선호한다", "--id", "x", "--source", "ticket/1")

    document = recollect.json("get", "x", "--object")

    assert document["type"] == "MemoryObject"
    assert validate_object(document) == []


def test_korean_lines_up(recollect: Command) -> None:
    recollect.json("remember", "고객은 서울에 살고 한국어로 답을 받고 싶어 한다 " * 3)
    recollect.json("remember", "The customer lives in Seoul, and wants answers in Korean " * 3)

    shown = recollect("list").stdout.splitlines()

    assert {cell_len(line) for line in shown} == {80}


def test_what_is_remembered_can_not_steer_a_terminal(recollect: Command) -> None:
    recollect.json("remember", "red \x1b[31m alert\u202e bell\x07", "--id", "x")

    for verb in (("list",), ("get", "x"), ("history", "x")):
        shown = recollect.text(*verb)
        assert not {"\x1b", "\u202e", "\x07"} & set(shown)
    assert recollect.json("get", "x")["data"] == "red \x1b[31m alert\u202e bell\x07"
