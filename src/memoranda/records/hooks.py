"""Hooks: what a user wants to hear of, after it happened (MEM-HOOK-1, MEM-HOOK-3).

Whatever changes a record through the handle that they were given to is told: by its verbs, by its
`records`, and by an operation that it approves. What is put away or erased is told as deleted, what
is reinstated as created.

A hook may be a plain function, which runs on a thread, or an async one. It runs after the write has
landed and gets values of its own, so that nothing it does reaches the store or the caller's result.
One that raises, or takes longer than `time_limit` seconds, is reported to `on_failure` and logged;
the operation goes on as if it were not there (MEM-HOOK-2).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from memoranda.records.filter import MemoryFilter
from memoranda.records.model import StoredMemoryRecord

T = TypeVar("T")

Told = Awaitable[None] | None


@dataclass(frozen=True, slots=True)
class HookFailure:
    """A hook that failed: which one (`on_created`), about which record, and how."""

    hook: str
    record_id: str | None
    error: BaseException


@dataclass(frozen=True, kw_only=True)
class MemoryHooks(Generic[T]):
    """The four hooks of the seed, each optional, and the channel on which failures are told."""

    on_created: Callable[[StoredMemoryRecord[T]], Told] | None = None
    on_updated: Callable[[str, T, T], Told] | None = None
    on_deleted: Callable[[str, StoredMemoryRecord[T]], Told] | None = None
    on_queried: Callable[[MemoryFilter, list[StoredMemoryRecord[T]]], Told] | None = None
    on_failure: Callable[[HookFailure], Told] | None = None
    time_limit: float = 5.0
