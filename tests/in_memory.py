"""The suite's files and databases are in memory, where the machine has a place for that.

SQLite and PostgreSQL sync each commit as they always do, with the settings that users have; here
it costs nothing. What a power cut takes is proved on a simulated disk (tests/campaigns/adversity),
and a process that is killed leaves what it wrote on any file system. Whoever names a place in
TMPDIR keeps it.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")  # noqa: S108 - what is made there has a folder of its own
ROOM: Final = 4 << 30
"""Bytes that must be free: a container often has far fewer."""

if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK | os.X_OK):
    may_run_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC  # PostgreSQL's are copied
    if may_run_programs and shutil.disk_usage(MEMORY).free >= ROOM:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None
