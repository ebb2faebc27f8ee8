"""decode gives back a value whose canonical bytes are the ones it was read from."""

from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import MAX_INTEGER
from tests.identity.documents import DocumentSource, values


@given(values)
def test_what_was_read_is_written_as_the_same_bytes(value: Any) -> None:
    raw = canonical_bytes(value)

    assert canonical_bytes(decode(raw)) == raw


@given(values)
def test_what_was_read_equals_what_was_written(value: Any) -> None:
    assert decode(canonical_bytes(value)) == value


def test_twenty_thousand_documents_are_read_and_written_as_the_same_bytes() -> None:
    source = DocumentSource(seed=1616)

    for _ in range(20_000):
        raw = canonical_bytes(source.document())
        assert canonical_bytes(decode(raw)) == raw


@pytest.mark.parametrize("number", [2.0**53, 1e16, 1.5e16, 2.0**60, 2.0**63, 2.0**64, 1e19, 1e20])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_large_float_comes_back_as_a_float_wherever_it_stands(number: float, sign: int) -> None:
    large = number * sign

    for value in (large, [large], [0, large], {"a": large}, {"a": [{"b": [1, large]}], "c": True}):
        read = decode(canonical_bytes(value))
        assert read == value
        assert "e+" in repr(read) or ".0" in repr(read)


@pytest.mark.parametrize("number", [MAX_INTEGER, -MAX_INTEGER, 10**15, 1763245394123, 0, -1])
def test_an_integer_comes_back_as_an_integer(number: int) -> None:
    for value in (number, [number], {"a": [number, 1e20]}):
        assert repr(decode(canonical_bytes(value))) == repr(value)


def test_truth_beside_a_large_float_stays_truth() -> None:
    assert repr(decode(b"[true,false,null,10000000000000000]")) == "[True, False, None, 1e+16]"


@pytest.mark.parametrize("raw", [b"", b"{", b"[1,]", b"\xff", b'"\\ud800"', b"NaN", b"[" * 5000])
def test_bytes_that_are_no_json_are_refused(raw: bytes) -> None:
    with pytest.raises(InvalidJson) as caught:
        decode(raw)

    assert caught.value.code == "input.json"
