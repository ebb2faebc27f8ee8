"""``memoranda mcp``: what it refuses before it serves; tests/surfaces/mcp has the rest."""

import pytest

from tests.surfaces.cli.command import Command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [((), "needs a key"), (("--key", "mk_nonsense"), "is refused")],
)
def test_without_a_good_key_the_command_ends_before_it_serves(
    memoranda: Command, arguments: tuple[str, ...], said: str
) -> None:
    memoranda.json("keys", "create", "-s", "shop", "--actor", "agent:a", "--right", "read")

    result = memoranda("mcp", *arguments)

    assert result.exit_code == 4
    assert said in result.stderr


def test_another_scope_than_the_keys_is_refused(memoranda: Command) -> None:
    key = memoranda.json("keys", "create", "-s", "shop", "--actor", "agent:a", "--right", "read")

    result = memoranda("mcp", "--key", key["key"], "--scope", "theirs")

    assert result.exit_code == 4
    assert "not that of the key" in result.stderr
