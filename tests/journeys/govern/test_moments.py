"""Times as people write them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda.journeys.govern.times import is_relative, milliseconds_of
from memoranda.kernel.errors import InvalidTime

NOW = 1_794_824_551_123
"""2026-11-16T10:22:31.123Z"""
DAY = 86_400_000
MIDNIGHT = NOW - NOW % DAY


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-16", MIDNIGHT),
        ("2026-11-16 10:22", NOW - 31_123),
        ("2026-11-16T10:22", NOW - 31_123),
        ("2026-11-16 10:22:31", NOW - 123),
        ("2026-11-16 10:22:31.1239", NOW),
        ("2026-11-16T11:22:31.123+01:00", NOW),
        (" now ", NOW),
        ("today", MIDNIGHT),
        ("Yesterday", MIDNIGHT - DAY),
        ("30s ago", NOW - 30_000),
        ("5 minutes ago", NOW - 300_000),
        ("2h ago", NOW - 7_200_000),
        ("1 day ago", NOW - DAY),
        ("3w ago", NOW - 21 * DAY),
        (NOW, NOW),
        (datetime(2026, 11, 16, tzinfo=UTC), MIDNIGHT),
        (None, None),
    ],
    ids=str,
)
def test_a_time_is_understood_as_it_is_written(written: Any, meant: int | None) -> None:
    assert milliseconds_of(written, NOW) == meant


@pytest.mark.parametrize("day", ["2026-11-16", "today"])
def test_a_day_that_ends_a_span_is_a_part_of_it(day: str) -> None:
    assert milliseconds_of(day, NOW, is_end=True) == MIDNIGHT + DAY - 1
    assert milliseconds_of("2026-11-16 10:22", NOW, is_end=True) == NOW - 31_123


@pytest.mark.parametrize(
    "wrong",
    ["", "soon", "2026-13-01", "2026-02-30", "2026-11-16 25:00", "2026-11-16 10:22 CET", "h ago",
     "-2h ago", "999999999w ago", "\ud800", "٢h ago", 1.0, True, datetime(2026, 1, 1), b"now"],  # noqa: DTZ001
    ids=ascii,
)  # fmt: skip
def test_what_names_no_time_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidTime):
        milliseconds_of(wrong, NOW)


def test_only_what_is_told_from_now_depends_on_when_it_is_read() -> None:
    assert all(map(is_relative, ["now", "today", " Yesterday", "2h ago"]))
    assert not any(map(is_relative, ["2026-11-16", "soon", NOW, None]))
