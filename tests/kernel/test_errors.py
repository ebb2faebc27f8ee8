"""The tree of errors: codes are stable and unique, data are kept, texts say what to do."""

import dataclasses
import pickle

import pytest

from memoranda.kernel import errors
from memoranda.kernel.errors import MemorandaError, RecordNotFound, VersionConflict


def every_error(of: type[MemorandaError] = MemorandaError) -> list[type[MemorandaError]]:
    return [of, *(leaf for child in of.__subclasses__() for leaf in every_error(child))]


def example(kind: type[MemorandaError]) -> MemorandaError:
    return kind(*("something" for _ in dataclasses.fields(kind)))


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in every_error()]

    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_says_something_with_its_data(kind: type[MemorandaError]) -> None:
    text = str(example(kind))

    assert "{" not in text
    assert kind.__name__ in (errors.__doc__ or ""), "the tree in the module's docstring is whole"


@pytest.mark.parametrize("kind", every_error(), ids=lambda kind: kind.__name__)
def test_every_error_crosses_a_process_border_whole(kind: type[MemorandaError]) -> None:
    error = example(kind)
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes, made a line above

    assert type(again) is kind
    assert str(again) == str(error)


def test_data_are_attributes() -> None:
    error = VersionConflict("a", expected=1, current=2)

    assert (error.id, error.expected, error.current) == ("a", 1, 2)
    assert RecordNotFound("a").rule == "MEM-CRUD-3"
