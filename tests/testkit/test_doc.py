"""docs/testkit.md is true: its modules run as they stand, in a suite that knows nothing of ours."""

import re
from pathlib import Path

import pytest

from tests.suites import LEAN

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "testkit.md"
SETTINGS = """
[pytest]
addopts = --strict-markers --strict-config
filterwarnings = error
"""


def modules() -> list[str]:
    """The Python blocks of the document."""
    return re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def foreign_suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with settings of its own, as strict as can be."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini(SETTINGS)
    return pytester


def test_the_ten_lines_prove_a_store(foreign_suite: pytest.Pytester) -> None:
    ten_lines, _ = modules()
    foreign_suite.makepyfile(test_ten_lines=ten_lines)

    # The contract runs on SQLite elsewhere; here it matters that the lines work.
    run = foreign_suite.runpytest_subprocess(
        *LEAN, "-k", "declare or scope or update_of or hooks_hear"
    )

    outcomes = run.parseoutcomes()
    assert outcomes["passed"] > 20
    assert outcomes.keys() <= {"passed", "deselected"}


def test_the_store_from_nothing_passes_the_contract(foreign_suite: pytest.Pytester) -> None:
    _, from_nothing = modules()
    foreign_suite.makepyfile(test_from_nothing=from_nothing)

    run = foreign_suite.runpytest_subprocess(*LEAN, "-rs")

    outcomes = run.parseoutcomes()
    assert outcomes["passed"] > 100
    assert outcomes.keys() == {"passed", "skipped"}
    run.stdout.fnmatch_lines(["SKIPPED*this store does not declare versioned"])


def test_the_store_from_nothing_is_the_toy_store() -> None:
    _, from_nothing = modules()
    toy = (HERE / "toy.py").read_text()

    written = toy[toy.index("class ToyStore") :]
    assert written in from_nothing
