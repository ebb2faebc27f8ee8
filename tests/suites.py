"""Suites of others, in a process of their own: a test kit with stores that break promises."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]

SETTINGS: Final = """
[pytest]
addopts = --strict-markers --strict-config -q -rf --tb=no -p no:cacheprovider
filterwarnings = error
"""

CONFTEST: Final = """
from hypothesis import Phase, settings
from tests.random_examples import SUITE

settings.register_profile("brief", SUITE, max_examples=30, phases=[Phase.generate])
settings.load_profile("brief")
"""
"""That a random example fails is enough; the smallest one is looked for at length."""

LEAN: Final = ("-p", "anyio.pytest_plugin", "-p", "_hypothesis_pytestplugin")
"""What kits need of all the plugins that are installed; loading the others takes seconds."""

WITHOUT_OTHERS: Final = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def failures(folder: Path, modules: Mapping[str, str]) -> dict[str, set[str]]:
    """Run `test_<name>.py` of each name, as a third party would; the tests that failed by name."""
    (folder / "pytest.ini").write_text(SETTINGS)
    (folder / "conftest.py").write_text(CONFTEST)
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    run = subprocess.run(  # noqa: S603 - our own command line
        [sys.executable, "-m", "pytest", *LEAN],
        cwd=folder,
        env={**os.environ, **WITHOUT_OTHERS, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    failed: dict[str, set[str]] = {name: set() for name in modules}
    for name, test in re.findall(
        r"^(?:FAILED|ERROR) test_(\w+)\.py::(\w+)", run.stdout, re.MULTILINE
    ):
        failed[name].add(test)
    return failed
