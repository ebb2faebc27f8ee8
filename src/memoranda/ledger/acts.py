"""What was done to an object, in the words of the verbs.

The MemoryLog has six types of events: a next version is a ``create`` there, whatever led to it, and
an erasure is an ``archive``. People who read a history want to know which.
"""

from typing import Any, Final, Literal, cast

from memoranda.identity import decode
from memoranda.ledger.entry import read_entry
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Past

Act = Literal[
    "create", "update", "revise", "approve", "reinstate", "consolidate",
    "invalidate", "archive", "supersede", "erase",
]  # fmt: skip

ACTIVE: Final = "active"


def act_of(past: Past, before: Past | None) -> Act:
    """What led to a version; `before` is the version that it followed.

    Where what it said is erased, an update can't be told from a revision or an approval.
    """
    if past.version.status == "erased":
        return "erase"
    kind = read_entry(past.entry).kind
    if kind != "create" or before is None:
        return cast("Act", kind)
    was_active = before.version.status == ACTIVE
    if past.body is None or before.body is None:
        return "update" if was_active else "reinstate"
    now: Any = decode(past.body)
    then: Any = decode(before.body)
    is_same = data_of(now) == data_of(then)
    if not was_active:
        return "reinstate" if is_same else "create"
    if not is_same:
        return "update"
    return "approve" if now["trust"] == "approved" != then["trust"] else "revise"
