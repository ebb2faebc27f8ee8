"""The example runs as it says: in one command, with no network."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[3]
WITHOUT_NETWORK = """
import runpy, socket, sys

def refused(*_, **__):
    raise AssertionError("the example reaches for the network")

socket.socket.connect = refused
runpy.run_module("examples.refunds", run_name="__main__")
"""
STORY = """\
1. A small refund is approved by rule, and runs at once.
    (the bank pays ann 20 by card)
   completed by card
2. A large one waits for a human.
   waiting
3. Lee finds it in the inbox, and approves it.
   250 to kim because the parcel never arrived
4. Now it runs, with what is known of the customer.
    (the bank pays kim 250 by voucher)
   completed by voucher
"""
AGAIN = """\
6. Would it happen again? Run from what was recorded, nobody is paid twice.
   refund same
   refund same
7. Is the record sound? True
"""


def test_the_example_tells_its_story() -> None:
    result = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", WITHOUT_NETWORK],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if "MEMORANDA" not in name},
        text=True,
        timeout=PATIENCE,
    )

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(STORY)
    assert result.stdout.endswith(AGAIN)
    tree = result.stdout[len(STORY) : -len(AGAIN)]
    assert "human:lee" in tree
    assert "the carrier lost it" in tree
    assert "kim prefers a voucher" in tree
