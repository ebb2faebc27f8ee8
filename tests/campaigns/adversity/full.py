"""A disk that is full: refused in words, nothing lost, and working again when there is room.

By RLIMIT_FSIZE, which needs no rights; and on a small tmpfs of its own, where the kernel lets us
mount one. Either happens in a process of its own.
"""

import asyncio
import ctypes
import logging
import os
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import memoranda
from memoranda import Memory
from memoranda.kernel.errors import StoreFailed
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.client import Client, perform
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import History
from tests.campaigns.adversity.judge import SCOPE, judge, look, settle, tell
from tests.campaigns.adversity.kills import servers

Kind = Literal["limit", "tmpfs"]

LIMIT: Final = 512 * 1024
TMPFS: Final = 10 * 1024 * 1024
REFUSALS: Final = 12
"""So many in a row, and the disk counts as full."""

NOT_POSSIBLE: Final = "not possible here"

_NEW_MOUNTS: Final = 0x00020000  # CLONE_NEWNS
_PRIVATE: Final = 0x00040000 | 0x00004000  # MS_PRIVATE | MS_REC


def fill(folder: Path, seed: int, kind: Kind) -> Counts:
    """Fill a disk, make room, go on; in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=servers()) as process:
        return process.submit(_fill, folder, seed, kind).result()


def _fill(folder: Path, seed: int, kind: Kind) -> Counts:
    logging.disable()  # this process is there for nothing else
    counts = Counts()
    if kind == "tmpfs":
        if not _mounted(folder):
            counts.add(NOT_POSSIBLE)
            return counts
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(TMPFS - 2 * 1024 * 1024))
        asyncio.run(_run(folder, Random(seed), counts, lambda: None, ballast.unlink))
    else:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE)
        tight = partial(limit, (LIMIT, hard))
        asyncio.run(_run(folder, Random(seed), counts, tight, partial(limit, (hard, hard))))
    return counts


async def _run(
    folder: Path,
    chance: Random,
    counts: Counts,
    take_room: Callable[[], Any],
    make_room: Callable[[], Any],
) -> None:
    url, history = f"sqlite:///{folder}/full.db", History()
    async with memoranda.open(url, scope=SCOPE) as memory:
        client = Client("d", memory, chance, history)
        take_room()
        await _fill_up(memory, client, history, counts)
        await look(memory, history, counts)  # it can still be read, all of it
        make_room()
        await settle(memory, history, counts)
        await client.run(20)
    await judge(url, history, counts)
    tell(history, counts)
    counts.add("disks filled")


async def _fill_up(memory: Memory[Any], client: Client, history: History, counts: Counts) -> None:
    refused, own = 0, list[str]()
    while refused < REFUSALS:
        error = await perform(memory, client.next_call(own), history, own)
        refused = refused + 1 if isinstance(error, StoreFailed) else 0
        if error is None:
            counts.add("writes until it was full")
        elif isinstance(error, StoreFailed):
            counts.add("writes refused")
            counts.add("told that the disk is full", "full" in error.why)
        else:
            counts.wrong("untyped", f"{error!r} of a disk that is full")


def _mounted(folder: Path) -> bool:
    """Mount a small tmpfs on the folder, for this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    root, place = b"/", os.fsencode(folder)
    return bool(
        libc.unshare(_NEW_MOUNTS) == 0
        and libc.mount(b"none", root, None, _PRIVATE, None) == 0
        and libc.mount(b"tmpfs", place, b"tmpfs", 0, f"size={TMPFS}".encode()) == 0
    )
