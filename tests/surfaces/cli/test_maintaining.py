"""Maintenance from the command line: policies, dry runs, jobs, and a worker that is stopped."""

import signal
import subprocess
import sys

from tests.patience import PATIENCE
from tests.surfaces.cli.command import Command


def test_a_policy_is_shown_and_changed_and_what_is_not_named_stays(command: Command) -> None:
    command.text("remember", "a fact")
    assert command.json("maintain", "policy")["version"] == 1

    command.text("maintain", "policy", "--max-age", "2h", "--enable", "--reason", "two hours")
    changed = command.json(
        *("maintain", "policy", "--max-records", "7", "--every", "index=never"),
        *("--every", "retention=90s", "--reason", "seven"),
    )

    assert changed["version"] == 3
    assert changed["rules"]["enabled"] is True
    assert changed["rules"]["retention"] == {"maxAge": 7_200_000, "maxRecords": 7}
    assert changed["rules"]["every"]["retention"] == 90
    assert "index" not in changed["rules"]["every"]
    unlimited = command.json("maintain", "policy", "--unlimited", "--disable", "--reason", "keep")
    assert unlimited["rules"]["retention"] == {}
    assert unlimited["rules"]["enabled"] is False


def test_what_can_t_be_a_policy_is_refused_in_words(command: Command) -> None:
    command.text("remember", "a fact")

    assert "--reason" in command.refused("maintain", "policy", "--enable", status=2)
    wrong = ("maintain", "policy", "--reason", "r")
    assert "30d" in command.refused(*wrong, "--max-age", "soon", status=2)
    assert "expiry" in command.refused(*wrong, "--every", "dust=1h", status=2)
    assert "dust" in command.refused("maintain", "run", "dust", status=2)
    assert command.json("maintain", "policy")["version"] == 1


def test_a_dry_run_counts_and_a_run_does(command: Command) -> None:
    command.text("remember", "a note", "--tag", "scratch", "--id", "note")
    command.text("maintain", "policy", "--ephemeral-tag", "scratch", "--reason", "tidy")

    (would,) = command.json("maintain", "run", "retention", "--dry-run")
    assert (would["outcome"], would["counts"]["ephemeral"]) == ("dry", 1)
    assert len(command.listed()) == 1
    (did,) = command.json("maintain", "run", "retention")
    assert (did["outcome"], did["counts"]) == ("done", would["counts"])
    assert command.listed() == []
    (status,) = command.json("maintain", "status")
    (job,) = [job for job in status["jobs"] if job["job"] == "retention"]
    assert job["lastCounts"] == would["counts"]
    assert "ephemeral 1" in command.text("maintain", "status")


def test_a_job_that_failed_says_so_and_exits_with_4(command: Command) -> None:
    command.text("remember", "a fact")

    failed = command("maintain", "run", "embed")

    assert failed.exit_code == 4
    assert "MEMORANDA_EMBEDDER_FOLDER" in failed.stdout


def test_a_worker_runs_what_is_due_until_it_is_told_to_stop(command: Command) -> None:
    command.text("remember", "a note", "--tag", "scratch")
    command.text("maintain", "policy", "--enable", "--ephemeral-tag", "scratch", "--reason", "tidy")
    worker = subprocess.Popen(
        [sys.executable, "-m", "memoranda", "maintain", "--worker", "--json"],
        cwd=command.folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    try:
        seen = ""
        while '"job":"retention"' not in seen:
            seen = worker.stdout.readline()
        assert '"outcome":"done"' in seen
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    finally:
        worker.kill()
        worker.communicate()
    assert command.listed() == []
