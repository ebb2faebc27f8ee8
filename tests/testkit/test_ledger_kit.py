"""The kit of ledgers: all of its tests are exported, and a ledger that breaks a promise fails."""

import importlib
import pkgutil
from collections import Counter
from pathlib import Path

import memoranda.testkit.ledger as kit
from tests import suites

ROOT = Path(__file__).parents[2]
BROKEN = {
    "HalfUnits": "test_a_unit_lands_whole_in_its_order",
    "Trusting": "test_what_is_expected_is_checked_when_the_unit_runs",
    "Keyless": "test_a_retry_writes_nothing_and_is_told_the_same",
    "Clinging": "test_a_retry_goes_with_anything_that_its_unit_wrote",
    "Forgiving": "test_an_erasure_reaches_what_was_made_however_indirectly",
    "Reversed": "test_what_is_marked_is_found_in_its_order",
    "Wrapped": "",
}
MOST = 25
"""A broken promise fails the tests that rest on it, and not nearly all of them."""
MODULE = """
from contextlib import asynccontextmanager
import pytest
from memoranda.testkit.ledger import *
from tests.stores.contract.ledger_opening import ledgers_at
from tests.testkit.broken_ledgers import {ledger}

@pytest.fixture
def open_ledger(tmp_path):
    @asynccontextmanager
    async def opened(scope):
        async with ledgers_at(f"sqlite:///{{tmp_path}}/ledger.db")(scope) as ledger:
            yield {ledger}(ledger)

    return opened
"""


def test_every_test_is_exported_and_named_once() -> None:
    modules = [
        importlib.import_module(f"{kit.__name__}.{module.name}")
        for module in pkgutil.iter_modules(kit.__path__)
    ]
    names = Counter(
        name
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("test_") and value.__module__ == module.__name__
    )

    assert [name for name, times in names.items() if times > 1] == []
    assert set(names) == {name for name in kit.__all__ if name.startswith("test_")}


def test_a_ledger_that_breaks_a_promise_fails_the_test_about_it_and_a_good_one_none(
    tmp_path: Path,
) -> None:
    modules = {ledger: MODULE.format(ledger=ledger) for ledger in BROKEN}

    found = suites.failures(tmp_path, modules)

    for ledger, test in BROKEN.items():
        failed = found[ledger]
        assert (test in failed) if test else (failed == set()), (ledger, failed)
        assert len(failed) < MOST, (ledger, failed)
