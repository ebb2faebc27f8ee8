"""Odd values for every parameter of every command: an error in our words, never a traceback."""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any

import pytest
import typer

from memoranda.surfaces.cli.main import app
from tests.surfaces.cli.command import Command

ODD = (
    "",
    "\udcff",
    "-1",
    "9" * 400,
    "[" * 2_000,
    '{"a": ',
    "1e999",
    "postgresql://",
    "no such thing",
    "🙂" * 300,
    "../data",
)
"""What nobody means: blank, not UTF-8, numbers and JSON that can't be. No argument has a NUL."""

ENDLESS = {
    *("journal tail", "turns chat", "turns take", "demo", "demo tamper"),
    *("serve", "start", "mcp", "witness"),
}
"""What goes on until somebody ends it, or is a story of its own."""

EXITS = range(8)
"""The exit codes that docs/cli.md lists."""


def commands() -> dict[str, Any]:
    """Every command, by its words."""
    found: dict[str, Any] = {}

    def walk(command: Any, words: tuple[str, ...]) -> None:
        command = getattr(command, "loaded", command)
        if hasattr(command, "commands"):
            for name, below in command.commands.items():
                walk(below, (*words, name))
        else:
            found[" ".join(words)] = command

    walk(typer.main.get_command(app), ())
    return {words: one for words, one in found.items() if words not in ENDLESS}


def lines(command: Any, start: int) -> Iterator[list[str]]:
    """Command lines: odd values for all arguments, then for each option by itself."""
    odd = cycle(islice(cycle(ODD), start, start + len(ODD)))
    needed = [one for one in command.params if one.param_type_name == "argument" and one.required]
    options = [one for one in command.params if one.param_type_name == "option" and not one.is_flag]
    for _ in range(3):
        yield ["--", *(next(odd) for _ in needed)]
    for option in options:
        given = [f"{option.opts[0]}={next(odd)}"]
        given += [
            f"{other.opts[0]}=said" for other in options if other.required and other is not option
        ]
        yield [*given, "--", *("known" for _ in needed)]


@pytest.mark.parametrize("words", sorted(commands()))
def test_a_command_raises_only_our_errors(memoranda: Command, words: str) -> None:
    memoranda.json("remember", "The door is blue", "--id", "known")
    before = memoranda.json("verify")

    for arguments in lines(commands()[words], len(words)):
        result = memoranda(*words.split(), *arguments, said="")
        ours = result.exception is None or isinstance(result.exception, SystemExit)
        assert ours, (arguments, result.exception)
        assert result.exit_code in EXITS, (arguments, result.output)
        assert "Traceback" not in result.output

    after = memoranda("verify", "--json")
    assert after.exit_code == 0, (before, after.output)
