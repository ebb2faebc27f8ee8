"""The contract of a memory store, as plain pytest functions over one fixture, `open_store`.

A module that star-imports this package and gives that fixture runs all of it::

    from memoranda.testkit.records import *

Abilities that the store does not declare are skipped, with the reason; a store that declares
nothing fails. See docs/testkit.md.
"""

from memoranda.testkit import anyio_backend, collected_from, fresh_scope, scope
from memoranda.testkit.records import (
    batches,
    concurrency,
    crud,
    filters,
    hooks,
    ids,
    isolation,
    opening,
    pages,
    retries,
    values,
    versions,
)
from memoranda.testkit.records.opening import (
    OpenStore,
    open_fresh,
    open_hooked,
    store,
    stranger,
    twin,
)

_TESTS = collected_from(
    opening,
    values,
    crud,
    ids,
    filters,
    batches,
    versions,
    retries,
    pages,
    hooks,
    isolation,
    concurrency,
)
globals().update(_TESTS)

__all__ = [
    "OpenStore",
    "anyio_backend",
    "fresh_scope",
    "open_fresh",
    "open_hooked",
    "scope",
    "store",
    "stranger",
    "twin",
]
__all__ += list(_TESTS)
