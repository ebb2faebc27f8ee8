"""From blocking code into async code: one thread with an event loop, for the whole process.

Calls of one thread see the same context, as if one task had made them: what was recalled by one
call is known to the next, and a reasoning phase lies around all calls in its block. Inside of a
running loop, that is so for the calls of one task.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import Context, ContextVar, copy_context
from threading import Lock, Thread, current_thread
from typing import Any, Final, TypeVar
from weakref import ref

from memoranda.journeys.intent.phases import running_task
from memoranda.kernel.errors import StoreClosed, WaitsForItself

R = TypeVar("R")

NAME: Final = "memoranda-blocking"
"""What the thread of the loop is called."""


class _Beyond:
    """The context of one caller's calls on the other side, and whose it is."""

    def __init__(self, context: Context) -> None:
        self.context: Final = context
        self._thread = ref(current_thread())
        task = running_task()
        self._task = None if task is None else ref(task)

    @property
    def is_of_this_caller(self) -> bool:
        """Whether it is that of the thread and task that asks, and was not handed down to it."""
        task = None if self._task is None else self._task()
        return self._thread() is current_thread() and task is running_task()


_beyond: Final[ContextVar[_Beyond | None]] = ContextVar("memoranda_beyond", default=None)


class Portal:
    """Runs coroutines on an event loop of its own, and waits for what they come to."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        if hasattr(os, "register_at_fork"):  # Windows never forks
            os.register_at_fork(after_in_child=self._forget)

    def call(self, work: Coroutine[Any, Any, R]) -> R:
        """What the coroutine comes to; if the caller is interrupted, it is cancelled.

        WaitsForItself for a call from the loop itself, say by a hook; StoreClosed when the
        interpreter ends, and the loop's thread with it.
        """
        if not self._is_reachable:
            work.close()
            raise StoreClosed if sys.is_finalizing() else WaitsForItself
        loop = self._running()
        outcome: Future[R] = Future()
        tasks: list[asyncio.Task[R]] = []

        def start(context: Context) -> None:
            task = loop.create_task(work, context=context)
            tasks.append(task)
            task.add_done_callback(lambda done: _hand_over(done, outcome))

        context = self._context()
        try:  # an interrupt may come at any time from here on
            loop.call_soon_threadsafe(start, context)
            return outcome.result()
        except BaseException:
            loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
            raise

    def iterate(self, stream: AsyncGenerator[R, None]) -> Iterator[R]:
        """What the stream yields, one by one; left early, it is closed."""

        async def following() -> tuple[R, ...]:
            try:
                return (await anext(stream),)
            except StopAsyncIteration:
                return ()

        try:
            while found := self.call(following()):
                yield found[0]
        finally:
            self._leave(stream)

    def _leave(self, stream: AsyncGenerator[Any, None]) -> None:
        if sys.is_finalizing():
            return  # the process ends, and with it whatever the stream holds
        if current_thread() is self._thread:  # one that was dropped, and is collected there
            asyncio.get_running_loop().create_task(_closed(stream))
        else:
            self.call(_closed(stream))

    @contextmanager
    def entered(self, block: AbstractAsyncContextManager[R]) -> Iterator[R]:
        """Lies around a block as the async one would."""

        async def enter() -> R:
            return await block.__aenter__()

        async def leave(error: BaseException | None) -> bool | None:
            traceback = None if error is None else error.__traceback__
            return await block.__aexit__(None if error is None else type(error), error, traceback)

        inner = self.call(enter())
        try:
            yield inner
        except BaseException as error:
            if not self._is_reachable or not self.call(leave(error)):
                raise
        else:
            self.call(leave(None))

    @property
    def _is_reachable(self) -> bool:
        """Whether the loop can answer whoever asks: not itself, nor when the interpreter ends."""
        return current_thread() is not self._thread and not sys.is_finalizing()

    def _context(self) -> Context:
        beyond = _beyond.get()
        if beyond is None or not beyond.is_of_this_caller:
            beyond = _Beyond(copy_context() if beyond is None else beyond.context.copy())
            _beyond.set(beyond)
        return beyond.context

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                run = (self._loop,)
                self._thread = Thread(target=_run, args=run, name=NAME, daemon=True)
                self._thread.start()
            return self._loop

    def _forget(self) -> None:
        """Begin anew in a process that was forked: it has no thread but the one that forked."""
        self._lock, self._loop, self._thread = Lock(), None, None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    """Run for good: what ends a loop, say a SystemExit of a hook, ends only the call it met."""
    while True:
        try:
            loop.run_forever()
        except BaseException:  # noqa: BLE001, S112 - the call that it met raises it to its caller
            continue


async def _closed(stream: AsyncGenerator[Any, None]) -> None:
    await stream.aclose()


def _hand_over(done: "asyncio.Task[R]", outcome: "Future[R]") -> None:
    if done.cancelled():
        outcome.set_exception(asyncio.CancelledError())
    elif (error := done.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(done.result())


PORTAL: Final = Portal()
"""The one that blocking handles use."""
