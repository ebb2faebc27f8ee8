"""canonical_bytes writes RFC 8785 and refuses what is not our JSON."""

import copy
import dataclasses
import datetime as dt
import enum
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, canonical_text
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import MAX_BYTES, MAX_DEPTH, MAX_INTEGER, parse
from tests.identity.documents import DocumentSource, texts, values

Vectors = Callable[[str], Any]

RECORD: Any = {
    "id": "018f3a5c-7b1e-7c3d-9a41-0123456789ab",
    "tags": ["email", "preference"],
    "data": {"text": "prefers email 😀 고객", "turn": 17, "verified": True, "ref": None},
    "scores": [1.0, 0.25, 0.0],
}


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Share(float):
    pass


class Pair(NamedTuple):
    left: int
    right: float


@dataclasses.dataclass
class Point:
    x: int


# ------------------------------------------------------------- JSON inside of a text


@given(values)
def test_canonical_json_as_a_text_has_the_bytes_of_any_text(value: Any) -> None:
    document = canonical_bytes(value)

    assert canonical_text(document) == canonical_bytes(document.decode())


def test_canonical_json_that_is_too_long_as_a_text_is_refused_as_any_text_is() -> None:
    longest, longer = (canonical_bytes("x" * (MAX_BYTES - rest)) for rest in (6, 5))

    assert len(canonical_text(longest)) == MAX_BYTES
    with pytest.raises(InvalidJson):
        canonical_text(longer)


# ------------------------------------------------------------------------ vectors


def test_our_documents_have_the_bytes_that_ecmascript_gives_them(vectors: Vectors) -> None:
    cases = vectors("documents")

    written = [canonical_bytes(parse(case["json"])).decode() for case in cases]

    assert written == [case["canonical"] for case in cases]


def test_our_numbers_have_the_digits_that_ecmascript_gives_them(vectors: Vectors) -> None:
    cases = vectors("numbers")
    doubles = [struct.unpack(">d", bytes.fromhex(bits))[0] for bits, _ in cases]

    assert canonical_bytes(doubles).decode() == f"[{','.join(text for _, text in cases)}]"
    assert [canonical_bytes(double).decode() for double in doubles] == [text for _, text in cases]


# --------------------------------------------------------------- equal to rfc8785


def test_a_hundred_thousand_documents_have_the_bytes_of_rfc8785() -> None:
    source = DocumentSource(seed=8785)

    for _ in range(100_000):
        document = source.document()
        assert canonical_bytes(document) == rfc8785.dumps(document), document


def test_two_hundred_thousand_doubles_have_the_digits_of_rfc8785() -> None:
    source = DocumentSource(seed=754)

    for _ in range(200):
        doubles = [source.double() for _ in range(1000)]
        assert canonical_bytes(doubles) == rfc8785.dumps(doubles)


@given(values)
def test_any_value_has_the_bytes_of_rfc8785(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, b'"red"'),
        (Level.HIGH, b"3"),
        ([Share(1.0)], b"[1]"),
        (Pair(1, 2.0), b"[1,2]"),
        (OrderedDict(b=1, a=Colour.RED), b'{"a":"red","b":1}'),
        ({Colour.RED: 1}, b'{"red":1}'),
        ((1, (2.0,)), b"[1,[2]]"),
    ],
    ids=repr,
)
def test_a_subclass_of_a_json_type_is_written_as_that_type(value: Any, expected: bytes) -> None:
    assert canonical_bytes(value) == expected


# --------------------------------------------------------------------- properties


