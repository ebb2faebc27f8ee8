"""When a statement holds, and how times are written."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidTime
from memoranda.ledger.time import (
    UNKNOWN,
    Validity,
    instant,
    is_within,
    moment,
    most_restrictive,
    parse_time,
    valid_at,
    validity_of,
)
from tests.ledger.objects import MAX_TIME, times, validities

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# ------------------------------------------------------------------------- the wire


@given(times)
def test_a_time_survives_the_wire(ms: int) -> None:
    text = format_time(ms)

    assert len(text) == 24
    assert parse_time(text) == ms
    assert datetime.fromisoformat(text) == EPOCH + timedelta(milliseconds=ms)
    assert instant(text) == moment(ms)


@given(times, times)
def test_times_on_the_wire_order_as_times_do(one: int, other: int) -> None:
    assert (format_time(one) < format_time(other)) == (one < other)
    assert (moment(one) < moment(other)) == (one < other)


def test_a_time_may_lack_its_fraction() -> None:
    assert parse_time("1970-01-01T00:00:01Z") == 1000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-15",
        "2026-02-15 10:22:31.000Z",
        "2026-02-15T10:22:31.000",
        "2026-02-15T10:22:31.000+00:00",
        "2026-02-15t10:22:31.000z",
        "2026-02-15T10:22:31.5Z",
        "2026-02-15T10:22:31.1234Z",
        "2026-02-30T10:22:31.000Z",
        "2026-02-15T24:00:00.000Z",
        "2026-02-15T23:59:60.000Z",
        "0000-01-01T00:00:00.000Z",
        "\uff12026-02-15T10:22:31.000Z",
        "2026-02-15T10:22:31.000Z\n",
    ],
)
def test_a_time_in_any_other_form_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime) as caught:
        parse_time(text)

    assert caught.value.code == "input.time"


@pytest.mark.parametrize("ms", [MAX_TIME + 1, -62_135_596_800_001, 2**53])
def test_a_time_beyond_the_calendar_is_refused(ms: int) -> None:
    with pytest.raises(InvalidTime):
        format_time(ms)


def test_times_of_others_are_compared_exactly() -> None:
    assert instant("2026-02-15T10:22:31+01:00") == instant("2026-02-15T09:22:31.000z")
    assert instant("2026-02-15T10:22:31.0000001Z") > instant("2026-02-15T10:22:31Z")  # type: ignore[operator]
    assert instant("2026-02-14T23:30:00-01:00") == instant("2026-02-15T00:30:00Z")
    assert instant("2016-12-31T23:59:60Z") == instant("2017-01-01T00:00:00Z")
    assert instant("0000-02-29T00:00:00Z") < instant("0001-01-01T00:00:00Z")  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    ["2026-02-15T10:22:60Z", "2026-02-15", "2026-13-01T00:00:00Z", "2026-02-15T10:22:31", "now"],
)
def test_what_is_no_time_has_no_instant(text: str) -> None:
    assert instant(text) is None


@given(st.text(max_size=30))
def test_no_text_makes_the_reader_of_foreign_times_fail(text: str) -> None:
    instant(text)


# ------------------------------------------------------------------------- validity


@pytest.mark.rule("GOV-TIME-1")
def test_both_bounds_are_inclusive() -> None:
    validity = Validity(10, 20, "bounded")

    assert [valid_at(validity, at) for at in (9, 10, 20, 21)] == [False, True, True, False]


@pytest.mark.rule("GOV-TIME-1")
@pytest.mark.parametrize(
    "bounds",
    [
        (1, None, "bounded"),
        (None, 1, "bounded"),
        (None, None, "unbounded"),
        (1, 2, "unbounded"),
        (2, 1, "unknown"),
    ],
)
def test_a_validity_that_does_not_say_what_it_is_can_not_be_made(
    bounds: tuple[int, int, str],
) -> None:
    with pytest.raises(InvalidTime):
        Validity(*bounds)  # type: ignore[arg-type]


@pytest.mark.rule("GOV-TIME-2")
def test_a_missing_bound_is_unknown_only_when_it_says_so() -> None:
    explicit = {"valid_from": None, "valid_to": None, "temporal_scope": "unknown"}

    assert validity_of(explicit) == UNKNOWN
    with pytest.raises(InvalidTime):
        validity_of({"valid_from": format_time(1), "valid_to": None, "temporal_scope": None})


def test_two_bounds_need_no_scope() -> None:
    both = {"valid_from": format_time(1), "valid_to": format_time(2)}

    assert validity_of(both) == Validity.between(1, 2) == Validity(1, 2, "bounded")


@pytest.mark.rule("GOV-TIME-3")
@given(st.lists(validities(), min_size=1, max_size=5), times)
def test_what_holds_in_the_intersection_holds_in_each(several: list[Validity], at: int) -> None:
    met = most_restrictive(several)

    if met is None:
        assert not all(valid_at(one, at) for one in several)
    else:
        assert valid_at(met, at) == all(valid_at(one, at) for one in several)
        assert all(is_within(met, one) for one in several)
        assert (met.scope == "unknown") == any(one.scope == "unknown" for one in several)


@given(validities(), validities(), validities())
def test_the_intersection_does_not_depend_on_order_or_grouping(
    a: Validity, b: Validity, c: Validity
) -> None:
    ab = most_restrictive([a, b])

    assert ab == most_restrictive([b, a])
    assert most_restrictive([a, a]) == a
    assert most_restrictive([a, b, c]) == (None if ab is None else most_restrictive([ab, c]))


@given(validities(), validities(), times)
def test_what_is_within_claims_no_other_time(inner: Validity, outer: Validity, at: int) -> None:
    if is_within(inner, outer) and valid_at(inner, at):
        assert valid_at(outer, at)


def test_an_unknown_end_never_becomes_no_end() -> None:
    assert not is_within(Validity(1, None, "unbounded"), Validity(1, None))
    assert is_within(Validity(1, 2, "bounded"), Validity(1, None))
    assert not is_within(Validity(1, None), Validity(1, 2, "bounded"))


def test_of_nothing_everything_is_unknown() -> None:
    assert most_restrictive([]) == UNKNOWN
