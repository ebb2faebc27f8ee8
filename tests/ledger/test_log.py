"""The MemoryLog as NDJSON: out, strictly in, leniently in."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidEvent, InvalidLog
from memoranda.ledger.event import event_document
from memoranda.ledger.log import read_log, write_log
from tests.ledger.objects import NOW, checks, json_values, shared_file, texts

HASH = f"sha256:{'a' * 64}"


def an_event(event_id: str = "1", **members: Any) -> dict[str, Any]:
    return event_document(
        event_id=event_id,
        event_type="create",
        memory_object_id=f"object {event_id}",
        at=NOW,
        actor="system",
        new_hash=HASH,
        **members,
    )


@pytest.mark.rule("GOV-LOG")
@given(st.lists(texts, unique=True, max_size=4), texts, st.dictionaries(texts, json_values))
def test_a_log_survives_ndjson(ids: list[str], reason: str, steps: dict[str, Any]) -> None:
    events = [an_event(id, reason=reason, reconstruction=steps) for id in ids]

    raw = b"".join(write_log(events))
    reading = read_log(raw)

    assert raw.count(b"\n") == len(events)
    assert list(reading.documents) == events
    assert [event.document for event in reading.events()] == events
    assert reading.let_through == ()


@pytest.mark.rule("GOV-LOG")
def test_a_log_with_an_error_is_refused_as_a_whole() -> None:
    lines = [*write_log([an_event()]), b"{}", b"nonsense"]

    with pytest.raises(InvalidLog) as caught:
        read_log(lines)

    assert (caught.value.code, caught.value.line) == ("input.log", 2)
    assert caught.value.violations == 8


@pytest.mark.rule("GOV-LOG")
def test_a_member_that_nobody_knows_is_refused_strictly_and_kept_leniently() -> None:
    foreign = {**an_event(), "entry_hash": "x"}

    with pytest.raises(InvalidLog):
        read_log([foreign])
    reading = read_log([foreign], lenient=True)
    assert reading.documents == (foreign,)
    assert [(one.where, one.line) for one in reading.let_through] == [("$.entry_hash", 1)]
    with pytest.raises(InvalidEvent):
        list(reading.events())


@pytest.mark.rule("GOV-LOG")
def test_the_log_of_the_seeds_examples_is_read_leniently_with_what_was_let_through() -> None:
    raw = shared_file("original/memory-log.example.ndjson").read_bytes()

    reading = read_log(raw, lenient=True)

    assert [document["event_id"] for document in reading.documents] == [
        "evt_0001",
        "evt_0002",
        "evt_0003",
    ]
    assert checks(reading.let_through) == ["L5"]
    with pytest.raises(InvalidLog):
        read_log(raw)


def test_a_warning_does_not_refuse_a_log() -> None:
    reading = read_log(shared_file("log.time-goes-back.ndjson").read_bytes())

    assert len(list(reading.events())) == 2
    assert checks(reading.let_through, "warning") == ["L7"]


def test_a_large_float_of_ours_is_read_and_a_large_integer_of_others_is_not() -> None:
    large = canonical_bytes(an_event(reconstruction={"n": 1e16}))

    assert read_log(large).documents[0]["reconstruction"] == {"n": 1e16}
    with pytest.raises(InvalidLog):
        read_log(large.replace(b"10000000000000000", b"10000000000000001"))


def test_a_line_that_is_no_object_can_not_be_kept() -> None:
    reading = read_log([b"[1]", *write_log([an_event()]), b"\xff"], lenient=True)

    assert len(reading.documents) == 1
    assert [(one.check, one.line) for one in reading.let_through] == [("L1", 1), ("L1", 3)]


@given(st.binary(max_size=100))
def test_no_bytes_make_lenient_reading_fail(raw: bytes) -> None:
    read_log(raw, lenient=True)
