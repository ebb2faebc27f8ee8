"""``recollect scopes`` and ``recollect demo``."""

import os
import subprocess
import sys
from pathlib import Path


def recollect(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    environment.pop("RECOLLECT_DATABASE_URL", None)
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "recollect", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_demo_tells_a_story_twice_and_its_scopes_are_listed(tmp_path: Path) -> None:
    first = recollect("demo", folder=tmp_path)
    second = recollect("demo", folder=tmp_path)
    listed = recollect("scopes", "-d", "sqlite:///recollect-demo.db", folder=tmp_path)
    as_json = recollect("scopes", "--json", "-d", "sqlite:///recollect-demo.db", folder=tmp_path)

    assert (first.returncode, first.stderr) == (0, "")
    assert "64 of 64 are stored" in first.stdout
    assert "are one record" in " ".join(first.stdout.split())
    assert (second.returncode, second.stderr) == (0, "")
    assert "still here from the last run" in second.stdout
    assert max(map(len, first.stdout.splitlines())) <= 80
    assert listed.stdout.split() == ["billing", "support"]
    assert as_json.stdout.split() == ["[", '"billing",', '"support"', "]"]


def test_scopes_of_a_database_that_is_not_there_is_a_plain_error(tmp_path: Path) -> None:
    told = recollect("scopes", "-d", "sqlite:///nowhere.db", folder=tmp_path)

    assert told.returncode == 4
    assert told.stderr.startswith("error: Can't reach the database")
    assert "Traceback" not in told.stderr
    assert list(tmp_path.iterdir()) == []
