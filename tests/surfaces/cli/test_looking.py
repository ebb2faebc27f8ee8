"""Commands that read leave every byte as it was, and make nothing."""

import shutil
from pathlib import Path

import pytest

from memoranda.stores.migrations import Migration
from memoranda.stores.sqlite import connection as schema
from memoranda.surfaces.errors import NOT_THERE
from tests.surfaces.cli.command import Command

URL = "sqlite:///memory.db"

READING = {
    "list": ("list",),
    "search": ("list", "--text", "tea"),
    "get": ("get", "one"),
    "history": ("history", "one"),
    "why": ("why", "one"),
    "inbox": ("inbox",),
    "status": ("status",),
    "scopes": ("scopes",),
    "verify": ("verify",),
    "export": ("export", "--output", "../elsewhere/export.ndjson"),
    "log": ("export", "--kind", "log", "--output", "../elsewhere/log.ndjson"),
    "policy": ("govern", "policies"),
    "branches": ("worlds", "branches"),
}
OF_A_SCOPE = {name: one for name, one in READING.items() if name != "scopes"}


@pytest.fixture
def kept(memoranda: Command) -> dict[str, bytes]:
    """A database with something in it, byte for byte."""
    memoranda.setenv("MEMORANDA_DATABASE_URL", URL)
    memoranda.text("remember", "green tea", "--id", "one")
    return contents()


def contents() -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in Path().iterdir()}


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_changes_no_byte(
    memoranda: Command, kept: dict[str, bytes], name: str
) -> None:
    memoranda.text(*READING[name])

    assert contents() == kept


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_leaves_a_wal_as_it_is(
    memoranda: Command, kept: dict[str, bytes], name: str
) -> None:
    del kept
    with_wal()
    before = contents()
    assert before["memory.db-wal"]

    memoranda.text(*READING[name])

    after = contents()
    after.pop("memory.db-shm", None)  # a cache of the -wal
    assert after == before


def with_wal() -> None:
    """Leave the last writes in a -wal, as a process does that was killed."""
    from memoranda.stores.sqlite.connection import connect  # noqa: PLC0415

    keeper = connect("memory.db")
    keeper.execute("UPDATE journals SET opened_at = opened_at + 1").fetchall()
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(name, f"../elsewhere/{name}")
    keeper.close()
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(f"../elsewhere/{name}", name)


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_makes_no_database(memoranda: Command, name: str) -> None:
    memoranda.setenv("MEMORANDA_DATABASE_URL", URL)

    said = memoranda.refused(*READING[name], status=NOT_THERE)

    assert "there is no such file" in said
    assert contents() == {}


@pytest.mark.parametrize("name", OF_A_SCOPE)
def test_a_command_that_reads_makes_no_scope(
    memoranda: Command, kept: dict[str, bytes], name: str
) -> None:
    said = memoranda.refused(*OF_A_SCOPE[name], "--scope", "typo", status=NOT_THERE)

    assert "'typo'" in said
    assert contents() == kept


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_never_upgrades(
    memoranda: Command, kept: dict[str, bytes], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", NEWER)

    memoranda.text(*READING[name])

    assert contents() == kept


NEWER = (*schema.MIGRATIONS, Migration(2, "following", "CREATE TABLE following (x)", "checksum"))


def test_upgrade_tells_what_it_did(
    memoranda: Command, kept: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memoranda.text("upgrade") == "It is up to date: there was nothing to do.\n"
    assert contents() == kept
    monkeypatch.setattr(schema, "MIGRATIONS", NEWER)

    assert memoranda.text("upgrade") == "applied 0002_following\n"

    assert memoranda.json("upgrade") == {"applied": []}


def test_the_first_write_upgrades_and_says_so(
    memoranda: Command, kept: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    del kept
    monkeypatch.setattr(schema, "MIGRATIONS", NEWER)

    done = memoranda("remember", "black tea")

    assert done.exit_code == 0
    assert "0002_following" in done.stderr


def test_upgrade_makes_no_database(memoranda: Command) -> None:
    memoranda.refused("upgrade", "--database", URL, status=NOT_THERE)

    assert contents() == {}