@given(st.dictionaries(texts, values, min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(value: dict[str, Any], chance: Any) -> None:
    items = list(value.items())
    chance.shuffle(items)

    assert canonical_bytes(dict(items)) == canonical_bytes(value)


@given(values)
def test_writing_leaves_the_value_as_it_was(value: Any) -> None:
    before = copy.deepcopy(value)

    canonical_bytes(value)

    assert repr(value) == repr(before)


# ------------------------------------------------------------------- the fast way


def test_an_ordinary_record_never_reaches_the_slow_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rfc8785.dumps(RECORD)

    def unwanted(value: object) -> bytes:
        raise AssertionError(value)

    monkeypatch.setattr(rfc8785, "dumps", unwanted)

    assert canonical_bytes(RECORD) == expected


@pytest.mark.parametrize("number", [1e21, -1e21, 1e16, 1e-6, 9.9e-6, 1e-7, 5e-324, 1.7e308])
def test_an_exponent_is_never_left_to_a_release_of_orjson(
    number: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote_floats: list[float] = []
    write = orjson.dumps  # noqa: TID251 - the other side

    def watched(value: Any, option: int) -> bytes:
        wrote_floats.extend(item for item in value if type(item) is float)
        return write(value, option=option)

    monkeypatch.setattr(orjson, "dumps", watched)

    assert canonical_bytes([number, 0.5]) == rfc8785.dumps([number, 0.5])
    assert wrote_floats == [0.5]


# ------------------------------------------------------------------------ refusals


def nested(depth: int, *, objects: bool = False) -> Any:
    value: Any = {} if objects else []
    for _ in range(depth - 1):
        value = {"a": value} if objects else [value]
    return value


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": {"b": [1.5, float("nan")]}}, "$.a.b[1]"),
        (float("inf"), "$"),
        ([-float("inf")], "$[0]"),
        ({"a": MAX_INTEGER + 1}, "$.a"),
        ([-MAX_INTEGER - 1], "$[0]"),
        (2**64, "$"),
        ({"a": "\ud800"}, "$.a"),
        ({"\ud800": 1}, "$"),
        ({"\ud800": 1, "😀": 2}, "$"),
        ({"a": "x\x00"}, "$.a"),
        ({"a": "😀\x00"}, "$.a"),
        ({"\x00": 1}, "$"),
        ({"😀": ["\x00"]}, "$['\\U0001f600'][0]"),
        ({1: 2}, "$"),
        ({"a": {None: 2}}, "$.a"),
        ({"a": b"bytes"}, "$.a"),
        ({"a": {1, 2}}, "$.a"),
        ({"a": dt.date(2026, 11, 15)}, "$.a"),
        ({"a": dt.datetime(2026, 11, 15, tzinfo=dt.UTC)}, "$.a"),
        ([Point(1)], "$[0]"),
        pytest.param([orjson.Fragment(b"1")], "$[0]", id="a fragment"),  # their texts differ from
        pytest.param([object()], "$[0]", id="an object"),  # process to process
        (enum.Enum("Plain", "A").A, "$"),  # type: ignore[attr-defined]
    ],
    ids=ascii,
)
def test_what_is_not_our_json_is_refused_with_its_place(value: Any, where: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        canonical_bytes(value)

    assert caught.value.code == "input.json"
    assert caught.value.where == where


@pytest.mark.parametrize("objects", [False, True])
@pytest.mark.parametrize("leaf", [1, 1.5, "😀"])
def test_nesting_is_written_down_to_the_limit_and_refused_below(
    leaf: Any, *, objects: bool
) -> None:
    at_the_limit = nested(MAX_DEPTH, objects=objects)
    innermost = at_the_limit
    while innermost:
        innermost = innermost["a"] if objects else innermost[0]
    innermost.update(a=leaf) if objects else innermost.append(leaf)

    assert canonical_bytes(at_the_limit) == rfc8785.dumps(at_the_limit)
    with pytest.raises(InvalidJson) as caught:
        canonical_bytes([at_the_limit])
    assert caught.value.code == "input.json"


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 300, 100_000])
def test_endless_nesting_is_a_refusal_and_no_crash(depth: int) -> None:
    with pytest.raises(InvalidJson) as caught:
        canonical_bytes(nested(depth))

    assert caught.value.where == "$" + "[0]" * MAX_DEPTH


def test_a_value_that_holds_itself_is_refused() -> None:
    value: dict[str, Any] = {"a": [1]}
    value["a"].append(value)

    with pytest.raises(InvalidJson) as caught:
        canonical_bytes(value)

    assert caught.value.code == "input.json"


def test_a_backslash_before_u0000_is_text_like_any_other() -> None:
    assert canonical_bytes({"a": "\\u0000"}) == rb'{"a":"\\u0000"}'


def test_a_document_of_the_size_limit_is_written_and_one_byte_more_is_refused() -> None:
    text = "x" * (MAX_BYTES - 2)

    assert len(canonical_bytes(text)) == MAX_BYTES
    with pytest.raises(InvalidJson) as caught:
        canonical_bytes(text + "x")
    assert (caught.value.code, caught.value.where) == ("input.json", "$")


def test_the_size_limit_holds_for_the_slow_writer_too() -> None:
    with pytest.raises(InvalidJson) as caught:
        canonical_bytes({"😀": "x" * MAX_BYTES})

    assert caught.value.where == "$"
