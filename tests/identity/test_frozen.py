"""A frozen value can't be changed by anyone who holds what went in or what came out."""

import copy
import dataclasses
import pickle
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import Frozen, canonical_bytes, freeze
from memoranda.kernel.errors import InvalidJson, InvalidProof
from tests.identity.documents import values


@given(values)
def test_thawing_gives_the_value_back(value: Any) -> None:
    assert freeze(value).thaw() == value


@given(values)
def test_the_digest_is_that_of_the_canonical_bytes(value: Any) -> None:
    frozen = freeze(value)

    assert frozen.canonical == canonical_bytes(value)
    assert frozen.digest == sha256(frozen.canonical).hexdigest()


def test_what_is_done_to_the_original_never_reaches_it() -> None:
    original = {"tags": ["a"], "data": {"n": 1}}
    frozen = freeze(original)

    original["tags"].append("b")  # type: ignore[attr-defined]
    original["data"] = None  # type: ignore[assignment]

    assert frozen.thaw() == {"tags": ["a"], "data": {"n": 1}}


def test_what_is_done_to_a_thawed_value_never_reaches_it() -> None:
    frozen = freeze({"tags": ["a"], "data": {"n": 1}})
    thawed = frozen.thaw()

    thawed["tags"].append("b")
    thawed["data"]["n"] = 2

    assert frozen.thaw() == {"tags": ["a"], "data": {"n": 1}}
    assert frozen.thaw()["data"] is not frozen.thaw()["data"]


def test_nothing_can_be_assigned_to_it() -> None:
    frozen = freeze([1])

    for name in ("canonical", "digest"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(frozen, name, b"")


def test_values_of_equal_bytes_are_equal_and_hash_alike() -> None:
    assert freeze({"a": 1, "b": 2.0}) == freeze({"b": 2, "a": 1.0})
    assert len({freeze({"a": 1, "b": 2}), freeze({"b": 2, "a": 1}), freeze({"a": 1})}) == 2
    assert freeze([1]) != freeze([2])
    assert freeze({"a": None}) != freeze({})


def test_a_copy_and_a_pickle_are_equal_to_it() -> None:
    frozen = freeze({"a": [1]})

    for twin in (copy.deepcopy(frozen), pickle.loads(pickle.dumps(frozen))):  # noqa: S301
        assert twin == frozen
        assert twin.digest == frozen.digest


def test_its_repr_shows_the_digest_and_not_the_content() -> None:
    frozen = freeze({"name": "a secret"})

    assert frozen.digest in repr(frozen)
    assert "secret" not in repr(frozen)


def test_stored_bytes_come_back_with_their_digest() -> None:
    frozen = freeze({"a": 1e20})

    assert Frozen.stored(frozen.canonical, frozen.digest) == frozen


def test_stored_bytes_of_another_digest_are_refused() -> None:
    frozen = freeze({"a": 1})

    with pytest.raises(InvalidProof) as caught:
        Frozen.stored(frozen.canonical.replace(b"1", b"2"), frozen.digest)

    assert caught.value.code == "input.proof"


def test_a_buffer_that_is_filled_again_does_not_reach_it() -> None:
    buffer = bytearray(b'{"a":1}')
    frozen = Frozen.stored(buffer, freeze({"a": 1}).digest)  # type: ignore[arg-type,unused-ignore]

    buffer[5:6] = b"2"

    assert frozen.thaw() == {"a": 1}


def test_what_is_not_json_is_not_frozen() -> None:
    with pytest.raises(InvalidJson) as caught:
        freeze({"a": {1, 2}})

    assert caught.value.code == "input.json"
