"""`python -m tests.campaigns.tampering --runs 10000 --seed 7`: the campaign in its long form.

Prints a table and, with `--json`, writes all counts. Ends with 1 when a class was not found where
it must be, not named, or found where it can't be, and on any false alarm.
"""

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from memoranda.identity import canonical_bytes
from tests.campaigns.tampering.calm import calm_runs
from tests.campaigns.tampering.campaign import Campaign, postgres_making, sqlite_clean
from tests.campaigns.tampering.threats import PAGE, lines_of, written


def main() -> int:
    """Run the campaign."""
    name = "python -m tests.campaigns.tampering"
    parser = argparse.ArgumentParser(prog=name, description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--clean", type=int, default=1_000, help="runs without any tampering")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--postgres",
        action="store_true",
        help="on PostgreSQL, by its owner; the clean runs are not",
    )
    parser.add_argument("--json", type=Path, help="where to write the counts")
    parser.add_argument(
        "--write-threats", action="store_true", help="write the table of docs/threats.md anew"
    )
    given = parser.parse_args()
    began = time.monotonic()
    with ExitStack() as stack:
        make = stack.enter_context(postgres_making()) if given.postgres else sqlite_clean
        campaign = Campaign(given.seed, make)
        campaign.go(given.runs, tell=lambda runs: _progress("tampered", runs, given.runs))
    alarms = calm_runs(
        given.seed, given.clean, tell=lambda runs: _progress("clean", runs, given.clean)
    )
    for line in lines_of(campaign):
        print(line)  # noqa: T201
    for texts in campaign.wrong.values():
        for text in texts:
            print("WRONG", text)  # noqa: T201
    for alarm in alarms:
        print("FALSE ALARM", alarm)  # noqa: T201
    seconds = round(time.monotonic() - began, 1)
    print(  # noqa: T201
        f"{campaign.runs:,} tamperings of {len(campaign.outcomes)} classes, seed {given.seed}:"
        f" {'all as they must be' if campaign.is_right else 'NOT as they must be'};"
        f" {len(alarms)} false alarms in {given.clean:,} clean runs; {seconds} s"
    )
    if given.write_threats:
        PAGE.write_text(written(PAGE.read_text(), campaign))
    if given.json:
        result = {
            "runs": campaign.runs,
            "seed": given.seed,
            "seconds": int(seconds),
            "clean_runs": given.clean,
            "false_alarms": alarms,
            "is_right": campaign.is_right and not alarms,
            "classes": campaign.table,
        }
        given.json.write_bytes(canonical_bytes(result) + b"\n")
    return 0 if campaign.is_right and not alarms else 1


def _progress(what: str, done: int, of: int) -> None:
    if sys.stderr.isatty() or done % 500 == 0:
        end = "" if sys.stderr.isatty() else "\n"
        print(f"\r{what}: {done:,} of {of:,}", end=end, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
