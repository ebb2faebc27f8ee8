"""Every command has its help, is in docs/cli.md with all of its options, and does what it says."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from memoranda.surfaces.cli import present
from memoranda.surfaces.cli.main import app
from memoranda.surfaces.errors import EXIT_CODES, NOT_SOUND
from tests.surfaces.cli.command import Command
from tests.surfaces.cli.transcript import comparable, learned, renamed, steps

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
NARRATED = {"demo", "demo tamper", "help"}
"""They tell a story to people, and have no JSON."""


def commands(group: Any = None, name: str = "") -> Iterator[tuple[str, Any]]:
    group = typer.main.get_command(app) if group is None else group
    for word, stub in group.commands.items():
        command = getattr(stub, "loaded", stub)
        path = f"{name} {word}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, path)
        if not hasattr(command, "commands") or path == "demo":
            yield path, command


ALL = dict(commands())


def options(command: Any) -> list[str]:
    return [
        opt
        for one in command.params
        for opt in one.opts
        if opt.startswith("--") and opt != "--help"
    ]


SHARED = ("what-is-said-of-a-statement", "filters")
"""Sections about options that several commands have: a command refers to them."""


def shared(said: str) -> str:
    """What the sections say that a command refers to."""
    titles = [name.replace("-", " ") for name in SHARED if f"(#{name})" in said]
    parts = PAGE.split("\n### ")
    return "".join(one for one in parts if one.partition("\n")[0].lower() in titles)


def section(path: str) -> str:
    """What the page says of a command: from its heading to the next."""
    heading = f"### `memoranda {path}"
    start = PAGE.find(heading + "`")
    start = PAGE.find(heading + " ") if start < 0 else start
    assert start >= 0, f"docs/cli.md has no heading {heading}`"
    return PAGE[start:].split("\n##", 1)[0]


def test_there_are_the_commands_that_the_page_promises() -> None:
    assert {"remember", "verify", "keys signer create", "demo tamper"} <= set(ALL)


@pytest.mark.parametrize("path", ALL)
def test_a_command_and_each_of_its_parameters_has_help(path: str) -> None:
    command = ALL[path]

    assert (command.help or "").strip()
    assert [
        one.name for one in command.params if not (getattr(one, "help", "") or "").strip()
    ] == []


STUBS = getattr(typer.main.get_command(app), "commands", {})


@pytest.mark.parametrize("name", STUBS)
def test_what_the_help_says_of_a_command_before_it_is_loaded_is_its_own_help(name: str) -> None:
    own = STUBS[name].loaded.help

    assert STUBS[name].help == own.partition("\n\n")[0]
    assert STUBS[name].loaded.name == name


@pytest.mark.parametrize("path", ALL)
def test_help_fits_80_columns(memoranda: Command, path: str) -> None:
    assert "Usage: memoranda" in memoranda.text(*path.split(), "--help")


@pytest.mark.parametrize("path", ALL)
def test_a_command_is_in_the_page_with_all_of_its_options(path: str) -> None:
    said = section(path)
    said += shared(said)
    common = {"--database", "--scope", "--actor", "--json"}

    missing = [one for one in options(ALL[path]) if one not in common and f"`{one}" not in said]
    assert missing == []


@pytest.mark.parametrize("path", sorted(set(ALL) - NARRATED))
def test_a_command_has_json(path: str) -> None:
    assert "--json" in options(ALL[path])


def test_the_page_names_every_exit_code() -> None:
    for code in {0, 1, *EXIT_CODES.values(), NOT_SOUND}:
        assert f"| {code} |" in PAGE


@pytest.fixture
def beside(memoranda: Command) -> Iterator[Callable[..., str]]:  # noqa: ARG001 - its folder
    """Starts a server as a process of its own, at any port; what it prints first."""
    started = []

    def start(*words: str) -> str:
        server = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "memoranda", *words, "--port=0"],
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(server)
        assert server.stdout is not None
        return server.stdout.readline()

    yield start
    for server in started:
        server.kill()
        with server:
            server.wait()


def test_the_transcripts_of_the_page_are_true(
    memoranda: Command, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(present, "_is_terminal", lambda: True)
    names: dict[str, str] = {}
    for step in steps(PAGE):
        program, *words = (renamed(word, names) for word in step.words)
        if program == "export":
            memoranda.setenv(*words[0].split("=", 1))
            continue
        if program == "echo":
            text, _, file = words
            Path(file).write_text(f"{text}\n")
            continue
        assert program == "memoranda", step.line
        if words[-1] == "&":
            printed = request.getfixturevalue("beside")(*words[:-1])
            assert comparable(printed) == comparable(step.printed), step.line
            names |= learned(step.printed, printed)
            continue
        result = memoranda(*words, said=step.said)
        assert comparable(result.output) == comparable(step.printed), step.line
        assert result.exit_code == step.status, step.line
        names |= learned(step.printed, result.output)
