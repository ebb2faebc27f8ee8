"""How a test says which rules it proves, in any suite."""

import warnings
from collections.abc import Callable
from typing import TypeVar

import pytest

Test = TypeVar("Test", bound=Callable[..., object])


def contract(*rules: str) -> Callable[[Test], Test]:
    """A test of the contract, and the rules that it proves.

    It runs under anyio, and carries ``pytest.mark.rule(*rules)`` for whoever counts proofs.
    """
    marks = [pytest.mark.anyio, *_rule_mark(*rules)]

    def marked(test: Test) -> Test:
        for mark in marks:
            test = mark(test)
        return test

    return marked


def _rule_mark(*rules: str) -> list[pytest.MarkDecorator]:
    """The mark, in a suite that knows it; nobody has to register a mark to use the kit.

    A suite that does not know it either warns (nobody asked for the mark: not told) or, under
    --strict-markers, refuses it (then the test goes without).
    """
    if not rules:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)
        try:
            return [pytest.mark.rule(*rules)]
        except pytest.fail.Exception:
            return []
