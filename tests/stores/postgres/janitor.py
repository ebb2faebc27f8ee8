"""Removes a test server's folder, and the server if it still runs: a process of its own.

Its standard input is a pipe that ends when the test run does, however it ends: in good order,
with Ctrl-C, or killed. `server.py` starts it.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

_PATIENCE = 10.0


def main(folder: Path) -> None:
    """Wait for the end of the run; stop the server that still works in the folder; remove it."""
    sys.stdin.buffer.read()
    lock = folder / "server" / "data" / "postmaster.pid"
    with contextlib.suppress(OSError, ValueError):
        pid = int(lock.read_text().split("\n", 1)[0])
        os.kill(pid, signal.SIGINT)
        # The lock file and not the process is watched: where nobody collects the dead, a
        # stopped server would look alive for ever.
        deadline = time.monotonic() + _PATIENCE
        while lock.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        if lock.exists():
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
