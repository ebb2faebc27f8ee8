"""Units that share a commit.

The units of a journal take turns: each holds the lock of its head until it is on disk. Those of
one process that come while another is on its way go together in the next statement, and wait for
the disk once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import psycopg

from memoranda.kernel.errors import MemorandaError, StoreClosed, StoreFailed
from memoranda.ledger.entry import NOTICES
from memoranda.ledger.unit import NOTICE, Committed, Current, Draft, Unit
from memoranda.stores.postgres.append import BYTES_AT_ONCE, DRAFTS_AT_ONCE

MAX_GROUP: Final = 64
_REFUSED: Final = frozenset({"22", "23", "54"})


@dataclass(eq=False, slots=True)
class DecidedUnit:
    """A unit that has decided: what it read, and what it adds."""

    unit: Unit
    drafts: Sequence[Draft]
    ids: Sequence[str]
    found: Sequence[Current | None]
    outcome: "asyncio.Future[Committed | None]" = field(init=False)
    """What whoever waits for it will learn, once it waits."""


Append = Callable[[Sequence[DecidedUnit]], Awaitable["list[Committed | None] | None"]]
"""What jobs come to in one statement; None if, of several, one is refused: nothing was written."""


class Joiner:
    """The jobs of one journal in this process."""

    def __init__(self, append: Append) -> None:
        self._append = append
        self._waiting: list[DecidedUnit] = []
        self._group: Sequence[DecidedUnit] = ()
        self._worker: asyncio.Task[None] | None = None
        self._unused = asyncio.Event()
        """Set while no job is on its way by itself, without a worker."""
        self._unused.set()
        self._is_crowded = False
        """Whether the last ones went together: then the next ones are likely to come together."""
        self._is_closed = False

    async def run(self, job: DecidedUnit) -> Committed | None:
        """What a job comes to.

        If no other is on its way, it goes at once; after a group it waits for one turn of the event
        loop, in which others of that group come again. A job that is cancelled while it waits is
        not run. One that is on its way is stopped if it is alone; together with others it lands.
        """
        if self._is_closed:
            raise StoreClosed
        is_free = self._worker is None and self._unused.is_set()
        if is_free and not self._is_crowded:
            return await self._run_alone(job)
        job.outcome = asyncio.get_running_loop().create_future()
        self._waiting.append(job)
        if is_free:
            self._start()
        try:
            return await job.outcome
        except asyncio.CancelledError:
            is_last = job in self._group and all(each.outcome.done() for each in self._group)
            if is_last and self._worker is not None:
                self._worker.cancel()
                await asyncio.wait({self._worker})
            raise

    async def _run_alone(self, job: DecidedUnit) -> Committed | None:
        self._unused.clear()
        try:
            outcomes = await self._append([job])
        finally:
            self._unused.set()
            self._start()
        return None if outcomes is None else outcomes[0]

    def _start(self) -> None:
        if self._waiting and self._worker is None:
            self._worker = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Finish what was asked for, and refuse what comes from now on."""
        self._is_closed = True
        await self._unused.wait()
        while self._worker is not None:
            await asyncio.wait({self._worker})

    async def _work(self) -> None:
        try:
            while self._waiting:
                self._group = self._next_group()
                self._is_crowded = len(self._group) > 1
                if self._group:
                    await self._run(self._group)
        finally:
            self._group = ()
            self._worker = None
            self._start()  # it was stopped, if somebody still waits: for them there is another one

    async def _run(self, group: Sequence[DecidedUnit]) -> None:
        """Run jobs together; if they can't be, and nothing of them landed, half of them each time.

        One that is refused is found so, and most of the others still share a commit.
        """
        try:
            outcomes = await self._append(group)
        except Exception as error:  # noqa: BLE001 - every job gets it
            if len(group) == 1 or _may_have_landed(error):
                _tell(group, error)
                return
            outcomes = None
        if outcomes is None:
            half = len(group) // 2
            for part in (group[:half], group[half:]):
                if waiting := [job for job in part if not job.outcome.done()]:
                    await self._run(waiting)
            return
        for job, outcome in zip(group, outcomes, strict=True):
            if not job.outcome.done():
                job.outcome.set_result(outcome)

    def _next_group(self) -> list[DecidedUnit]:
        """The jobs that wait, in their order, up to the first that has to see those before it."""
        group: list[DecidedUnit] = []
        written, marked, keys = set[str](), set[str](), set[str]()
        drafts = size = 0
        while self._waiting and len(group) < MAX_GROUP:
            job = self._waiting[0]
            key = job.unit.key
            drafts += len(job.drafts)
            size += sum(len(draft.body) for draft in job.drafts)
            if group and (
                drafts > DRAFTS_AT_ONCE
                or size > BYTES_AT_ONCE
                or not written.isdisjoint(job.ids)
                or (key is not None and key.key in keys)
                or any(draft.erases or draft.erased for draft in job.drafts)
                or not marked.isdisjoint(expected.name for expected in job.unit.expects)
            ):
                break
            del self._waiting[0]
            if job.outcome.done():
                continue  # it was cancelled
            group.append(job)
            written.update(draft.version.id for draft in job.drafts if draft.version is not None)
            marked.update(_named_in(job.drafts))
            if key is not None:
                keys.add(key.key)
            if any(draft.erased for draft in job.drafts):
                break  # which names its entries had is not known here
        return group


def _named_in(drafts: Sequence[Draft]) -> Iterator[str]:
    for draft in drafts:
        if draft.kind in NOTICES:
            yield NOTICE
        yield from draft.marks
        yield from (mark.name for mark in draft.unmarks)


def _tell(group: Sequence[DecidedUnit], error: Exception) -> None:
    for job in group:
        if not job.outcome.done():
            job.outcome.set_exception(error)


def _may_have_landed(error: Exception) -> bool:
    """Whether running the jobs again might write them twice, or wait in vain.

    Not if the server refused what one of them holds: a value, a constraint, a limit of its own.
    """
    if isinstance(error, StoreFailed):
        cause = error.__cause__
        code = cause.sqlstate if isinstance(cause, psycopg.Error) else None
        return code is None or code[:2] not in _REFUSED
    return isinstance(error, MemorandaError)
