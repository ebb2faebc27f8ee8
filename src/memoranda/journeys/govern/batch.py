"""A batch: many writes in one transaction, each on what those before it left."""

from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, Unpack

from memoranda.journeys.govern.about import About, said_of_new
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.writer import Writer
from memoranda.journeys.govern.writes import Write
from memoranda.kernel.errors import InvalidRecord
from memoranda.ledger.object import Cause

T = TypeVar("T")

Runs = Callable[[Sequence[Write], str | None], Awaitable[Sequence[Receipt | None]]]


class Batch(Generic[T]):
    """Collects writes; they land together when its block ends, or none of them does.

    What can't be written is refused at once, what does not fit what is there when the block ends.
    A block that raises writes nothing. Made by `memory.batch(...)`, and used once.
    """

    def __init__(
        self, writer: Writer[T], run: Runs, reason: str | None, idempotency_key: str | None
    ) -> None:
        self._writer = writer
        self._run = run
        self._reason = reason
        self._key = idempotency_key
        self._writes: list[Write] = []
        self._is_open: bool | None = None
        self._receipts: Sequence[Receipt | None] | None = None

    async def __aenter__(self) -> Self:
        if self._is_open is not None:
            raise InvalidRecord("$", "a batch is used once; make another one")
        self._is_open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write all of it, unless the block raised."""
        self._is_open = False
        if kind is None:
            self._receipts = await self._run(self._writes, self._key) if self._writes else []

    @property
    def receipts(self) -> Sequence[Receipt | None]:
        """One for each write, in order; None for a forget that found nothing."""
        if self._receipts is None:
            raise InvalidRecord("$", "nothing of the batch was written; see how its block ended")
        return self._receipts

    def remember(
        self,
        data: T | bytes,
        *,
        id: str | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> str:
        """Remember something new; its id, for what follows in the batch.

        On a retry of the batch another id was written: the receipts have it.
        """
        return self._add(self._writer.remember(data, id, said_of_new(about), self._why(reason))).id

    def put(
        self,
        id: str,
        data: T | bytes,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> None:
        """Create something under an id, or replace it whole."""
        self._add(self._writer.put(id, data, about, expected_version, self._why(reason)))

    def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> None:
        """Make the next version of something."""
        self._add(self._writer.update(id, patch, about, expected_version, self._why(reason)))

    def forget(
        self,
        id: str,
        *,
        reason: str | None = None,
        cause: Cause = "user_request",
        expected_version: int | None = None,
    ) -> None:
        """Forget something, if it is there."""
        self._add(self._writer.forget(id, cause, expected_version, self._why(reason)))

    def _why(self, reason: str | None) -> str | None:
        return self._reason if reason is None else reason

    def _add(self, write: Write) -> Write:
        if not self._is_open:
            raise InvalidRecord("$", "a batch is filled inside of its block: async with … as batch")
        self._writes.append(write)
        return write
