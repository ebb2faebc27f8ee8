"""Room 5: what proves a store, ours and yours: contracts as pytest functions, simulators.

`memoranda.testkit.records` is the contract of a memory store (docs/testkit.md),
`memoranda.testkit.items` that of an item store (docs/items.md), and `memoranda.testkit.ledger` that
of a ledger. What they share is here: fixtures, and how a test says what it proves and needs.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any, Final, TypeVar

from memoranda.kernel.clock import TimeOrderedIds
from memoranda.kernel.errors import DependencyMissing
from memoranda.records.store import Capability
from memoranda.testkit.strategies import CountedIds, FrozenClock

try:
    import pytest
except ImportError as missing:
    raise DependencyMissing(str(missing.name), "testkit") from missing

# Before any of it is imported: its asserts then say what they saw, in anybody's suite.
pytest.register_assert_rewrite(
    "memoranda.testkit.records", "memoranda.testkit.items", "memoranda.testkit.ledger"
)

__all__ = ["CountedIds", "FrozenClock"]

_IDS: Final = TimeOrderedIds()

Test = TypeVar("Test", bound=Callable[..., object])


def contract(*named: str | frozenset[str]) -> Callable[[Test], Test]:
    """A test of the contract: the rules that it proves, and what it needs of a store.

    It runs under anyio, and carries ``pytest.mark.rule(*rules)`` for whoever counts proofs. Where
    the store does not declare a Capability, or the keys of filters, that are named here, the
    fixture `store` skips it.
    """
    needs = [each for each in named if isinstance(each, Capability | frozenset)]
    rules = [each for each in named if isinstance(each, str) and each not in needs]
    marks = [pytest.mark.anyio, *_rule_mark(*rules)]

    def marked(test: Test) -> Test:
        for mark in marks:
            test = mark(test)
        vars(test)["needs"] = needs
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


def collected_from(*subjects: ModuleType) -> dict[str, Any]:
    """Every test of these modules, by its name, so that none can be forgotten in a list."""
    members = [member for subject in subjects for member in vars(subject).items()]
    return {name: test for name, test in members if name.startswith("test_")}


def fresh_scope() -> str:
    """A scope that was never used before, in this run or any other."""
    return f"testkit-{_IDS.new_id()}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The contract runs on asyncio."""
    return "asyncio"


@pytest.fixture
def scope() -> str:
    """The scope of this test."""
    return fresh_scope()


async def cancelled_after(steps: int, call: Awaitable[Any]) -> bool:
    """Cancel a call after some turns of the event loop; whether it was done by then."""
    task = asyncio.ensure_future(call)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return False
    return True
