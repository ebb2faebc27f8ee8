"""Sessions in the database: the default. A session is saved by the cycle's own transaction."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from recollect.kernel.clock import Clock
from recollect.kernel.errors import BodyUnreadable, SessionDamaged
from recollect.ledger.beside import Beside, BesideRows, SessionSaved
from recollect.plans.session import (
    DEFAULT_SESSION,
    KEPT_ASIDE,
    SessionState,
    read_session,
    session_name,
)


class SessionRows:
    """The session of one name, as a row beside a journal."""

    def __init__(self, rows: BesideRows, clock: Clock, name: str = DEFAULT_SESSION) -> None:
        self._rows = rows
        self._clock = clock
        self.name = session_name(name)

    async def load(self) -> SessionState | None:
        """What is stored; None if nothing is. SessionDamaged if it is no session."""
        try:
            document = await self._rows.session(self.name)
        except BodyUnreadable as refused:
            raise SessionDamaged(self.name, str(refused)) from refused
        return None if document is None else read_session(self.name, document)

    @asynccontextmanager
    async def saving(
        self, state: SessionState, replaces: SessionState | None
    ) -> AsyncIterator[Sequence[Beside]]:
        """One value for the unit that ends the cycle: its transaction does all of it."""
        before = None if replaces is None else replaces.session_id
        yield (SessionSaved(self.name, state.session_id, state.body, before),)

    async def rotate(self) -> None:
        """Put the session aside, damaged or not."""
        await self._rows.put_aside(self.name, self._clock.now_ms(), KEPT_ASIDE)
