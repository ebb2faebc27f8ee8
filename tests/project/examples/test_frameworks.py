"""The example of each framework: an agent remembers, is asked why, and is replayed, offline.

LlamaIndex and CrewAI have an environment of their own, which `make frameworks` makes: without it
their examples are skipped, and that is shown.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.project.examples.test_refunds import WITHOUT_NETWORK

ROOT = Path(__file__).parents[3]
OF_THEIR_OWN = ROOT / ".venv-frameworks" / "bin" / "python"
HERE = {
    "claude_files": ("history: update 'Kim prefers email\\n'", "answer: By email."),
    "langgraph_agent": ("stopped: May I write this? Kim prefers email", "answer: By email, then."),
    "mem0_script": ("learned: I prefer tea to coffee.", "answer: Here is your tea."),
    "openai_agent": ("the session has 8 items", "answer: By email."),
    "pydantic_agent": ("answer: By email.",),
}
ELSEWHERE = {
    "crewai_crew": ("answer: By email.",),
    "llama_index_memory": ("the prompt has it: True", "answer: By email."),
}


def shows_its_story(python: str | Path, name: str, story: tuple[str, ...], home: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreters and code
        [python, "-c", WITHOUT_NETWORK.replace("examples.refunds", f"examples.frameworks.{name}")],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={
            **{one: value for one, value in os.environ.items() if "MEMORANDA" not in one},
            "MEMORANDA_MEANING": "off",
            "HOME": str(home),
        },
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in story if line not in lines] == []
    assert sum(line.startswith("why: asked ") for line in lines) == 1
    assert lines[-2:] == ["replay: same", "sound: True"]


@pytest.mark.parametrize("name", HERE)
def test_an_agent_remembers_is_asked_why_and_is_replayed(name: str, tmp_path: Path) -> None:
    shows_its_story(sys.executable, name, HERE[name], tmp_path)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_so_does_one_of_a_framework_with_an_environment_of_its_own(
    name: str, tmp_path: Path
) -> None:
    if not OF_THEIR_OWN.exists():
        pytest.skip("its framework is in an environment of its own: make frameworks")
    shows_its_story(OF_THEIR_OWN, name, ELSEWHERE[name], tmp_path)


def test_each_example_is_run() -> None:
    folder = ROOT / "examples" / "frameworks"

    assert {one.stem for one in folder.glob("*.py")} == {"desk", *HERE, *ELSEWHERE}
