"""The command as it is started: another process, other streams."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from memoranda.kernel.json import parse
from memoranda.kernel.rules import load_rules
from tests.patience import PATIENCE


def start(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=PATIENCE,
    )


def test_the_rules_are_printed_as_utf8_json_whatever_the_locale() -> None:
    result = start("-m", "memoranda", "rules", "--json", LC_ALL="C", PYTHONIOENCODING="ascii")

    assert (result.returncode, result.stderr) == (0, b"")
    assert len(parse(result.stdout)) == len(load_rules())
    assert "요구사항".encode() in result.stdout


def test_an_unknown_rule_is_refused_without_a_traceback() -> None:
    result = start("-m", "memoranda", "rules", "NO-SUCH-RULE")

    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"error: No rule is called NO-SUCH-RULE.")
    assert result.stderr.count(b"\n") == 1


def test_the_version_is_that_of_the_package() -> None:
    result = start("-m", "memoranda", "--version")

    assert (result.returncode, result.stdout.decode()) == (0, f"memoranda {version('memoranda')}\n")


def test_without_a_command_the_help_is_shown() -> None:
    result = start("-m", "memoranda")

    assert result.returncode == 0
    assert b"rules" in result.stdout


def test_a_reader_that_left_is_no_error_to_talk_about() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        result = subprocess.run(
            [sys.executable, "-m", "memoranda", "rules"],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            timeout=PATIENCE,
        )

    assert result.stderr == b""


def exporting(folder: Path) -> list[str]:
    """A command line whose output is longer than a pipe holds."""
    database = f"sqlite:///{folder / 'm.db'}"
    written = start("-m", "memoranda", "remember", "x" * 100_000, "-d", database)
    assert written.returncode == 0
    return [sys.executable, "-m", "memoranda", "export", "-d", database]


def test_a_reader_that_leaves_an_export_early_gets_no_words(tmp_path: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - our own command
        exporting(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"{")
        process.stdout.close()

        assert process.stderr.read() == b""
        assert process.wait(PATIENCE) == 1


def test_an_export_to_a_full_disk_is_one_plain_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(  # noqa: S603 - our own command
            exporting(tmp_path), stdout=full, stderr=subprocess.PIPE, check=False, timeout=PATIENCE
        )

    assert result.returncode == 1
    assert result.stderr == b"error: It could not be written: No space left on device.\n"


def test_standard_output_that_is_closed_is_no_traceback(tmp_path: Path) -> None:
    command = exporting(tmp_path)
    script = 'exec "$@" >&-'
    export = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", script, "sh", *command],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    listed = subprocess.run(  # noqa: S603 - our own command
        ["/bin/sh", "-c", script, "sh", *command[:3], "list", *command[4:]],
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )

    assert (export.returncode, listed.returncode, listed.stderr) == (2, 0, b"")
    assert export.stderr.startswith(b"error: Standard output is closed")


def test_what_the_library_logs_is_a_plain_warning(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    database = f"sqlite:///{tmp_path / 'data' / 'm.db'}"
    anchor = str(tmp_path / "nowhere" / "anchor")
    result = start(
        *("-m", "memoranda", "remember", "x", "-d", database), MEMORANDA_ANCHOR_FILE=anchor
    )

    assert result.returncode == 0
    lines = result.stderr.decode().splitlines()
    assert lines
    assert all(line.startswith("warning: checkpoints were not kept by") for line in lines)
