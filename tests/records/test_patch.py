"""How a patch changes data."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given

from memoranda.kernel.errors import InvalidPatch
from memoranda.records.model import merged
from memoranda.testkit.strategies import json_objects, json_values


@pytest.mark.rule("MEM-PATCH-1")
@given(data=json_objects(), patch=json_objects())
def test_an_object_takes_the_members_of_a_patch(data: Any, patch: Any) -> None:
    result = merged("id", data, patch)

    assert result.keys() == data.keys() | patch.keys()
    assert all(result[key] is patch[key] for key in patch)
    assert all(result[key] is data[key] for key in data.keys() - patch.keys())


@given(data=json_objects(), patch=json_objects())
def test_merging_changes_neither_of_the_two(data: Any, patch: Any) -> None:
    before = deepcopy((data, patch))

    merged("id", data, patch)

    assert (data, patch) == before


@given(data=json_objects(), patch=json_objects())
def test_a_patch_made_twice_is_a_patch_made_once(data: Any, patch: Any) -> None:
    once = merged("id", data, patch)

    assert merged("id", once, patch) == once


@given(data=json_values().filter(lambda data: not isinstance(data, dict)), patch=json_values())
def test_data_that_is_no_object_is_replaced(data: Any, patch: Any) -> None:
    assert merged("id", data, patch) is patch


@pytest.mark.rule("MEM-PATCH-1")
@given(data=json_objects(), patch=json_values().filter(lambda patch: not isinstance(patch, dict)))
def test_a_patch_that_is_no_object_can_not_be_merged_into_one(data: Any, patch: Any) -> None:
    with pytest.raises(InvalidPatch) as caught:
        merged("one", data, patch)

    assert caught.value.id == "one"
