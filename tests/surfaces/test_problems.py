"""Every error has a status, a code of JSON-RPC and an exit code, and says nothing of the inside."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from memoranda.kernel.errors import MemorandaError, StoreError
from memoranda.surfaces.errors import (
    BUG,
    EXIT_CODES,
    MCP_CODES,
    STATUSES,
    exit_code,
    problem_of,
    title_of,
)
from memoranda.surfaces.http.openapi import _MEANINGS

CANARY = "/var/lib/secret.db SELECT * FROM bodies"


def leaves(kind: type[MemorandaError] = MemorandaError) -> Iterator[type[MemorandaError]]:
    for below in kind.__subclasses__():
        if below.__module__ == "memoranda.kernel.errors":
            yield below
            yield from leaves(below)


ALL = sorted(set(leaves()), key=lambda kind: kind.__name__)


def made(kind: type[MemorandaError]) -> MemorandaError:
    values: dict[str, Any] = {"int": 3, "float": 3.0, "tuple[str, ...]": (CANARY,)}
    return kind(**{found.name: values.get(str(found.type), CANARY) for found in fields(kind)})


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_is_mapped_for_every_door(kind: type[MemorandaError]) -> None:
    mapped = [any(base in table for base in kind.__mro__)
              for table in (STATUSES, MCP_CODES, EXIT_CODES)]  # fmt: skip
    error = made(kind)
    problem = problem_of(error)

    assert mapped == [True, True, True]
    assert problem is not BUG
    assert problem.code == kind.code
    assert problem.document()["type"] == f"urn:memoranda:problem:{kind.code}"
    assert exit_code(error) > 1
    assert problem.status in _MEANINGS


@pytest.mark.parametrize(
    "kind", [kind for kind in ALL if issubclass(kind, StoreError)], ids=lambda kind: kind.__name__
)
def test_what_the_database_can_not_do_says_nothing_of_it(kind: type[MemorandaError]) -> None:
    shown = str(problem_of(made(kind)).document())

    assert "secret" not in shown
    assert "SELECT" not in shown


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_a_title_is_a_sentence_without_rules(kind: type[MemorandaError]) -> None:
    title = title_of(kind)

    assert title[0].isupper()
    assert "(" not in title or ")" in title
    assert "-1)" not in title
