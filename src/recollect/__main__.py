"""``python -m recollect`` and the command ``recollect``."""

import sys

from recollect.kernel.errors import DependencyMissing
from recollect.surfaces.errors import exit_code

_NEEDED = {"typer", "click", "rich"}


def main() -> None:
    """Run the command line, or say how to install it."""
    try:
        from recollect.surfaces.cli.main import app  # noqa: PLC0415 - it is an extra
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _NEEDED:
            raise
        refused = DependencyMissing("the command line", "cli")
        sys.stderr.write(f"error: {refused}\n")
        sys.exit(exit_code(refused))
    app(prog_name="recollect")


if __name__ == "__main__":
    main()
