"""The contract of an item store, as plain pytest functions over one fixture, `open_items`.

A module that star-imports this package and gives that fixture runs all of it::

    from memoranda.testkit.items import *

See docs/items.md.
"""

from memoranda.testkit import anyio_backend, collected_from, fresh_scope, scope
from memoranda.testkit.items import matching, saving
from memoranda.testkit.items.opening import (
    OpenItems,
    items,
    session_ref,
    stranger,
    twin,
)

_TESTS = collected_from(saving, matching)
globals().update(_TESTS)

__all__ = [
    "OpenItems",
    "anyio_backend",
    "fresh_scope",
    "items",
    "scope",
    "session_ref",
    "stranger",
    "twin",
]
__all__ += list(_TESTS)
