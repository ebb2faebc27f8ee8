"""``memoranda remember``, ``update``, ``list``, ``get`` and ``history``."""

import os

import pytest
from rich.cells import cell_len

from memoranda.ledger.validate import validate_object
from tests.surfaces.cli.command import Command

RECEIPT = ["id", "version", "entryHash", "size", "created"]
OBJECT = [
    *("id", "version", "data", "status", "statementType", "verdict", "trust", "sources"),
    *("createdAt", "updatedAt", "validFrom", "validTo", "expiresAt", "subject", "tags"),
    *("meta", "hash", "indexed"),
]
WHY = ("--reason", "because")
EVENT = ["id", "version", "seq", "act", "kind", "at", "actor", "reason", "remembered"]


def test_what_is_remembered_is_got_with_all_that_was_said_of_it(memoranda: Command) -> None:
    receipt = memoranda.json(
        *("remember", "The customer prefers email", "--id", "pref", "--source", "ticket/812"),
        *("--source", "call/3", "--tag", "customer", "--tag", "channel", "--subject", "person/7"),
        *("--valid-from", "2026-01-01T00:00:00Z", "--valid-to", "2999-12-31T00:00:00Z"),
        *("--expires", "2999-12-31T00:00:00Z"),
    )
    found = memoranda.json("get", "pref")

    assert list(receipt) == RECEIPT
    assert (receipt["id"], receipt["version"], receipt["size"]) == ("pref", 1, 2)
    assert list(found) == OBJECT
    assert found["data"] == "The customer prefers email"
    assert found["sources"] == [{"uri": "ticket/812"}, {"uri": "call/3"}]
    assert set(found["tags"]) == {"customer", "channel"}
    assert found["subject"] == "person/7"
    assert found["statementType"] == "UserProvidedStatement"
    assert found["validTo"] == found["expiresAt"] == 32503593600000
    said = memoranda.refused(
        *("remember", "x", "--source", "ticket/812", "--verdict", "Factual"), status=3
    )
    assert "approve" in said
    memoranda.json(
        "approve", "pref", "--reason", "asked", "--verdict", "Factual", "--actor", "human:8"
    )
    assert memoranda.json("get", "pref", "--factual")["data"] == found["data"]


def test_data_is_remembered_and_patched(memoranda: Command) -> None:
    memoranda.json("remember", "--data", '{"도시":"서울","n":1}', "--id", "kr")
    receipt = memoranda.json("update", "kr", "--data", '{"n":2}', "--expected-version", "1")

    assert receipt["version"] == 2
    assert memoranda.json("get", "kr")["data"] == {"도시": "서울", "n": 2}


def test_a_text_comes_from_standard_input(memoranda: Command) -> None:
    memoranda.json("remember", "-", "--id", "x", said="한 줄\nand another\n")

    assert memoranda.json("get", "x")["data"] == "한 줄\nand another"


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
    memoranda: Command, arguments: tuple[str, ...]
) -> None:
    memoranda.refused(*arguments, status=2)

    assert "x" not in memoranda("list").stdout


def test_looking_makes_no_database_and_no_scope(memoranda: Command) -> None:
    for verb in (("list",), ("get", "x"), ("history", "x"), ("update", "x", "y"), ("status",)):
        memoranda.refused(*verb, status=4)
    assert list((memoranda.folder / "data").iterdir()) == []

    memoranda.json("remember", "x", "--scope", "support")
    memoranda.refused("list", "--scope", "other", status=4)
    assert memoranda.json("scopes") == ["support"]


def test_the_list_is_newest_first_and_takes_tags_and_a_limit(memoranda: Command) -> None:
    for number in range(3):
        tags = ["--tag", "odd"] if number % 2 else ["--tag", "even"]
        memoranda.json("remember", f"number {number}", "--id", f"n{number}", *tags)

    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in memoranda.listed(*arguments)]

    assert ids() == ["n2", "n1", "n0"]
    assert ids("--tag", "even") == ["n2", "n0"]
    shown = memoranda("list", "--limit", "1")
    assert "n2" in shown.stdout
    assert ids("--limit", "1", "--cursor", shown.stderr.split()[-1]) == ["n1"]
    assert ids("--order", "asc") == ["n0", "n1", "n2"]
    assert ids("--limit", "0") == []
    assert "Nothing" in memoranda.text("list", "--tag", "none")


def test_both_times_are_answered(memoranda: Command) -> None:
    memoranda.json(
        *("remember", "then", "--id", "x", "--valid-from", "2020-01-01T00:00:00Z"),
        *("--valid-to", "2999-01-01T00:00:00Z"),
    )
    memoranda.json("remember", "past", "--id", "y", "--expires", "2020-01-01T00:00:00Z")

    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in memoranda.listed(*arguments)]

    assert ids() == ["x"]
    assert ids("--include", "expired") == ["y", "x"]
    assert ids("--at", "2020-01-01") == []
    assert ids("--valid-at", "2010-01-01T00:00:00Z") == ["y"]
    assert "expired" in memoranda.refused("get", "y", status=3)
    assert memoranda.json("get", "y", "--include", "expired")["data"] == "past"


