"""Where two values differ: nowhere exactly where their canonical bytes agree."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, decode
from memoranda.worlds.delta import ABSENT, changes, differences, leaves_scope
from tests.worlds.running import objects, values

close = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, "", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(values)
def test_a_value_does_not_differ_from_what_is_stored_of_it(value: Any) -> None:
    assert list(differences(value, decode(canonical_bytes(value)))) == []


@given(close, close)
def test_values_differ_exactly_where_their_bytes_do(before: Any, after: Any) -> None:
    same = canonical_bytes(before) == canonical_bytes(after)

    assert (next(differences(before, after), None) is None) == same
    assert (changes(before, after) == []) == same


@given(close, close)
def test_a_difference_shows_what_stands_there_on_both_sides(before: Any, after: Any) -> None:
    for found in differences(before, after):
        for whole, shown in ((before, found.before), (after, found.after)):
            place: Any = whole
            for step in found.steps:
                try:
                    place = place[step]
                except LookupError:
                    place = ABSENT
                    break
            assert place is shown or canonical_bytes(place) == canonical_bytes(shown)


@given(close, close)
def test_differences_come_in_canonical_order(before: Any, after: Any) -> None:
    steps = [tuple(map(str, found.steps)) for found in differences(before, after)]

    assert steps == sorted(steps)


@given(objects, objects)
def test_nothing_is_touched_by_comparing(before: Any, after: Any) -> None:
    kept = copy.deepcopy((before, after))

    list(differences(before, after))

    assert kept == (before, after)


@given(objects, objects)
def test_a_scope_that_allows_all_or_what_did_not_change_is_never_left(
    before: Any, after: Any
) -> None:
    assert leaves_scope(before, after, ["*"]) is None
    assert leaves_scope(before, before, []) is None
    assert (leaves_scope(before, after, []) is None) == (
        canonical_bytes(before) == canonical_bytes(after)
    )
