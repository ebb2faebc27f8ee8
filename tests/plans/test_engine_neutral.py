"""The source of the engine: it knows no step by name, no store, no policy, no flag."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

import pytest

from memoranda.plans import engine, plan, validation
from memoranda.plans.steps import CONTRACT

FORBIDDEN = (
    *(rule.type for rule in CONTRACT.rules),
    *(rule.stage for rule in CONTRACT.rules),
    *(name for rule in CONTRACT.rules for name in rule.gives),
    *CONTRACT.turn,
    "summar", "search", "memory", "memories", "retriev", "persist", "keyword", "item", "session",
    "store", "storage", "policy", "policies", "profile", "default", "coding", "review", "diagnose",
    "implement", "flag", "environ", "getenv", "topk", "top_k", "open(", "sqlite", "postgres",
)  # fmt: skip

HARMLESS = {"text", "id", "status", "context", "prompt", "response"}
"""Names of outputs that are words like any other: no literal of the engine is one of them."""

ALLOWED_IMPORTS = {
    "collections.abc", "types", "typing", "memoranda.identity", "memoranda.kernel.errors",
    "memoranda.kernel.json", "memoranda.kernel.wire", "memoranda.plans.validation",
    "memoranda.plans.plan",
}  # fmt: skip


def tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def literals(module: ModuleType) -> Iterator[str]:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.rule("ING-NEUTRAL")
@pytest.mark.parametrize("word", [word for word in FORBIDDEN if word not in HARMLESS])
def test_the_engine_does_not_say(word: str) -> None:
    source = inspect.getsource(engine).lower()

    assert word.lower() not in source.replace(".items()", "")


@pytest.mark.rule("ING-NEUTRAL")
@pytest.mark.parametrize("module", [engine, validation], ids=lambda one: one.__name__)
def test_no_literal_is_the_name_of_a_step_or_of_an_output(module: ModuleType) -> None:
    names = {rule.type for rule in CONTRACT.rules} | {
        name for rule in CONTRACT.rules for name in rule.gives
    }
    # A plan's own members are named in its form.
    assert {one for one in literals(module) if one in names} <= {"id"}


@pytest.mark.rule("ING-NEUTRAL")
def test_the_engine_imports_nothing_that_knows_more() -> None:
    imported = {
        node.module for node in ast.walk(tree(engine)) if isinstance(node, ast.ImportFrom)
    } | {
        name.name
        for node in ast.walk(tree(engine))
        if isinstance(node, ast.Import)
        for name in node.names
    }

    assert imported <= ALLOWED_IMPORTS


@pytest.mark.rule("ING-NO-GLOBAL")
@pytest.mark.parametrize("module", [engine, validation, plan], ids=lambda one: one.__name__)
def test_no_module_of_the_engine_has_anything_that_can_be_written(module: ModuleType) -> None:
    holders = (dict, list, set, bytearray)
    mutable = {
        name
        for name, value in vars(module).items()
        if isinstance(value, holders) and not name.startswith("__")
    }

    assert mutable == set()
    assert not any(isinstance(node, ast.Global | ast.Nonlocal) for node in ast.walk(tree(module)))


STORES = [
    "memoranda.stores.items",
    "memoranda.stores.sessions",
    "memoranda.stores.sqlite.items",
    "memoranda.stores.postgres.items",
    "memoranda.plans.items",
    "memoranda.plans.session",
]


@pytest.mark.rule("ING-NEUTRAL")
@pytest.mark.parametrize("name", STORES)
def test_a_store_interprets_no_policy(name: str) -> None:
    module = import_module(name)
    names = {
        getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Name | ast.Attribute | ast.arg)
    }
    imported = {node.module for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom)}

    assert not {one for one in names if one and ("policy" in one or "profile" in one)}
    assert not imported & {
        "memoranda.plans.policy", "memoranda.plans.plan", "memoranda.plans.engine",
        "memoranda.plans.steps", "memoranda.plans.validation",
    }  # fmt: skip
