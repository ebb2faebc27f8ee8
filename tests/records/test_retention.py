"""Retention as a pure function: which records would go, and why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidRecord
from memoranda.records.model import Expiry, MemoryRetentionPolicy, StoredMemoryRecord, expiries

NOW = 1000


def kept(id: str, *, at: int = NOW, updated: int | None = None, tags: Any = None) -> Any:
    return StoredMemoryRecord(id, None, at, at if updated is None else updated, tags)


def test_a_policy_that_asks_for_nothing_keeps_everything() -> None:
    records = [kept("a", at=0, tags=("x",)), kept("b")]

    assert expiries(MemoryRetentionPolicy(), records, now=NOW) == []


def test_a_record_with_an_ephemeral_tag_goes() -> None:
    policy = MemoryRetentionPolicy(ephemeral_tags=["scratch", "draft"])
    records = [kept("a", tags=("scratch", "x", "draft")), kept("b", tags=("x",)), kept("c")]

    assert expiries(policy, records, now=NOW) == [
        Expiry("a", "ephemeral tag", "tagged draft, scratch")
    ]


def test_a_record_goes_when_its_last_update_is_longer_ago_than_the_limit() -> None:
    policy = MemoryRetentionPolicy(max_age=100)
    records = [
        kept("just in time", at=NOW - 100),
        kept("too old", at=NOW - 101),
        kept("old but updated", at=0, updated=NOW - 1),
        kept("of the future", at=NOW + 500),
    ]

    gone = expiries(policy, records, now=NOW)
    assert [(expiry.id, expiry.cause) for expiry in gone] == [("too old", "past max age")]


def test_the_newest_stay_when_there_are_too_many() -> None:
    policy = MemoryRetentionPolicy(max_records=2)
    records = [kept("d", at=1), kept("b", at=3), kept("c", at=3), kept("a", at=2)]

    gone = expiries(policy, records, now=NOW)
    assert [(expiry.id, expiry.cause) for expiry in gone] == [
        ("a", "beyond max records"),
        ("d", "beyond max records"),
    ]


def test_equally_new_records_stay_by_id() -> None:
    policy = MemoryRetentionPolicy(max_records=1)

    gone = expiries(policy, [kept("c"), kept("a"), kept("b")], now=NOW)

    assert [expiry.id for expiry in gone] == ["b", "c"]


def test_max_records_zero_keeps_nothing_and_max_age_zero_only_what_is_new() -> None:
    none, new = MemoryRetentionPolicy(max_records=0), MemoryRetentionPolicy(max_age=0)

    assert [expiry.id for expiry in expiries(none, [kept("a")], now=NOW)] == ["a"]
    assert expiries(new, [kept("a")], now=NOW) == []
    assert [expiry.id for expiry in expiries(new, [kept("a")], now=NOW + 1)] == ["a"]


def test_what_goes_for_another_cause_does_not_count_as_one_too_many() -> None:
    policy = MemoryRetentionPolicy(max_records=1, max_age=100, ephemeral_tags=["x"])
    records = [kept("newest", tags=("x",)), kept("stays", at=950), kept("old", at=1)]

    assert {expiry.id: expiry.cause for expiry in expiries(policy, records, now=NOW)} == {
        "newest": "ephemeral tag",
        "old": "past max age",
    }


@given(
    records=st.lists(
        st.builds(
            kept,
            st.uuids().map(str),
            at=st.integers(0, NOW),
            tags=st.none() | st.just(("x",)),
        ),
        max_size=20,
        unique_by=lambda record: record.id,
    ),
    policy=st.builds(
        MemoryRetentionPolicy,
        max_age=st.none() | st.integers(0, NOW),
        max_records=st.none() | st.integers(0, 10),
        ephemeral_tags=st.just(()) | st.just(("x",)),
    ),
)
def test_what_remains_needs_no_further_cleaning(
    records: list[StoredMemoryRecord[Any]], policy: MemoryRetentionPolicy
) -> None:
    gone = [expiry.id for expiry in expiries(policy, records, now=NOW)]
    remaining = [record for record in records if record.id not in gone]

    assert len(gone) == len(set(gone))
    assert expiries(policy, remaining, now=NOW) == []
    assert policy.max_records is None or len(remaining) <= policy.max_records


def test_a_policy_has_the_seeds_names() -> None:
    wire = {"maxAge": 1, "maxRecords": 2, "ephemeralTags": ["x"]}

    policy = MemoryRetentionPolicy.model_validate(wire)

    assert policy == MemoryRetentionPolicy(max_age=1, max_records=2, ephemeral_tags=["x"])
    assert policy.model_dump(mode="json") == wire


@pytest.mark.parametrize("wrong", [{"maxAge": -1}, {"maxRecords": 1.5}, {"maxage": 1}], ids=repr)
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRecord):
        MemoryRetentionPolicy.model_validate(wrong)
