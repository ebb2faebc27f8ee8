"""Room 5: what proves a store, ours and yours: contracts as pytest functions, simulators.

`memoranda.testkit.records` is the contract of a memory store (docs/testkit.md),
`memoranda.testkit.items` that of an item store (docs/items.md), and `memoranda.testkit.ledger` that
of a ledger.
"""

from memoranda.kernel.errors import DependencyMissing
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
