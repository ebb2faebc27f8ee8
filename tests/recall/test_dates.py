"""The times that a question names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.clock import format_time
from memoranda.ledger.time import parse_time
from memoranda.recall.dates import AFTERWARDS, period
from memoranda.recall.reasons import Reason, ago

NOW = parse_time("2024-05-15T10:00:00.000Z")  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "until"),
    [
        ("on 3 June, 2023", "2023-06-03", "2023-06-04"),
        ("on the 3rd of June 2023?", "2023-06-03", "2023-06-04"),
        ("on June 3, 2023", "2023-06-03", "2023-06-04"),
        ("on Dec. 24", "2023-12-24", "2023-12-25"),
        ("2023-06-03", "2023-06-03", "2023-06-04"),
        ("since 2023-06", "2023-06-01", "2023-07-01"),
        ("in December 2023", "2023-12-01", "2024-01-01"),
        ("what happened in March?", "2024-03-01", "2024-04-01"),
        ("during august", "2023-08-01", "2023-09-01"),
        ("in May", "2024-05-01", "2024-06-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("today", "2024-05-15", "2024-05-16"),
        ("yesterday", "2024-05-14", "2024-05-15"),
        ("last friday", "2024-05-10", "2024-05-11"),
        ("last Wednesday", "2024-05-08", "2024-05-09"),
        ("last week", "2024-05-06", "2024-05-13"),
        ("this week", "2024-05-13", "2024-05-20"),
        ("last month", "2024-04-01", "2024-05-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("two weeks ago", "2024-04-29", "2024-05-06"),
        ("5 months ago", "2023-12-01", "2024-01-01"),
        ("3 days ago", "2024-05-12", "2024-05-13"),
        ("2023년 6월 3일에", "2023-06-03", "2023-06-04"),
        ("6월 3일", "2023-06-03", "2023-06-04"),
        ("2023년 6월", "2023-06-01", "2023-07-01"),
        ("3월에 뭐 했지?", "2024-03-01", "2024-04-01"),
        ("2022년에", "2022-01-01", "2023-01-01"),
        ("어제 환불", "2024-05-14", "2024-05-15"),
        ("지난주", "2024-05-06", "2024-05-13"),
        ("지난달에", "2024-04-01", "2024-05-01"),
        ("작년 여름", "2023-01-01", "2024-01-01"),
        ("두 달 전", "2024-03-01", "2024-04-01"),
        ("3일 전에", "2024-05-12", "2024-05-13"),
    ],
)
def test_a_time_is_understood(text: str, first: str, until: str) -> None:
    found = period(text, at=NOW)

    assert found is not None
    assert [format_time(found.first)[:10], format_time(found.until)[:10]] == [first, until]


@pytest.mark.parametrize(
    "text",
    ["", "may I march?", "the 2023 report", "on 31 June", "13월", "at 10:30", "call 2023"],
)
def test_what_names_no_time_names_none(text: str) -> None:
    assert period(text, at=NOW) is None


def test_a_period_has_its_days_and_the_day_after() -> None:
    found = period("on 3 June 2023", at=NOW)

    assert found is not None
    assert not found.has(found.first - 1)
    assert found.has(found.first)
    assert found.has(found.until + AFTERWARDS - 1)
    assert not found.has(found.until + AFTERWARDS)


@given(st.text(), st.integers(0, 10**14))
def test_no_text_breaks_it(text: str, at: int) -> None:
    found = period(text, at=at)

    assert found is None or found.first < found.until


def test_reasons_are_readable() -> None:
    reason = Reason(("refund", "March"), (-1, 3), ("anna",), "in May")

    assert reason.readable(created_at=NOW - 2 * 86_400_000, at=NOW) == (
        'matched "refund", "March"; next to a match, 1 record before, 3 records after;'
        ' said by "anna"; at the time asked for ("in May"); 2 days before'
    )
    assert Reason(("refund",)).readable(created_at=NOW) == 'matched "refund"'
    assert [ago(ms) for ms in (0, 59_999, 60_000, -7_200_000, 31_557_600_000 * 3)] == [
        "just now",
        "just now",
        "1 minute before",
        "2 hours after",
        "3 years before",
    ]
