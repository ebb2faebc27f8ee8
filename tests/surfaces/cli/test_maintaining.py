"""Maintenance from the command line: policies, dry runs, jobs, and a worker that is stopped."""

import signal
import subprocess
import sys

from tests.patience import PATIENCE
from tests.surfaces.cli.command import Command


def test_a_policy_is_shown_and_changed_and_what_is_not_named_stays(memoranda: Command) -> None:
    memoranda.text("remember", "a fact")
    assert memoranda.json("maintain", "policy")["version"] == 1

    memoranda.text("maintain", "policy", "--max-age", "2h", "--enable", "--reason", "two hours")
    changed = memoranda.json(
        *("maintain", "policy", "--max-records", "7", "--every", "index=never"),
        *("--every", "retention=90s", "--reason", "seven"),
    )

    assert changed["version"] == 3
    assert changed["rules"]["enabled"] is True
    assert changed["rules"]["retention"] == {"maxAge": 7_200_000, "maxRecords": 7}
    assert changed["rules"]["every"]["retention"] == 90
    assert "index" not in changed["rules"]["every"]
    unlimited = memoranda.json("maintain", "policy", "--unlimited", "--disable", "--reason", "keep")
    assert unlimited["rules"]["retention"] == {}
    assert unlimited["rules"]["enabled"] is False


def test_what_can_t_be_a_policy_is_refused_in_words(memoranda: Command) -> None:
    memoranda.text("remember", "a fact")

    assert "--reason" in memoranda.refused("maintain", "policy", "--enable", status=2)
    wrong = ("maintain", "policy", "--reason", "r")
    assert "30d" in memoranda.refused(*wrong, "--max-age", "soon", status=2)
    assert "expiry" in memoranda.refused(*wrong, "--every", "dust=1h", status=2)
    assert "dust" in memoranda.refused("maintain", "run", "dust", status=2)
    assert memoranda.json("maintain", "policy")["version"] == 1


def test_a_dry_run_counts_and_a_run_does(memoranda: Command) -> None:
    memoranda.text("remember", "a note", "--tag", "scratch", "--id", "note")
    memoranda.text("maintain", "policy", "--ephemeral-tag", "scratch", "--reason", "tidy")

    (would,) = memoranda.json("maintain", "run", "retention", "--dry-run")
    assert (would["outcome"], would["counts"]["ephemeral"]) == ("dry", 1)
    assert len(memoranda.listed()) == 1
    (did,) = memoranda.json("maintain", "run", "retention")
    assert (did["outcome"], did["counts"]) == ("done", would["counts"])
    assert memoranda.listed() == []
    (status,) = memoranda.json("maintain", "status")
    (job,) = [job for job in status["jobs"] if job["job"] == "retention"]
    assert job["lastCounts"] == would["counts"]
    assert "ephemeral 1" in memoranda.text("maintain", "status")


def test_a_job_that_failed_says_so_and_exits_with_4(memoranda: Command) -> None:
    memoranda.text("remember", "a fact")

    failed = memoranda("maintain", "run", "embed")

    assert failed.exit_code == 4
    assert "MEMORANDA_EMBEDDER_FOLDER" in failed.stdout


def test_a_worker_runs_what_is_due_until_it_is_told_to_stop(memoranda: Command) -> None:
    memoranda.text("remember", "a note", "--tag", "scratch")
    memoranda.text(
        "maintain", "policy", "--enable", "--ephemeral-tag", "scratch", "--reason", "tidy"
    )
    worker = subprocess.Popen(
        [sys.executable, "-m", "memoranda", "maintain", "--worker", "--json"],
        cwd=memoranda.folder / "data",
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
    assert memoranda.listed() == []
