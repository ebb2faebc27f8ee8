"""The published conformance package for MCP, against `memoranda serve`, for both revisions.

Much of the package asks for tools, resources and prompts of an example server of its own: those
checks can't pass before any other server. They are named here, one by one; each other check must
pass. It needs Node 22 (`npx` brings it) and a network.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.surfaces.http.serving import process

PACKAGE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS: Final = ("2025-11-25", "2026-07-28")
LIMIT_S: Final = 500

EXAMPLES: Final = frozenset(
    {
        # tools, resources and prompts of the package's own example server
        *(f"tools-call-{name}" for name in (
            "simple-text", "image", "audio", "embedded-resource", "mixed-content", "with-logging",
            "error", "with-progress", "sampling", "elicitation",
        )),
        *(f"resources-{name}" for name in ("read-text", "read-binary", "templates-read")),
        *(f"prompts-get-{name}" for name in (
            "simple", "with-args", "embedded-resource", "with-image",
        )),
        "json-schema-2020-12-tool-found",
        "elicitation-sep1034-general",
        "elicitation-sep1330-general",
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
        "sep-2243-server-no-xmcp-tool",
        "sep-2243-server-decode-base64",
        "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars",
        "sep-2243-server-reject-param-mismatch",
        *(f"sep-2322-{name}" for name in (
            "elicitation-incomplete", "list-roots-incomplete", "sampling-incomplete",
            "respect-client-capabilities", "multi-round-r1", "multiple-inputs-incomplete",
            "non-tool-incomplete", "request-state-incomplete", "result-type-included",
            "reject-tampered-state",
        )),
        # capabilities that we do not have, and do not claim
        "logging-set-level", "resources-subscribe", "resources-unsubscribe",
    }
)  # fmt: skip


def checked(address: str, revision: str, folder: Path) -> list[dict[str, Any]]:
    """All checks of a revision."""
    command = [
        "npx", "--yes", "-p", "node@22", "-p", PACKAGE, "conformance", "server",
        "--url", f"{address}/mcp", "--suite", "all", "--spec-version", revision,
        "--output-dir", str(folder / revision),
    ]  # fmt: skip
    subprocess.run(  # noqa: S603 - a fixed command
        command, cwd=folder, capture_output=True, timeout=LIMIT_S, check=False
    )
    files = sorted((folder / revision).glob("*/checks.json"))
    return [check for file in files for check in json.loads(file.read_text())]


def say(line: str) -> None:
    """Print a line at once: the whole takes minutes."""
    print(line, flush=True)  # noqa: T201


def main() -> int:
    """Run it, print what came of it, and say whether all that can pass did."""
    if shutil.which("npx") is None:
        say("SKIPPED: the conformance package of MCP needs Node, and npx is not at hand")
        return 0
    is_well = True
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with process(f"sqlite:///{folder}/memory.db", folder=folder) as (address, _):
            for revision in REVISIONS:
                checks = checked(address, revision, folder)
                if not checks:
                    say(f"SKIPPED {revision}: {PACKAGE} could not be fetched or run")
                    continue
                counts = Counter(check["status"] for check in checks)
                failed = [check for check in checks if check["status"] == "FAILURE"]
                own = [check for check in failed if check["id"] in EXAMPLES]
                others = [check for check in failed if check["id"] not in EXAMPLES]
                say(
                    f"{revision}: {counts['SUCCESS']} checks passed, {len(others)} failed,"
                    f" {len(own)} ask for the package's own examples"
                )
                for check in others:
                    say(f"  FAILED {check['id']}: {check.get('errorMessage')}")
                    is_well = False
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
