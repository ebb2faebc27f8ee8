"""What a filter means, by its pure definition."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.kernel.json import MAX_INTEGER
from memoranda.records.filter import MemoryFilter, matches, refuse_unknown_keys, select
from memoranda.records.model import StoredMemoryRecord
from memoranda.testkit.strategies import IDS, TAGS, TIMES, filters

Record = StoredMemoryRecord[Any]


def stored() -> st.SearchStrategy[Record]:
    return st.builds(
        StoredMemoryRecord,
        id=st.sampled_from(IDS),
        data=st.none(),
        created_at=st.sampled_from(TIMES),
        updated_at=st.sampled_from(TIMES),
        tags=st.none() | st.lists(st.sampled_from(TAGS), max_size=3).map(tuple),
    )


def record_sets() -> st.SearchStrategy[list[Record]]:
    return st.lists(stored(), max_size=12, unique_by=lambda record: record.id)


# --------------------------------------------------------------------------- properties


@given(filter=filters(), records=record_sets())
def test_select_returns_only_what_matches_and_pages_it(
    filter: MemoryFilter, records: list[Record]
) -> None:
    matching = [record for record in records if matches(filter, record)]
    found = select(filter, records)
    room = max(0, len(matching) - filter.offset)

    assert all(record in matching for record in found)
    assert len(found) == (room if filter.limit is None else min(room, filter.limit))


@given(filter=filters(), records=record_sets())
def test_pages_put_together_are_the_whole(filter: MemoryFilter, records: list[Record]) -> None:
    whole = filter.model_copy(update={"limit": None, "offset": 0})
    pages = [
        whole.model_copy(update={"limit": 3, "offset": offset})
        for offset in range(0, len(records) + 3, 3)
    ]

    put_together = [record for page in pages for record in select(page, records)]
    assert put_together == select(whole, records)


@pytest.mark.rule("MEM-FILTER")
@given(filter=filters(), records=record_sets())
def test_the_order_is_by_time_then_by_writing(filter: MemoryFilter, records: list[Record]) -> None:
    found = select(filter, records)

    for before, after in pairwise(found):
        first, second = (
            (record.created_at if filter.order_by == "createdAt" else record.updated_at)
            for record in (before, after)
        )
        if first == second:
            first, second = records.index(before), records.index(after)
        assert (first < second) == (filter.order == "asc")


# ----------------------------------------------------------------------------- examples


@pytest.mark.parametrize(
    ("asked", "is_match"),
    [
        ({}, True),
        ({"ids": ["one"]}, True),
        ({"ids": ["two"]}, False),
        ({"ids": []}, False),
        ({"tags": []}, True),
        ({"tags": ["x", "y"]}, True),
        ({"tags": ["x", "z"]}, False),
        ({"createdAfter": 5, "createdBefore": 5}, True),
        ({"createdAfter": 6}, False),
        ({"createdBefore": 4}, False),
    ],
)
def test_a_record_matches_when_every_key_does(asked: dict[str, Any], is_match: bool) -> None:
    record = StoredMemoryRecord("one", None, 5, 9, ("y", "x"))

    assert matches(MemoryFilter.model_validate(asked), record) is is_match


def test_a_record_without_tags_has_no_tag() -> None:
    record = StoredMemoryRecord("one", None, 5, 9)

    assert not matches(MemoryFilter(tags=["x"]), record)
    assert matches(MemoryFilter(tags=[]), record)


# --------------------------------------------------------------------------- validation


def test_a_filter_has_the_seeds_names_on_the_wire_and_ours_in_python() -> None:
    wire = {
        "ids": ["a"],
        "tags": ["x"],
        "createdAfter": 1,
        "createdBefore": 2,
        "limit": 3,
        "offset": 4,
        "orderBy": "updatedAt",
        "order": "asc",
    }

    filter = MemoryFilter.model_validate(wire)

    assert filter == MemoryFilter(
        ids=["a"],
        tags=["x"],
        created_after=1,
        created_before=2,
        limit=3,
        offset=4,
        order_by="updatedAt",
        order="asc",
    )
    assert filter.model_dump(mode="json") == wire
    assert MemoryFilter.model_validate_json(filter.model_dump_json()) == filter


def test_the_defaults_are_everything_newest_first() -> None:
    assert MemoryFilter() == MemoryFilter(
        ids=None, tags=None, limit=None, offset=0, order_by="createdAt", order="desc"
    )


@pytest.mark.rule("MEM-FILTER")
@pytest.mark.parametrize(
    ("asked", "where"),
    [
        ({"limit": -1}, "$.limit"),
        ({"limit": MAX_INTEGER + 1}, "$.limit"),
        ({"limit": 1.0}, "$.limit"),
        ({"limit": True}, "$.limit"),
        ({"limit": "1"}, "$.limit"),
        ({"offset": -1}, "$.offset"),
        ({"offset": None}, "$.offset"),
        ({"orderBy": "created_at"}, "$.orderBy"),
        ({"order": "newest"}, "$.order"),
        ({"ids": "abc"}, "$.ids"),
        ({"ids": ["a", 1]}, "$.ids[1]"),
        ({"tags": {"x"}}, "$.tags"),
        ({"createdAfter": 1.5}, "$.createdAfter"),
        ({"createdBefore": MAX_INTEGER + 1}, "$.createdBefore"),
    ],
    ids=repr,
)
def test_a_filter_that_can_not_be_answered_is_refused(asked: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidFilter) as caught:
        MemoryFilter.model_validate(asked)

    assert caught.value.code == "input.filter"
    assert caught.value.where == where


def test_a_filter_is_frozen() -> None:
    ids = ["a"]
    filter = MemoryFilter(ids=ids)
    ids.append("b")

    with pytest.raises(ValueError, match="frozen"):
        filter.limit = 3
    assert filter.ids == ("a",)


@pytest.mark.rule("MEM-FILTER")
def test_keys_of_a_stores_own_are_kept_apart_and_refused_unless_known() -> None:
    filter = MemoryFilter.model_validate({"near": [1, 2], "limit": 1})

    assert filter.own_keys == {"near": [1, 2]}
    refuse_unknown_keys(filter, frozenset({"near"}))
    for known in (frozenset[str](), frozenset({"far"})):
        with pytest.raises(UnknownFilterKey) as caught:
            refuse_unknown_keys(filter, known)
        assert caught.value.where == "near"


def test_a_filter_without_keys_of_its_own_is_fine_everywhere() -> None:
    assert MemoryFilter().own_keys == {}
    refuse_unknown_keys(MemoryFilter(), frozenset())
