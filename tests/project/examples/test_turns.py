"""The example of turns: the answer comes back from memory, in English and in Korean."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE
from tests.project.examples.test_refunds import WITHOUT_NETWORK

ROOT = Path(__file__).parents[3]
COMES_BACK = {
    "Which day was that for the saddle?": ("on Friday at 15:00", "It was Friday at 15:00"),
    "And the brakes of the bike?": ("checked the brakes", "The brakes of the bike were checked."),
    "자전거는 무슨 요일이었죠?": ("목요일 오후에", "목요일 오후였습니다."),
    "헬멧은 얼마였죠?": ("40,000원입니다", "헬멧은 40,000원이었습니다."),
}
IS_KNOWN = {
    "What does a service cost? My name is Ada.": (
        "A service costs 80 euros",
        "A service costs 80 euros, Ada.",
    ),
    "What is my name?": ("My name is Ada.", "Your name is Ada."),
    "정비는 얼마예요? 제 이름은 민수예요.": ("정비는 90,000원이다", "정비는 90,000원입니다."),
    "제 이름이 뭐죠?": ("제 이름은 민수예요.", "민수 님이십니다."),
}


def test_what_was_said_before_comes_back_in_both_languages() -> None:
    result = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", WITHOUT_NETWORK.replace("examples.refunds", "examples.turns")],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "MEMORANDA" not in name},
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )

    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    remembered = [line for line in lines if line.startswith("  remembered: ")]
    assert len(remembered) == len(COMES_BACK)
    for said, (remembered_of_it, answer) in COMES_BACK.items():
        at = lines.index(f"> {said}")
        assert remembered_of_it in lines[at + 1]
        assert any(line.startswith(f"  {answer}") for line in lines[at + 2 : at + 4])
    for said, (known, answer) in IS_KNOWN.items():
        at = lines.index(f"> {said}")
        told = lines[at + 1 : at + 4]
        assert f"  known: {known}" in told
        assert any(line.startswith(f"  {answer}") for line in told)
    assert [line for line in lines if line.startswith("  learned: ")] == [
        "  learned: My name is Ada.",
        "  learned: 제 이름은 민수예요.",
    ]
    assert lines[-1] == "# is the record sound? True"
