"""Pages to be followed from top to bottom: files to write, commands to type, what these print.

A block of code with ``title="NAME"`` is a file; a transcript is typed into a shell, in the folder
of these files. `python -m tests.project.docs.walking docs/PAGE.md …` writes anew what the commands
print: nothing of it is typed by hand.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.patience import PATIENCE
from tests.surfaces.cli.transcript import Step, comparable, learned, renamed, steps

BLOCK: Final = re.compile(
    r'^```\w+ title="(?P<file>[\w./-]+)"\n(?P<content>.*?)^```'
    r"|^```console\n(?P<transcript>\$ .*?)^```",
    re.MULTILINE | re.DOTALL,
)
_BIN: Final = str(Path(sys.executable).parent)


class Typed(NamedTuple):
    """A step of a page, what it printed here, and its exit code."""

    step: Step
    printed: str
    status: int

    def is_as_said(self) -> bool:
        """Whether it did what the page says."""
        said = comparable(self.step.printed)
        return (comparable(self.printed), self.status) == (said, self.step.status)


def walked(
    page: str, folder: Path, surroundings: Mapping[str, str] | None = None
) -> Iterator[Typed]:
    """Follow a page in a folder, step by step."""
    given = os.environ if surroundings is None else surroundings
    here = {name: value for name, value in given.items() if not name.startswith("MEMORANDA_")}
    here |= {"PATH": f"{_BIN}:{here['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}
    here |= {"MEMORANDA_MEANING": "off", "MEMORANDA_ACTOR": "human:7", "PYTHONPATH": str(folder)}
    names: dict[str, str] = {}
    for block in BLOCK.finditer(page):
        if block["file"]:
            (folder / block["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / block["file"]).write_text(block["content"])
            continue
        for step in steps(block[0] + "\n"):
            line = renamed(step.line, names)
            if export := re.fullmatch(r"export (\w+)=(\S*)\s*", line):
                here[export[1]] = export[2]
                yield Typed(step, "", 0)
                continue
            done = subprocess.run(  # noqa: S603 - what our own pages say
                ["/bin/bash", "-c", line],
                cwd=folder,
                env=here,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=PATIENCE,
            )
            names |= learned(step.printed, done.stdout)
            yield Typed(step, done.stdout, done.returncode)


def rewritten(page: str) -> str:
    """The page with what its commands print now; an id that they take is that of this run."""
    with TemporaryDirectory() as folder:
        after, at, names = "", 0, dict[str, str]()
        for typed in walked(page, Path(folder)):
            if typed.status != typed.step.status:
                raise SystemExit(f"$ {typed.step.line}\n{typed.printed}exited with {typed.status}")
            start = page.index("\n$ ", max(at - 1, 0)) + 1
            shown = re.match(r"\$ (?:.*\\\n)*.*\n", page[start:])
            assert shown is not None
            end = start + shown.end()
            after += renamed(page[at:end], names) + typed.printed
            at = end + len(typed.step.printed)
            names |= learned(typed.step.printed, typed.printed)
        return after + renamed(page[at:], names)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(rewritten(path.read_text()))
