"""The contract of a memory store, as plain pytest functions over one fixture, `open_store`.

A module that star-imports this package and gives that fixture runs all of it::

    from memoranda.testkit.records import *

Abilities that the store does not declare are skipped, with the reason; a store that declares
nothing fails. See docs/testkit.md.
"""

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
    anyio_backend,
    fresh_scope,
    open_hooked,
    scope,
    store,
    stranger,
    twin,
)

SUBJECTS = (
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

# Every test of every subject is exported, so that none can be forgotten in a list.
_TESTS = {
    name: test
    for subject in SUBJECTS
    for name, test in vars(subject).items()
    if name.startswith("test_")
}
globals().update(_TESTS)

__all__ = [
    "OpenStore",
    "anyio_backend",
    "fresh_scope",
    "open_hooked",
    "scope",
    "store",
    "stranger",
    "twin",
]
__all__ += list(_TESTS)
