"""Room 5: what proves a store, ours and yours: contracts as pytest functions, simulators.

`recollect.testkit.records` is the contract of a memory store; see docs/testkit.md.
"""

import pytest

from recollect.testkit.simulators import CountedIds, FrozenClock

# Before any of it is imported: its asserts then say what they saw, in anybody's suite.
pytest.register_assert_rewrite("recollect.testkit.records")

__all__ = ["CountedIds", "FrozenClock"]
