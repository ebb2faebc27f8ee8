"""The example of turns: the right earlier item comes back, in English and in Korean."""

import os
import subprocess
import sys
from pathlib import Path

from tests.examples.test_refunds import WITHOUT_NETWORK

ROOT = Path(__file__).parents[2]
COMES_BACK = {
    "Which day was that for the saddle?": "The leather saddle fits your seat post.",
    "And the brakes of the bike?": "Your gravel bike arrived on Tuesday.",
    "자전거 찾을 때 뭐가 필요했죠?": "자전거는 목요일 오후에 찾으실 수 있습니다.",
    "헬멧은 얼마였죠?": "파란색 헬멧이 두 개 남아 있습니다.",
}


def test_what_was_said_before_comes_back_in_both_languages() -> None:
    result = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", WITHOUT_NETWORK.replace("examples.refunds", "examples.turns")],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "RECOLLECT" not in name},
        text=True,
        encoding="utf-8",
        timeout=120,
    )

    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    remembered = [line for line in lines if line.startswith("  remembered: ")]
    assert len(remembered) == len(COMES_BACK)
    for said, item in COMES_BACK.items():
        assert lines[lines.index(f"> {said}") + 1].startswith(f"  remembered: {item}")
    assert lines[-1] == "# is the record sound? True"
