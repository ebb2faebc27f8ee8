"""Builds the wheel and the source archive: `python -m tests.project.packaging.building FROM TO`."""

import subprocess
import sys
from pathlib import Path
from typing import Final

_BUILD: Final = """
import sys
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
print(*WheelBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=["standard"]))
print(*SdistBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=["standard"]))
"""


def built(source: Path, folder: Path) -> tuple[Path, Path]:
    """The wheel and the source archive, as pip's build of this folder makes them."""
    command = [sys.executable, "-c", _BUILD, str(source), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    wheel, archive = done.stdout.split()
    return Path(wheel), Path(archive)


if __name__ == "__main__":
    for made in built(Path(sys.argv[1]), Path(sys.argv[2])):
        sys.stdout.write(f"{made}\n")
