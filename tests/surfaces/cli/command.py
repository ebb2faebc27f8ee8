"""Invoking the command in this process, and reading what it printed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from memoranda.kernel.json import parse
from memoranda.surfaces.cli.main import app


@dataclass(frozen=True)
class Command:
    """The command `memoranda` in one folder."""

    folder: Path
    environment: pytest.MonkeyPatch

    def __call__(self, *arguments: str, said: str | None = None) -> Result:
        """Run it; `said` is its standard input."""
        return CliRunner().invoke(app, arguments, input=said)

    def json(self, *arguments: str, said: str | None = None, status: int = 0) -> Any:
        """Run it with --json, and read the document."""
        result = self(*arguments, "--json", said=said)
        told = result.stderr if not result.stderr.startswith("There is more") else ""
        assert (result.exit_code, told) == (status, ""), result.output
        return parse(result.stdout)

    def listed(self, *arguments: str) -> Any:
        """What `list` shows, without the cursor."""
        return self.json("list", *arguments)["items"]

    def text(self, *arguments: str, said: str | None = None, status: int = 0) -> str:
        """Run it, and what it told people, which fits 80 columns."""
        result = self(*arguments, said=said)
        assert result.exit_code == status, result.output
        assert max((len(line) for line in result.stdout.splitlines()), default=0) <= 80
        return str(result.stdout)

    def refused(self, *arguments: str, status: int, said: str | None = None) -> str:
        """Run what is refused, and the line that says why; a list has a line for each part."""
        result = self(*arguments, said=said)
        assert (result.exit_code, result.stdout) == (status, ""), result.output
        assert result.stderr.startswith("error: ")
        assert all(line.startswith(("error: ", "  ")) for line in result.stderr.splitlines())
        return str(result.stderr)

    def setenv(self, name: str, value: str | Path) -> None:
        """Set a variable of the environment."""
        self.environment.setenv(name, str(value))
