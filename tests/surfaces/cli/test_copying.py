"""``memoranda copy``, ``backup`` and ``backup restore``."""

import asyncio
from pathlib import Path

import pytest

from memoranda.stores.sqlite.connection import connect
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer
from tests.surfaces.cli.command import Command

FROM = "sqlite:///memoranda.db"


@pytest.fixture
def postgres(postgres_server: PostgresServer, postgres_url: str) -> str:
    return asyncio.run(make_roles(postgres_server, postgres_url)).app


@pytest.fixture(params=["sqlite", "postgres"])
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Another database, that is new."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres"))
    return f"sqlite:///{tmp_path}/elsewhere/other.db"


@pytest.fixture
def two(memoranda: Command) -> Command:
    """A database with two scopes."""
    memoranda.json("remember", "one", "--id", "a")
    memoranda.json("update", "a", "one, better")
    memoranda.json("remember", "고객은 전화를 원한다", "--id", "b", "-s", "둘")
    return memoranda


def roots(command: Command, url: str) -> dict[str, str]:
    return {one["scope"]: one["root"] for one in command.json("verify", "-d", url)["scopes"]}


def test_scopes_arrive_as_they_were(two: Command, elsewhere: str) -> None:
    copied = two.json("copy", FROM, elsewhere)

    assert list(copied) == ["from", "to", "scopes"]
    assert [(one["scope"], one["sound"]) for one in copied["scopes"]] == [
        ("default", True), ("둘", True),
    ]  # fmt: skip
    assert roots(two, elsewhere) == roots(two, FROM)
    assert two.json("get", "a", "-d", elsewhere) == two.json("get", "a")


def test_and_go_back_through_a_backup(two: Command, elsewhere: str) -> None:
    before = roots(two, FROM)
    two.json("copy", FROM, elsewhere)

    two.json("backup", "take", "../elsewhere/b.db", "-d", elsewhere)
    restored = two.json("backup", "restore", "../elsewhere/b.db", "-d", "sqlite:///again.db")

    assert restored["sound"]
    assert roots(two, "sqlite:///again.db") == before


def test_only_the_scopes_that_are_named_are_copied(two: Command) -> None:
    shown = two.text("copy", FROM, "sqlite:///other.db", "--scope", "둘", "--scope", "둘")

    assert "1 scope, 2 entries" in shown
    assert two.json("scopes", "-d", "sqlite:///other.db") == ["둘"]


def test_what_can_not_be_copied_makes_nothing(two: Command) -> None:
    assert "'three'" in two.refused(
        "copy", FROM, "sqlite:///other.db", "-s", "default", "-s", "three", status=4
    )
    two.refused("copy", "sqlite:///nowhere.db", "sqlite:///other.db", status=4)
    two.refused("copy", "dict://", "sqlite:///other.db", status=2)
    two.refused("copy", FROM, "sqlite://:memory:", status=2)
    two.refused("copy", "postgres@db", "sqlite:///other.db", status=2)

    assert not Path("other.db").exists()


def test_a_scope_that_is_there_already_stops_all_of_it(two: Command, elsewhere: str) -> None:
    two.json("copy", FROM, elsewhere, "-s", "둘")

    assert "already" in two.refused("copy", FROM, elsewhere, status=3)
    assert two.json("scopes", "-d", elsewhere) == ["둘"]


def test_no_password_is_shown(two: Command, postgres: str) -> None:
    secret = postgres.replace("@", ":swordfish@", 1)

    copied = two("copy", FROM, secret)
    again = two("copy", FROM, secret)
    missing = two("copy", secret, "sqlite:///x.db", "-s", "nothing")

    assert [one.exit_code for one in (copied, again, missing)] == [0, 3, 4]
    assert "swordfish" not in copied.output + again.output + missing.output


