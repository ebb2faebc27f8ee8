"""What numbers between two bounds begin with, which spares PostgreSQL to read most of them."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.stores.narrowing import first_bytes

_NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
_SMALL = st.integers(-1_000, 100_000) | st.floats(0, 2_000, allow_nan=False)


@given(st.lists(_NUMBERS | _SMALL, min_size=3, max_size=3))
def test_a_number_between_two_begins_with_one_of_their_first_bytes(numbers: list[float]) -> None:
    low, number, high = sorted(numbers)

    for bounds in ((low, high), (-inf, high), (low, inf)):
        assert canonical_bytes(number)[:1] in first_bytes(*map(float, bounds))


def test_few_bytes_are_left_where_the_bounds_are_close() -> None:
    assert first_bytes(99.999, 200.001) == b"129"
    assert first_bytes(-inf, -1.0) == b"-"
    assert first_bytes(5.0, 3.0) == b""
