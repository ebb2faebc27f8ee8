"""How an error is shown outside Python: an exit code, an HTTP problem, an MCP error.

==== =========================================================================
code meaning
==== =========================================================================
0    done
1    a bug, or the output could not be written
2    wrong use: what was given can't be accepted (InvalidInput, a wrong option)
3    the record, the world or the turn is not in the state that the command needs (RecordError,
     WorldError, PlanError); `consolidate`: refused; `act`: rejected, or failed
4    the database, an anchor, or something that has to be installed, is not there (StoreError); a
     server does not let the request in (DoorError)
5    what was looked at is not sound: `verify` found damage, `validate` found violations,
     `replay` found a difference, or something that was read is damaged (EntryDamaged)
6    a cycle failed: nothing of the turn was stored, and the next turn may go on (CycleFailed)
7    the runtime stopped at once: a write failed, or the session is damaged or of another plan
     (FailFast)
==== =========================================================================
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, Final, TypeVar

from memoranda import errors
from memoranda.errors import (
    CycleFailed,
    DoorError,
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

V = TypeVar("V")

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
    DoorError: NOT_THERE,
    StoreError: NOT_THERE,
    ScopeCollision: NOT_IN_STATE,
    ScopeExists: NOT_IN_STATE,
    EntryDamaged: NOT_SOUND,
}
"""By branch of the tree: a new leaf has its code from the nearest branch it grows on."""

STATUSES: Final[Mapping[type[MemorandaError], int]] = {
    InvalidInput: 400,
    RecordError: 409,
    errors.RecordNotFound: 404,
    errors.VersionConflict: 412,
    errors.ApprovalRefused: 403,
    errors.JudgementRefused: 403,
    errors.PolicyRefused: 403,
    errors.AuditRefused: 403,
    WorldError: 409,
    errors.WorldNotFound: 404,
    errors.WorldErased: 410,
    errors.DecisionRefused: 403,
    PlanError: 409,
    errors.ModelFailed: 502,
    FailFast: 503,
    DoorError: 403,
    errors.KeyMissing: 401,
    errors.KeyRefused: 401,
    errors.RateExceeded: 429,
    errors.Overloaded: 429,
    errors.RequestTimedOut: 503,
    errors.RouteNotFound: 404,
    errors.MethodRefused: 405,
    errors.MediaTypeRefused: 415,
    errors.RequestTooLarge: 413,
    StoreError: 503,
    errors.CapabilityMissing: 409,
    errors.DependencyMissing: 409,
    errors.ScopeNotFound: 404,
    ScopeExists: 409,
    ScopeCollision: 409,
    errors.StoreReadOnly: 403,
    EntryDamaged: 500,
    errors.ItemDamaged: 500,
    errors.BodyUnreadable: 500,
}
"""HTTP statuses, likewise."""

MCP_INVALID: Final = -32602
MCP_REFUSED: Final = -32000
MCP_BROKEN: Final = -32603
MCP_CODES: Final[Mapping[type[MemorandaError], int]] = {
    InvalidInput: MCP_INVALID,
    RecordError: MCP_REFUSED,
    WorldError: MCP_REFUSED,
    PlanError: MCP_REFUSED,
    DoorError: MCP_REFUSED,
    StoreError: MCP_BROKEN,
    ScopeExists: MCP_REFUSED,
    ScopeCollision: MCP_REFUSED,
    errors.ScopeNotFound: MCP_REFUSED,
    errors.RecordNotFound: MCP_INVALID,
    errors.WorldNotFound: MCP_INVALID,
    errors.RouteNotFound: MCP_INVALID,
    errors.CapabilityMissing: MCP_REFUSED,
    errors.StoreReadOnly: MCP_REFUSED,
}
"""Codes of JSON-RPC, likewise."""

_QUIET: Final = (StoreError, errors.ModelFailed, CycleFailed, FailFast, errors.InvalidKey)
"""What they say may hold a path, SQL or an address of the server's surroundings."""
_MOST_SAID: Final = 1_000
_RULES: Final = re.compile(r"\s*\([A-Z][A-Z0-9, -]+\)")


def exit_code(error: MemorandaError) -> int:
    """The exit code of the nearest branch that has one; 1 for an error outside the tree."""
    return _nearest(EXIT_CODES, type(error), 1)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as doors show it: RFC 9457 members, and what it says by name.

    Of what a server can't do nothing is said but its kind: neither a path, nor SQL, nor an address.
    """

    status: int
    code: str
    title: str
    detail: str
    members: Mapping[str, Any]
    mcp_code: int
    retry_after: int | None = None

    @property
    def type(self) -> str:
        """A name for this kind of problem."""
        return f"urn:memoranda:problem:{self.code}"

    def document(self) -> dict[str, Any]:
        """The problem as JSON."""
        document = {
            "type": self.type,
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": self.detail,
        }
        return document | ({"members": dict(self.members)} if self.members else {})


BUG: Final = Problem(
    500, "bug", "Something went wrong in the server.", "It is in the server's log.", {}, MCP_BROKEN
)
"""What is said of an error that is not ours: nothing."""


def problem_of(error: BaseException) -> Problem:
    """The problem that an error is."""
    if not isinstance(error, MemorandaError):
        return BUG
    kind = type(error)
    is_quiet = isinstance(error, _QUIET)
    title = title_of(kind)
    seconds = getattr(error, "seconds", None)
    return Problem(
        _nearest(STATUSES, kind, BUG.status),
        error.code,
        title,
        title if is_quiet else str(error),
        {} if is_quiet else _said(error),
        _nearest(MCP_CODES, kind, MCP_BROKEN),
        seconds if isinstance(seconds, int) else None,
    )


def title_of(kind: type[MemorandaError]) -> str:
    """What a kind of error is, in a sentence."""
    text = (getdoc(kind) or kind.__name__).partition("\n")[0]
    return _RULES.sub("", text)


def _said(error: MemorandaError) -> dict[str, Any]:
    """The data of an error that are plain, long texts cut as its message cuts them."""
    plain = str | int | float | bool | None
    return {
        name: value[:_MOST_SAID] if isinstance(value, str) else value
        for name, value in vars(error).items()
        if isinstance(value, plain)
        or (isinstance(value, tuple) and all(isinstance(one, plain) for one in value))
    }


def _nearest(by_kind: Mapping[type[MemorandaError], V], kind: type[MemorandaError], other: V) -> V:
    return next((by_kind[base] for base in kind.__mro__ if base in by_kind), other)
