"""Public names are imported when they are used, also where no source file is installed."""

import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

LAZY = """
from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction as Ratio, gcd_of_nothing

__all__ = ["Decimal", "Ratio"]
__getattr__, __dir__ = lazy_names(__name__)
"""
USE = """
import sys, lazy
assert "Decimal" in dir(lazy) and not {"decimal", "fractions"} & set(sys.modules)
assert str(lazy.Ratio(1, 2)) == "1/2"
assert "fractions" in sys.modules
assert not hasattr(lazy, "Other") and not hasattr(lazy, "gcd_of_nothing")
assert lazy.Decimal is __import__("decimal").Decimal
"""


@pytest.mark.parametrize("keeps_source", [True, False], ids=["source", "compiled code alone"])
def test_a_name_is_imported_when_it_is_used(tmp_path: Path, keeps_source: bool) -> None:
    source = tmp_path / "lazy.py"
    source.write_text(LAZY)
    if not keeps_source:
        py_compile.compile(str(source), str(tmp_path / "lazy.pyc"))
        source.unlink()

    run = [sys.executable, "-c", USE]
    done = subprocess.run(run, check=False, cwd=tmp_path, capture_output=True)  # noqa: S603 - ours

    assert (done.returncode, done.stderr) == (0, b"")
