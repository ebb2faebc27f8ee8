"""The contract of an item store, as plain pytest functions over one fixture, `open_items`.

A module that star-imports this package and gives that fixture runs all of it::

    from memoranda.testkit.items import *

See docs/items.md.
"""

from memoranda.testkit.items import matching, saving
from memoranda.testkit.items.opening import (
    OpenItems,
    anyio_backend,
    fresh_name,
    items,
    scope,
    session_ref,
    stranger,
    twin,
)

SUBJECTS = (saving, matching)

# Every test of every subject is exported, so that none can be forgotten in a list.
_TESTS = {
    name: test
    for subject in SUBJECTS
    for name, test in vars(subject).items()
    if name.startswith("test_")
}
globals().update(_TESTS)

__all__ = [
    "OpenItems",
    "anyio_backend",
    "fresh_name",
    "items",
    "scope",
    "session_ref",
    "stranger",
    "twin",
]
__all__ += list(_TESTS)
