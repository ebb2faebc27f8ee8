"""What numbers between two bounds begin with, which spares PostgreSQL to read most of them."""

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.records.filter import MemoryFilter
from memoranda.stores.narrowing import first_bytes, narrowing
from memoranda.stores.postgres.select import DIALECT

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


def test_a_number_of_few_beginnings_is_looked_for_by_them_before_it_is_read() -> None:
    def looked_for(**bounds: float) -> list[object]:
        where = {"data.turn": {f"${name}": bound for name, bound in bounds.items()}}
        narrowed = narrowing(MemoryFilter(where=where).conditions, DIALECT.search)
        assert narrowed is not None
        return narrowed.parameters[:2]

    assert looked_for(gte=100, lt=200)[0] == b'"turn":1'
    assert looked_for(gt=199, lte=200) == [b'"turn":1', b'"turn":2']
    assert looked_for(gte=100, lt=400)[0] == b"123", "the first byte of what follows the name"
