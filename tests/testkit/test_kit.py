"""The kit itself: all of its tests are exported, named once, and say which rules they prove."""

import importlib
import pkgutil
from collections import Counter
from types import ModuleType

import pytest

import memoranda.testkit.records as kit
from memoranda.kernel.rules import find_rule, load_rules
from memoranda.testkit import CountedIds, FrozenClock


def subjects() -> list[ModuleType]:
    return [
        importlib.import_module(f"{kit.__name__}.{module.name}")
        for module in pkgutil.iter_modules(kit.__path__)
    ]


def own_tests(module: ModuleType) -> list[str]:
    """The tests that a module defines."""
    return [
        name
        for name, value in vars(module).items()
        if name.startswith("test_") and value.__module__ == module.__name__
    ]


def test_every_test_is_exported_and_named_once() -> None:
    names = Counter(name for module in subjects() for name in own_tests(module))

    assert [name for name, times in names.items() if times > 1] == []
    assert set(names) == {name for name in kit.__all__ if name.startswith("test_")}
    assert len(names) > 150


def test_every_exported_name_is_there() -> None:
    assert [name for name in kit.__all__ if not hasattr(kit, name)] == []


def test_every_test_runs_under_anyio_and_names_rules_that_exist() -> None:
    rules = load_rules()
    for name in kit.__all__:
        if name.startswith("test_"):
            marks: list[pytest.Mark] = getattr(kit, name).pytestmark
            named = [rule for mark in marks if mark.name == "rule" for rule in mark.args]
            assert "anyio" in {mark.name for mark in marks}, name
            assert [rule for rule in named if find_rule(rule, rules) is None] == [], name


@pytest.mark.parametrize(
    "rule",
    [
        *("D-MEM-1", "D-MEM-REC", "MEM-FILTER", "MEM-PATCH-1", "MEM-REC-1", "MEM-REC-2"),
        *("MEM-CRUD-1", "MEM-CRUD-2", "MEM-CRUD-3", "MEM-CRUD-4", "MEM-CRUD-5"),
        *("MEM-HOOK-1", "MEM-HOOK-2", "MEM-HOOK-3"),
    ],
)
def test_each_rule_of_records_has_a_test_in_the_kit(rule: str) -> None:
    proved = {
        named
        for name in kit.__all__
        for mark in getattr(getattr(kit, name), "pytestmark", ())
        if mark.name == "rule"
        for named in mark.args
    }

    assert rule in proved


def test_scopes_are_never_the_same() -> None:
    assert len({kit.fresh_scope() for _ in range(10_000)}) == 10_000


def test_a_frozen_clock_moves_only_when_told() -> None:
    clock = FrozenClock(at=5)

    assert [clock.now_ms(), clock.now_ms()] == [5, 5]
    clock.advance(10)
    assert clock.now_ms() == 15


def test_counted_ids_rise() -> None:
    ids = CountedIds("r-")
    made = [ids.new_id() for _ in range(1100)]

    assert made[:2] == ["r-000001", "r-000002"]
    assert made == sorted(set(made))
