"""Leases: who does something now, so that nobody else does it at the same time.

A lease has a name within a scope, a holder, and a time until which it holds. Whoever holds it
renews it while they work. Of a holder that died nothing is heard, the time passes, and somebody
else takes the lease. A job is a lease with a time when it is due; one that nobody holds and that is
due is there to be taken.

Whether a lease still holds is judged by one clock for all who might want it: the server's where
there is a server, since machines differ, and the machine's own for a file, which only processes of
one machine share. When a job is due is said by `kernel.clock`, as all times in a journal are: a
machine whose clock is wrong runs a job too early or too late, and never beside another.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

JOB: Final = "job/"
"""How the name of a job's lease begins."""
SCRUB: Final = JOB + "scrub"
"""The job that an erasure leaves behind which could not finish."""
RUN: Final = "run/"
"""How the name of the lease on a run begins; the id of its proposal follows."""


class Lease(NamedTuple):
    """A lease as it stands in the database."""

    name: str
    holder: str
    """Empty if nobody holds it."""
    until: int
    """When it ends unless it is renewed, by the clock of the database."""
    due: int | None
    """When a job is to run next; None for what is no job, and for a job that waits for nothing."""
    attempts: int
    """How often it was taken since it last ended well."""
    report: str
    """What its last holder left, as JSON; empty if there was none."""


class DueJob(NamedTuple):
    """A job that is due, and that nobody held just now."""

    scope: str
    name: str


class Leases(Protocol):
    """The leases of one scope. `now` is the caller's time, which a server does not listen to."""

    async def take(
        self, name: str, holder: str, *, for_ms: int, now: int, due: int | None = None
    ) -> Lease | None:
        """Take a lease that nobody holds, or whose holder died; None if somebody holds it.

        With `due` only a job that is due by then.
        """
        ...

    async def renew(self, name: str, holder: str, *, for_ms: int, now: int) -> bool:
        """Hold it for longer; False if somebody else took it, or nobody has it any more."""
        ...

    async def end(self, taken: Lease, *, due: int | None, attempts: int, report: str) -> bool:
        """Let go of a job and say when it is due next; False if it was somebody else's by now.

        Where somebody said meanwhile that it is due at another time, that stays so.
        """
        ...

    async def release(self, name: str, holder: str) -> None:
        """Let go of what is no job: nothing is left of it."""
        ...

    async def plan(self, jobs: Mapping[str, int | None], *, anew: bool = False) -> None:
        """Let these be the jobs; others go unless they are held. A new one is due at its time.

        One without a time is made by nobody here. With `anew`, those that are there get their
        time as well, and what was given up is tried again.
        """
        ...

    async def owe(self, name: str, due: int) -> None:
        """Let a job be due at this time, whether it is there or not."""
        ...

    async def all(self, prefix: str) -> Sequence[Lease]:
        """The leases whose names begin so, by name."""
        ...
