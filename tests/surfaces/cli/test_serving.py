"""`memoranda serve` and `memoranda keys`, and the command line against a server."""

from pathlib import Path

from tests.surfaces.cli.command import Command
from tests.surfaces.http.serving import process


def test_an_address_that_others_reach_needs_keys(memoranda: Command) -> None:
    said = memoranda.refused("serve", "--host", "0.0.0.0", "--port", "0", status=2)  # noqa: S104

    assert "memoranda keys create" in said


def test_a_file_has_one_server_process(memoranda: Command) -> None:
    assert "PostgreSQL" in memoranda.refused("serve", "--workers", "2", status=2)


def test_the_command_line_asks_a_server_by_its_url(memoranda: Command, tmp_path: Path) -> None:
    key = memoranda.json(
        "keys", "create", "--scope", "support", "--actor", "human:7", "--right", "read",
        "--right", "write",
    )["key"]  # fmt: skip
    listed = memoranda.json("keys", "list")
    with process(f"sqlite:///{Path.cwd()}/memoranda.db", folder=tmp_path) as (address, _):
        memoranda.setenv("MEMORANDA_API_KEY", key)
        remembered = memoranda.json("remember", "hello", "--id", "h", "-d", address)
        found = memoranda.json("get", "h", "-d", address)
        refused = memoranda.refused("erase", "h", "--reason", "x", "--yes", "-d", address, status=4)
        memoranda.json("keys", "revoke", listed[0]["id"])

    assert remembered["version"] == 1
    assert found["data"] == "hello"
    assert "'erase'" in refused
    assert key not in str(listed)
    assert memoranda.json("keys", "list")[0]["revokedAt"] > 0
