"""Sessions: what a turn leaves for the next one, and how the next one begins.

A session is five texts. Which plan it was left by is one of them: it is resumed under that plan
and no other (ING-HASH). What a turn begins with is one of four:

=========================  ==============================================================
what was found             how the turn begins
=========================  ==============================================================
nothing                    cold: the ids are made in memory, and nothing is written yet
a session of this plan     resumed: its references are restored
a session of another plan  not at all: SessionMismatch
what is no session         not at all: SessionDamaged
=========================  ==============================================================

A session is saved once, at the end of a cycle that succeeded, with all else that the cycle leaves.
Nothing but `rotate` makes room for another one.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AfterValidator

from memoranda.identity import canonical_bytes
from memoranda.kernel.clock import Clock, Randomness, format_time, random_uuid
from memoranda.kernel.errors import (
    BodyUnreadable,
    InvalidInput,
    InvalidRecord,
    SessionDamaged,
    SessionMismatch,
)
from memoranda.kernel.json import JsonValue, parse
from memoranda.kernel.wire import STORABLE, WireModel
from memoranda.ledger.attachments import AttachmentRows, SessionSaved
from memoranda.ledger.time import parse_time

DEFAULT_SESSION: Final = "default"
NO_SCAN: Final = "none"
"""The version of a folder that was never scanned."""

KEPT_ASIDE: Final = 10
"""How many sessions of a name are kept when others took their place."""

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_UUID4: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII
)
_HASH: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LONGEST: Final = 512


def _uuid4(text: str) -> str:
    if not _UUID4.fullmatch(text):
        raise ValueError("it is not a version 4 UUID in lower case")
    return text


def _hash(text: str) -> str:
    if not _HASH.fullmatch(text):
        raise ValueError("it is not a sha256 in hexadecimal")
    return text


def _reference(text: str) -> str:
    if not 0 < len(text) <= _LONGEST:
        raise ValueError(f"it has not 1 to {_LONGEST} characters")
    return text


def _time(text: str) -> str:
    try:
        parse_time(text)
    except InvalidInput as refused:
        raise ValueError("it is not a time such as 2026-02-15T10:22:31.000Z") from refused
    return text


class SessionState(WireModel):
    """What is stored of a session: exactly these five texts, in this order.

    `memory_ref` is opaque: nobody reads anything out of it (ING-SESSION).
    """

    session_id: Annotated[str, AfterValidator(_uuid4)]
    memory_ref: Annotated[str, AfterValidator(_reference), STORABLE]
    repo_scan_version: Annotated[str, AfterValidator(_reference), STORABLE]
    last_execution_plan_hash: Annotated[str, AfterValidator(_hash)]
    updated_at: Annotated[str, AfterValidator(_time)]

    @property
    def document(self) -> dict[str, JsonValue]:
        """The session as JSON, its members in their order."""
        return self.model_dump()

    @property
    def body(self) -> bytes:
        return canonical_bytes(self.document)


def read_session(session: str, document: bytes) -> SessionState:
    """A session as it was stored; SessionDamaged if it is none, in any way (ING-FAILFAST)."""
    try:
        return SessionState.model_validate(parse(document))
    except InvalidInput as refused:
        raise SessionDamaged(session, str(refused)) from refused


def session_name(name: str) -> str:
    """The name of a session, checked.

    What can't stand there is refused and not replaced: two names must not come to be one session.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        why = "use 1 to 64 of the characters A-Z a-z 0-9 . _ -"
        raise InvalidRecord("the session's name", why)
    return name


# --------------------------------------------------------------------------- starting


@dataclass(frozen=True, slots=True)
class Session:
    """A session that a turn runs in. It is stored only when a turn of it has succeeded."""

    name: str
    session_id: str
    memory_ref: str
    repo_scan_version: str
    plan_hash: str
    stored: SessionState | None = None
    """What was stored of it last; None on a cold start."""

    @property
    def is_cold(self) -> bool:
        return self.stored is None

    def state(self, at: int, repo_scan_version: str | None = None) -> SessionState:
        """What is to be stored of it at the end of a cycle: at this time, in milliseconds."""
        return SessionState(
            session_id=self.session_id,
            memory_ref=self.memory_ref,
            repo_scan_version=repo_scan_version or self.repo_scan_version,
            last_execution_plan_hash=self.plan_hash,
            updated_at=format_time(at),
        )

    def after(self, state: SessionState) -> "Session":
        """The session once this was stored of it: the next turn goes on from here."""
        return resume(self.name, state, self.plan_hash)


def begin(name: str, found: SessionState | None, plan_hash: str, randomness: Randomness) -> Session:
    """How a turn begins, from what was found; SessionMismatch if that is another plan's."""
    if found is None:
        return cold_start(name, plan_hash, randomness)
    return resume(name, found, plan_hash)


def cold_start(name: str, plan_hash: str, randomness: Randomness) -> Session:
    """A session that is new: its ids are made here, and nothing is written."""
    drawn = random_uuid(randomness), random_uuid(randomness)
    return Session(session_name(name), *drawn, NO_SCAN, plan_hash)


def resume(name: str, found: SessionState, plan_hash: str) -> Session:
    """A session that goes on, its references restored; never under another plan (ING-HASH)."""
    if found.last_execution_plan_hash != plan_hash:
        raise SessionMismatch(name, plan_hash, found.last_execution_plan_hash)
    return Session(
        session_name(name),
        found.session_id,
        found.memory_ref,
        found.repo_scan_version,
        plan_hash,
        found,
    )


# ------------------------------------------------------------------------------------------------
# Where sessions are kept: rows of the database, each saved by the transaction of a cycle.


class SessionStore:
    """The session of one name: a row attached to a journal, which knows no items (ING-SESSION)."""

    def __init__(self, rows: AttachmentRows, clock: Clock, name: str = DEFAULT_SESSION) -> None:
        self._rows = rows
        self._clock = clock
        self.name = session_name(name)

    async def load(self) -> SessionState | None:
        """What is stored; None if nothing is, and nothing is made. SessionDamaged if it is none."""
        try:
            document = await self._rows.session(self.name)
        except BodyUnreadable as refused:
            raise SessionDamaged(self.name, str(refused)) from refused
        return None if document is None else read_session(self.name, document)

    def saved(
        self, state: SessionState, replaces: SessionState | None, cycle_id: str
    ) -> SessionSaved:
        """What saves the session, for the unit that ends a cycle, whose fact has its digest.

        `replaces` is what was stored before: the unit is refused where another session stands in
        its place.
        """
        before = None if replaces is None else replaces.session_id
        return SessionSaved(self.name, state.session_id, state.body, before, cycle_id)

    async def rotate(self) -> None:
        """Put the session aside, damaged or not, as the only way out of a mismatch.

        The newest of those that were put aside are kept (`KEPT_ASIDE`). If there is no session,
        there is nothing to do.
        """
        await self._rows.put_aside(self.name, self._clock.now_ms(), KEPT_ASIDE)
