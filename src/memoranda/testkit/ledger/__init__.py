"""The contract of a ledger, as plain pytest functions over one fixture, `open_ledger`.

A ledger keeps the journal of one scope: entries in a chain and under a tree, the objects and facts
that follow from them, and what goes when something is erased. A module that star-imports this
package and gives that fixture runs all of it::

    from memoranda.testkit.ledger import *

See docs/testkit.md. Words, vectors and what lands with entries are not proved here.
"""

from memoranda.testkit import anyio_backend, collected_from, fresh_scope, scope
from memoranda.testkit.ledger import facts, journal, units
from memoranda.testkit.ledger.opening import (
    OpenLedger,
    ledger,
    stranger,
    twin,
)

_TESTS = collected_from(units, journal, facts)
globals().update(_TESTS)

__all__ = [
    "OpenLedger",
    "anyio_backend",
    "fresh_scope",
    "ledger",
    "scope",
    "stranger",
    "twin",
]
__all__ += list(_TESTS)
