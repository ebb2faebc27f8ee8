"""Where sessions are kept: rows of the database, each saved by the transaction of a cycle."""

from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import BodyUnreadable, SessionDamaged
from memoranda.ledger.beside import BesideRows, SessionSaved
from memoranda.plans.session import (
    DEFAULT_SESSION,
    KEPT_ASIDE,
    SessionState,
    read_session,
    session_name,
)


class SessionStore:
    """The session of one name: a row beside a journal, which knows no items (ING-SESSION)."""

    def __init__(self, rows: BesideRows, clock: Clock, name: str = DEFAULT_SESSION) -> None:
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
