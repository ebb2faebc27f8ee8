"""The long form of `test_only_our_errors`, for ``make fuzz``: it takes minutes."""

import pytest

from tests.app.odd import ODD, UNSHOWN, VERY_ODD, is_odd_for
from tests.app.test_only_our_errors import PARAMETERS, trying


@pytest.mark.timeout(0)
def test_every_odd_value_for_every_parameter_raises_only_our_errors(place: str) -> None:
    with trying(place) as (tried, run):
        for name, parameter in PARAMETERS:
            for value in (*ODD, *UNSHOWN):
                if is_odd_for(parameter, name, value):
                    run(tried.call(name, {parameter: value}))


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in PARAMETERS))
def test_ten_megabytes_for_every_parameter_raise_only_our_errors(place: str, name: str) -> None:
    with trying(place) as (tried, run):
        for verb, parameter in PARAMETERS:
            for value in VERY_ODD if verb == name else ():
                if is_odd_for(parameter, name, value):
                    run(tried.call(name, {parameter: value}))