def test_a_backup_is_there_when_it_is_whole_and_is_nobody_elses(two: Command) -> None:
    name = "../elsewhere/100% of it?#.db"
    shown = two.text("backup", "take", name)

    assert shown.startswith("backed up 2 scopes, 5 entries, from sqlite:///memoranda.db")
    assert [one.name for one in (two.folder / "elsewhere").iterdir()] == [Path(name).name]
    assert Path(name).stat().st_mode & 0o777 == 0o600
    assert two.json("backup", "restore", name, "-d", "sqlite:///again.db")["sound"]


def test_a_backup_overwrites_nothing(two: Command) -> None:
    Path("mine").write_text("mine")
    Path("link").symlink_to("nowhere")

    two.refused("backup", "take", "mine", status=4)
    two.refused("backup", "take", "link", status=4)
    two.refused("backup", "take", "memoranda.db", status=4)
    two.refused("backup", "take", "no/such/folder.db", status=4)

    assert Path("mine").read_text() == "mine"
    assert two.json("verify")["sound"]


def test_of_what_is_damaged_there_is_no_backup(two: Command) -> None:
    connection = connect("memoranda.db")
    connection.execute("DROP TRIGGER bodies_stay; UPDATE bodies SET salt = zeroblob(16)").fetchall()
    connection.close()

    assert "damaged" in two.refused("backup", "take", "../elsewhere/b.db", status=4)
    assert list((two.folder / "elsewhere").iterdir()) == []


def test_a_backup_is_named_by_its_command_and_its_file(two: Command) -> None:
    two.json("backup", "take", "restore")  # a file of that name

    assert Path("restore").exists()
    assert "Usage: memoranda backup" in two.text("backup")
    for words in (("list",), ("create",), ("copy.db",)):
        two.refused("backup", *words, status=2)
        assert not Path(words[0]).exists()


def test_a_path_is_taken_where_a_url_is(two: Command) -> None:
    two.json("copy", "memoranda.db", "copied.db")

    assert roots(two, "copied.db") == roots(two, FROM)


def test_a_backup_that_is_as_new_as_the_anchor_is_sound(two: Command) -> None:
    two.setenv("MEMORANDA_ANCHOR_FILE", "../elsewhere/anchor")
    two.json("remember", "more")
    two.json("backup", "take", "b.db")

    shown = two.text("backup", "restore", "b.db", "-d", "sqlite:///again.db")

    assert "up to the end" in shown
    assert "as old as it is" in shown


def test_a_backup_that_is_older_than_the_anchor_is_a_rollback(two: Command, elsewhere: str) -> None:
    two.setenv("MEMORANDA_ANCHOR_FILE", two.folder / "keys" / "anchor")
    two.json("backup", "take", "b.db")
    two.json("remember", "later")

    restored = two.json("backup", "restore", "b.db", "-d", elsewhere, status=5)

    assert restored["sound"] is False
    assert [one["damage"]["counts"] for one in restored["scopes"]] == [{"anchor": 1}, {}]
    assert "rolled_back" in restored["scopes"][0]["damage"]["found"][0]["why"]
    assert len(two.listed("-d", elsewhere)) == 1
    told = two.text("backup", "restore", "b.db", "-d", "sqlite:///again.db", status=5)
    assert "older than what an anchor has seen" in told


def test_an_anchor_that_can_not_be_read_is_no_success(two: Command) -> None:
    two.json("backup", "take", "b.db")
    two.setenv("MEMORANDA_ANCHOR_FILE", "../elsewhere/nothing")

    restored = two.json("backup", "restore", "b.db", "-d", "sqlite:///again.db", status=4)

    assert restored["sound"]


def test_what_is_no_backup_is_not_restored(two: Command) -> None:
    Path("text").write_text("not a database, but long enough to be looked at" * 10)

    two.refused("backup", "restore", "text", "-d", "sqlite:///again.db", status=4)
    two.refused("backup", "restore", "nothing", "-d", "sqlite:///again.db", status=2)
    two.json("backup", "take", "b.db")
    assert "already" in two.refused("backup", "restore", "b.db", "-d", FROM, status=3)

    assert not Path("again.db").exists()
    assert not Path("nothing").exists()
