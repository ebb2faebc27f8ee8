"""How an error is shown outside Python: today as an exit code; HTTP and MCP come with them.

==== =========================================================================
code meaning
==== =========================================================================
0    done
1    a bug, or the output could not be written
2    wrong use: what was given can't be accepted (InvalidInput, a wrong option)
3    the record, the world or the turn is not in the state that the command needs (RecordError,
     WorldError, PlanError); `consolidate`: refused; `act`: rejected, or failed
4    the database, an anchor, or something that has to be installed, is not there (StoreError)
5    what was looked at is not sound: `verify` found damage, `validate` found violations,
     `replay` found a difference, or something that was read is damaged (EntryDamaged)
6    a cycle failed: nothing of the turn was stored, and the next turn may go on (CycleFailed)
7    the runtime stopped at once: a write failed, or the session is damaged or of another plan
     (FailFast)
==== =========================================================================
"""

from collections.abc import Mapping
from typing import Final

from memoranda.errors import (
    CycleFailed,
    EntryDamaged,
    FailFast,
    InvalidInput,
    MemorandaError,
    PlanError,
    RecordError,
    ScopeCollision,
    ScopeExists,
    StoreError,
    WorldError,
)

WRONG_USE: Final = 2
NOT_IN_STATE: Final = 3
NOT_THERE: Final = 4
NOT_SOUND: Final = 5
CYCLE_FAILED: Final = 6
FAILED_FAST: Final = 7

EXIT_CODES: Final[Mapping[type[MemorandaError], int]] = {
    InvalidInput: WRONG_USE,
    RecordError: NOT_IN_STATE,
    WorldError: NOT_IN_STATE,
    PlanError: NOT_IN_STATE,
    CycleFailed: CYCLE_FAILED,
    FailFast: FAILED_FAST,
    StoreError: NOT_THERE,
    ScopeCollision: NOT_IN_STATE,
    ScopeExists: NOT_IN_STATE,
    EntryDamaged: NOT_SOUND,
}
"""By branch of the tree: a new leaf has its code from the nearest branch it grows on."""


def exit_code(error: MemorandaError) -> int:
    """The exit code of the nearest branch that has one; 1 for an error outside the tree."""
    return next((EXIT_CODES[kind] for kind in type(error).__mro__ if kind in EXIT_CODES), 1)
