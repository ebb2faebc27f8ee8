"""Room 5: what proves a store, ours and yours: contracts as pytest functions, simulators.

`memoranda.testkit.records` is the contract of a memory store (docs/testkit.md), and
`memoranda.testkit.items` that of an item store (docs/items.md).
"""

import pytest

from memoranda.testkit.simulators import CountedIds, FrozenClock

# Before any of it is imported: its asserts then say what they saw, in anybody's suite.
pytest.register_assert_rewrite("memoranda.testkit.records", "memoranda.testkit.items")

__all__ = ["CountedIds", "FrozenClock"]
