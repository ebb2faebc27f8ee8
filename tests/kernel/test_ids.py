"""Ids are version 7 UUIDs that rise strictly."""

from itertools import pairwise
from uuid import UUID  # noqa: TID251 - to read ids back with another implementation

from memoranda.kernel.clock import TimeOrderedIds


class SteppedClock:
    """A clock that tells a list of times, then the last one for ever."""

    def __init__(self, *times: int) -> None:
        self.times = list(times)

    def now_ms(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_ids_are_version_7_uuids_that_carry_their_time() -> None:
    made = UUID(TimeOrderedIds(SteppedClock(1_700_000_000_123)).new_id())

    assert made.version == 7
    assert made.int >> 80 == 1_700_000_000_123


def test_ids_rise_strictly_even_when_the_clock_stands_or_goes_back() -> None:
    ids = TimeOrderedIds(SteppedClock(5_000, 5_000, 4_000, 3_000, 6_000, 1))
    made = [ids.new_id() for _ in range(10_000)]

    assert all(before < after for before, after in pairwise(made))


def test_two_sources_at_one_moment_make_different_ids() -> None:
    clock = SteppedClock(5_000)

    assert TimeOrderedIds(clock).new_id() != TimeOrderedIds(clock).new_id()
