"""``memoranda scopes`` and ``memoranda demo``."""

import os
import re
import subprocess
import sys
from pathlib import Path

NO_CRYPTOGRAPHY = (
    "import sys; sys.modules['cryptography'] = None; from memoranda.__main__ import main; main()"
)


def memoranda(
    *arguments: str, folder: Path, start: tuple[str, ...] = ("-m", "memoranda")
) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MEMORANDA_")
    }
    return subprocess.run(  # noqa: S603 - our own command
        [sys.executable, *start, *arguments],
        cwd=folder,
        env={**environment, "NO_COLOR": "1", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_demo_tells_a_story_and_leaves_nothing_behind(tmp_path: Path) -> None:
    # As on a fresh machine: with what `make run` installs, which can't sign.
    told = memoranda("demo", folder=tmp_path, start=("-c", NO_CRYPTOGRAPHY))

    assert (told.returncode, told.stderr) == (0, "")
    words = " ".join(told.stdout.split())
    for part in (
        "Kim wants refunds as a voucher (matched",
        "민지는 한국어로 답을 받고 싶어 한다",
        "waiting for human:lee",
        "somebody else has to decide it",
        "'900 EUR by voucher'",
        "reason the carrier lost it",
        "same refund",
        "differs refund",
        "it is not the body that the entry was written with",
        "DAMAGED: body 1.",
        "Sound: nothing that was looked at is damaged.",
        "erased 1 object",
        "sound, 29 entries",
    ):
        assert part in words
    assert max(map(len, told.stdout.splitlines())) <= 80
    assert list(tmp_path.iterdir()) == []


def test_the_demo_can_be_kept_once_and_its_scope_is_listed(tmp_path: Path) -> None:
    first = memoranda("demo", "-d", "demo.db", folder=tmp_path)
    again = memoranda("demo", "-d", "demo.db", folder=tmp_path)
    listed = memoranda("scopes", "-d", "demo.db", folder=tmp_path)
    as_json = memoranda("scopes", "--json", "-d", "demo.db", folder=tmp_path)

    assert (first.returncode, first.stderr) == (0, "")
    assert "memoranda list -s refunds -d demo.db" in first.stdout
    assert again.returncode == 3
    assert "has the scope 'refunds' already" in again.stderr
    assert listed.stdout.split() == ["refunds"]
    assert as_json.stdout.split() == ['["refunds"]']


def test_the_tampered_copy_is_named_and_the_rewritten_one_only_by_the_anchor(
    tmp_path: Path,
) -> None:
    told = memoranda("demo", "tamper", folder=tmp_path, start=("-c", NO_CRYPTOGRAPHY))

    assert (told.returncode, told.stderr) == (0, "")
    assert max(map(len, told.stdout.splitlines())) <= 80
    steps = {part[0]: part for part in re.split(r"^(?=\d\. )", told.stdout, flags=re.MULTILINE)}
    assert "Sound" in steps["1"]
    assert "500 EUR becomes 900 EUR" in steps["2"]
    assert re.search(r"^body +1 +2 ", steps["3"], re.MULTILINE)
    assert "Sound" in steps["5"]
    assert "can't be told" in " ".join(steps["5"].split())
    assert "forked" in steps["6"]
    assert "DAMAGED" in steps["6"]
    assert "memoranda[sign]" in steps["7"]
    assert list(tmp_path.iterdir()) == []


def test_what_its_owner_rewrote_and_signed_is_named_by_the_witness(tmp_path: Path) -> None:
    told = memoranda("demo", "tamper", folder=tmp_path)

    assert (told.returncode, told.stderr) == (0, "")
    assert max(map(len, told.stdout.splitlines())) <= 80
    steps = {part[0]: part for part in re.split(r"^(?=\d\. )", told.stdout, flags=re.MULTILINE)}
    assert "1 signed" in steps["8"]
    assert "Sound" in steps["8"]
    assert "forked" in steps["9"]
    assert "witness.example+" in steps["9"]
    assert "DAMAGED: anchor 2." in steps["9"]
    assert list(tmp_path.iterdir()) == []


def test_scopes_of_a_database_that_is_not_there_is_a_plain_error(tmp_path: Path) -> None:
    told = memoranda("scopes", "-d", "sqlite:///nowhere.db", folder=tmp_path)

    assert told.returncode == 4
    assert told.stderr.startswith("error: Can't reach the database")
    assert "Traceback" not in told.stderr
    assert list(tmp_path.iterdir()) == []
