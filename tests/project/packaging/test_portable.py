"""Nothing needs POSIX to be imported, or to work on a SQLite file.

Windows is not at hand here: what POSIX alone has is taken away instead. What it does on a real one
is not known from this.
"""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

WITHOUT_POSIX = """
import asyncio, concurrent.futures.thread, importlib, logging, os, pkgutil, shutil, ssl, sys
import tempfile
import apsw, cryptography.hazmat.primitives.asymmetric.ed25519, httpx2, mcp.server, numpy, orjson
import psycopg, pydantic, pydantic.root_model, rich.console, starlette.applications, typer.main
import uvicorn

only_posix = ["O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "fchmod", "fork", "geteuid",
              "getuid", "pread", "register_at_fork"]
for name in only_posix:
    delattr(os, name)
sys.modules |= dict.fromkeys(["fcntl", "grp", "pwd", "resource", "termios"])

import memoranda, memoranda_verify
for found in pkgutil.walk_packages(memoranda.__path__, "memoranda."):
    if ".testkit" not in found.name and not found.name.endswith("__main__"):
        importlib.import_module(found.name)

with memoranda.open_sync("m.db", scope="s", actor="agent:a") as memory:
    memory.remember("The customer prefers email")
    (item,) = memory.recall("customer", top_k=1)
    print(item.data, memory.verify().is_sound)

from memoranda.formats import create_key
from memoranda.errors import InvalidKey
from pathlib import Path
Path("keys").mkdir()
try:
    create_key(Path("keys/key"), Path("keys/ring"), name="example.org/a", database=None)
except InvalidKey as refused:
    print(refused)
from memoranda.surfaces.cli.main import app
app(["backup", "take", "copy.db", "-d", "m.db"], standalone_mode=False)
"""


def test_without_what_only_posix_has_all_is_imported_and_a_file_works(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", WITHOUT_POSIX],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        text=True,
        timeout=PATIENCE,
    )

    assert (done.returncode, done.stderr) == (0, "")
    data, key, *_ = done.stdout.splitlines()
    assert data == "The customer prefers email True"
    assert "no locks of files" in key
    assert (tmp_path / "copy.db").is_file()
