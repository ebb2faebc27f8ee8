"""Whether bytes are canonical: the short way never says yes where RFC 8785 says no."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import decode
from memoranda.identity.canonical import is_canonical

_LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text()
_VALUES = st.dictionaries(
    st.text(), st.recursive(_LEAVES | st.floats(allow_nan=False, allow_infinity=False), st.lists)
)


@given(_VALUES)
def test_what_rfc_8785_writes_is_canonical(value: dict[str, Any]) -> None:
    raw = rfc8785.dumps(value)

    assert is_canonical(decode(raw), raw, deepest=64)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1.0}',
        b'{"a":1e3}',
        b'{"a":[1e21]}',
        b'{"a":-0}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        b'{"a":"\\u0041"}',
        '{"\ufffd":2,"\U0001f600":1}'.encode(),
    ],
)
def test_what_it_would_write_otherwise_is_not(raw: bytes) -> None:
    assert not is_canonical(decode(raw), raw, deepest=64)
