"""Room 5: what proves a store, ours and yours: contracts as pytest functions, simulators.

`recollect.testkit.records` is the contract of a memory store (docs/testkit.md), and
`recollect.testkit.items` that of an item store (docs/items.md).
"""

import pytest

from recollect.testkit.simulators import CountedIds, FrozenClock

# Before any of it is imported: its asserts then say what they saw, in anybody's suite.
pytest.register_assert_rewrite("recollect.testkit.records", "recollect.testkit.items")

__all__ = ["CountedIds", "FrozenClock"]
