"""No result of a test with random examples depends on how fast they run, or on chance."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@st.composite
def drawn_slowly(draw: st.DrawFn) -> int:
    time.sleep(0.3)
    return draw(st.integers(0, 3))


@settings(max_examples=4)
@given(drawn_slowly())
def test_examples_may_be_slow_to_draw_and_to_run(number: int) -> None:
    time.sleep(0.3)
    assert number in range(4)


def test_every_test_that_was_collected_keeps_to_it(request: pytest.FixtureRequest) -> None:
    of_the_profile = settings()
    for item in request.session.items:
        test = getattr(item, "obj", None)
        used = getattr(test, "_hypothesis_internal_use_settings", of_the_profile)
        assert used.deadline is None, item.nodeid
        assert HealthCheck.too_slow in used.suppress_health_check, item.nodeid
        assert used.derandomize or settings.get_current_profile_name() == "exploring", item.nodeid
