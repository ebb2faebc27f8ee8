"""The lines of standard input, one at a time, for who may stop waiting for the next one."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Final

_UTF8: Final = "utf-8"


async def next_line() -> str:
    """The next line of standard input with its end; nothing where it has ended, or is closed.

    It is read by a thread of its own that nobody waits for: with one of asyncio's, an interrupt
    would end the program only after the next line. And it is read unbuffered: the interpreter can't
    end while a thread has the lock of a buffer.
    """
    if sys.stdin is None:
        return ""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()
    Thread(target=_read, args=(loop, line), daemon=True).start()
    return (await line).decode(sys.stdin.encoding or _UTF8, "surrogateescape")


def _read(loop: asyncio.AbstractEventLoop, line: "asyncio.Future[bytes]") -> None:
    given = sys.stdin.buffer
    try:
        read = partial(line.set_result, getattr(given, "raw", given).readline())
    except (OSError, ValueError) as failed:
        read = partial(line.set_exception, failed)
    with suppress(RuntimeError):  # the loop is over, and nobody waits
        loop.call_soon_threadsafe(_tell, line, read)


def _tell(line: "asyncio.Future[bytes]", read: Callable[[], None]) -> None:
    if not line.done():  # somebody still waits
        read()