def test_a_list_is_narrowed_by_filters_and_by_an_entry(memoranda: Command) -> None:
    first = memoranda.json("remember", "--data", '{"n": 1}', "--id", "t1", "--subject", "kim")
    memoranda.json("remember", "--data", '{"n": 2}', "--id", "t2", "--source", "chat/1")

    def ids(*arguments: str) -> list[str]:
        return [one["id"] for one in memoranda.listed(*arguments)]

    assert ids("--where", '{"data.n": {"$gte": 2}}') == ids("--thread", "chat/1") == ["t2"]
    assert ids("--subject", "kim") == ids("--at", str(first["size"] - 1)) == ["t1"]
    assert ids("--id-prefix", "t", "--tag-prefix", "x") == []
    found = memoranda.json("recall", "n", "--top-k", "2", "--subject", "kim", "--about", "lee")
    assert [one["id"] for one in found["items"]] == ["t1"]


def test_history_has_every_step_with_its_reason(memoranda: Command) -> None:
    memoranda.json("remember", "one", "--id", "x")
    memoranda.json("update", "x", "two", "--reason", "better known", "--actor", "agent:a")
    memoranda.json("forget", "x", "--reason", "obsolete")

    events = memoranda.json("history", "x")

    assert [list(event) for event in events] == [EVENT] * 3
    assert [event["act"] for event in events] == ["create", "update", "invalidate"]
    assert [event["kind"] for event in events] == ["create", "create", "invalidate"]
    assert [event["actor"] for event in events] == ["human:7", "agent:a", "human:7"]
    assert [event["reason"] for event in events] == [None, "better known", "obsolete"]
    assert [event["remembered"]["data"] for event in events] == ["one", "two", "two"]
    assert "why: better known" in memoranda.text("history", "x")


def test_an_unknown_id_is_exit_3(memoranda: Command) -> None:
    memoranda.json("remember", "one", "--id", "x")

    for verb in (
        ("get", "y"),
        ("history", "y"),
        ("update", "y", "two"),
        ("journal", "object", "y"),
    ):
        assert "'y'" in memoranda.refused(*verb, status=3)
    assert memoranda.refused("update", "x", "two", "--expected-version", "7", status=3)


def test_a_retry_with_its_key_lands_once(memoranda: Command) -> None:
    first = memoranda.json("remember", "one", "--idempotency-key", "request 1")

    assert memoranda.json("remember", "one", "--idempotency-key", "request 1") == first
    memoranda.refused("remember", "two", "--idempotency-key", "request 1", status=3)


def test_by_default_the_actor_is_a_number_and_no_name(memoranda: Command) -> None:
    memoranda.environment.delenv("MEMORANDA_ACTOR")
    memoranda.json("remember", "one", "--id", "x")

    assert memoranda.json("history", "x")[0]["actor"] == f"human:uid-{os.getuid()}"


def test_scope_and_database_come_from_the_environment(memoranda: Command) -> None:
    memoranda.setenv("MEMORANDA_DATABASE_URL", "sqlite:///other.db")
    memoranda.setenv("MEMORANDA_SCOPE", "support")
    memoranda.json("remember", "one")

    assert memoranda.json("scopes") == ["support"]
    assert (memoranda.folder / "data" / "other.db").exists()


def test_the_object_of_the_seed_is_printed_and_valid(memoranda: Command) -> None:
    memoranda.json("remember", "고객은 이메일을 선호한다", "--id", "x", "--source", "ticket/1")

    document = memoranda.json("journal", "object", "x")

    assert document["type"] == "MemoryObject"
    assert validate_object(document) == []


def test_korean_lines_up(memoranda: Command) -> None:
    memoranda.json("remember", "고객은 서울에 살고 한국어로 답을 받고 싶어 한다 " * 3)
    memoranda.json("remember", "The customer lives in Seoul, and wants answers in Korean " * 3)

    heading, *rows = memoranda("list").stdout.splitlines()

    assert [line.index("says") for line in [heading]] == [
        cell_len(row[: row.index("  1  ") + 5]) for row in rows[:1]
    ]
    assert {cell_len(row) for row in rows} == {80}


def test_what_is_remembered_can_not_steer_a_terminal(memoranda: Command) -> None:
    memoranda.json("remember", "red \x1b[31m alert\u202e bell\x07", "--id", "x")

    for verb in (("list",), ("get", "x"), ("history", "x")):
        shown = memoranda.text(*verb)
        assert not {"\x1b", "\u202e", "\x07"} & set(shown)
    assert memoranda.json("get", "x")["data"] == "red \x1b[31m alert\u202e bell\x07"


def test_what_is_no_fact_is_not_said_to_be_expired(memoranda: Command) -> None:
    memoranda.json("remember", "Kim likes tea", "--id", "tea", "--source", "ticket/1")

    said = memoranda.refused("get", "tea", "--factual", status=3)

    assert "judged Unanswered" in said
    assert "--factual" in said
