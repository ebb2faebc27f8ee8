"""The kit itself: all of its tests are exported, and a store that breaks a promise fails them."""

import importlib
import pkgutil
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import memoranda.testkit.items as kit
from memoranda.plans.items import MemoryItem, RetrievedItem, ranked, retrieved
from memoranda.stores.items import DictItems
from tests import suites

DOCUMENT = Path(__file__).parents[3] / "docs" / "items.md"
RULES = (
    "ING-OUTPUT", "ING-WHITELIST", "ING-KEYWORDS", "ING-SESSION", "ING-MATCH", "ING-NO-BEST-EFFORT",
)  # fmt: skip


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
    assert [name for name in kit.__all__ if not hasattr(kit, name)] == []
    proved = {
        rule
        for name in names
        for mark in getattr(kit, name).pytestmark
        if mark.name == "rule"
        for rule in mark.args
    }
    assert proved >= set(RULES)


# ------------------------------------------------------------------ stores that break a promise


class LeakyItems(DictItems):
    """Finds what other sessions have."""

    everything: ClassVar[list[MemoryItem]] = []

    async def save(self, item: MemoryItem) -> None:
        await super().save(item)
        self.everything.append(item)

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        await super().search(query, top_k)
        return [retrieved(item) for item in ranked(self.everything, query, top_k)]


class TellingItems(DictItems):
    """Returns keywords."""

    async def search(self, query: str, top_k: int) -> Sequence[Any]:
        await super().search(query, top_k)
        return ranked(self._items.values(), query, top_k)


class BluntItems(DictItems):
    """Takes a part of a word for a word."""

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        await super().search(query, top_k)
        found = ranked(self._items.values(), query, len(self._items))
        found = sorted(found, key=lambda one: one.timestamp, reverse=True)
        return [retrieved(item) for item in found[:top_k]]


class WordyItems(DictItems):
    """Finds whole words only, split at spaces."""

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        words = set(query.lower().split())
        found = await super().search(query, top_k)
        keywords = {id: set(map(str.lower, item.keywords)) for id, item in self._items.items()}
        return [one for one in found if keywords[one.id] & words]


class OverwritingItems(DictItems):
    """Keeps the last item that is saved under an id."""

    async def save(self, item: MemoryItem) -> None:
        if isinstance(item, MemoryItem):
            self._items.pop(item.id, None)
        await super().save(item)


BROKEN = {
    LeakyItems: {
        "test_another_session_finds_nothing_of_this_one",
        "test_the_same_session_of_another_scope_finds_nothing_of_this_one",
        "test_one_id_and_one_keyword_may_be_used_in_every_session",
        "test_what_another_session_has_changes_no_order_and_no_count",
        "test_sessions_that_look_alike_are_not_the_same",
    },
    TellingItems: {"test_what_is_retrieved_has_an_id_a_summary_and_a_timestamp"},
    BluntItems: {
        "test_words_come_before_parts_of_words_then_more_matches_then_the_newest_then_the_id",
        "test_a_word_that_is_a_part_first_and_a_word_later_is_a_word",
        "test_random_queries_find_what_the_pure_definition_says",
    },
    WordyItems: {
        "test_a_keyword_matches_where_it_occurs_in_the_query",
        "test_random_queries_find_what_the_pure_definition_says",
    },
    OverwritingItems: {
        "test_another_item_with_a_used_id_is_refused_and_changes_nothing",
        "test_only_one_of_the_items_with_one_id_is_kept",
    },
}

MODULE = """
from contextlib import asynccontextmanager
import pytest
from memoranda.testkit.items import *
from tests.plans.items.test_kit import {store}

@pytest.fixture
def open_items():
    kept = {{}}
    {store}.everything = []

    @asynccontextmanager
    async def opened(scope, session_ref):
        yield kept.setdefault((scope, session_ref), {store}(session_ref))

    return opened
"""


def test_a_store_that_breaks_a_promise_fails_the_tests_about_it_and_a_good_one_none(
    tmp_path: Path,
) -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    modules = {store.__name__: MODULE.format(store=store.__name__) for store in BROKEN}

    failed = suites.failures(tmp_path, {**modules, "Documented": snippets[-1]})

    assert failed["Documented"] == set()
    for store, expected in BROKEN.items():
        found = failed[store.__name__]
        assert expected <= found, (store.__name__, found)
        assert len(found) < 10, (store.__name__, found)
