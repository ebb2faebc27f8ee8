"""Holding a lease while something is done, so that nobody else does it at the same time.

1. it is taken, or somebody holds it: then nothing is done here
2. while the work goes on it is renewed, three times as often as it must be
3. where that fails until the lease has ended, or somebody else has it by now, the work is
   cancelled, and LeaseLost says so: what it had begun is for the next holder to see
4. at the end it is let go
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Final

from memoranda.kernel.clock import Clock, Randomness
from memoranda.kernel.errors import LeaseLost, StoreError
from memoranda.ledger.lease import Lease, Leases

LEASE_MS: Final = 30_000
"""How long nothing is heard of a holder until it counts as dead."""
BEATS: Final = 3
"""How often a lease is renewed in that time."""

_RANDOM_BYTES: Final = 8


@cache
def _machine() -> str:
    return socket.gethostname()


def new_holder(randomness: Randomness) -> str:
    """A name that nobody else has, and by which people find the process."""
    return f"{_machine()}/{os.getpid()}/{randomness.take(_RANDOM_BYTES).hex()}"


@asynccontextmanager
async def held(
    leases: Leases, taken: Lease, clock: Clock, *, for_ms: int = LEASE_MS
) -> AsyncIterator[None]:
    """Renew a lease that was taken for as long as the block lasts; LeaseLost if it was lost.

    Who ends the block lets go of the lease, each in its own way.
    """
    worker = asyncio.current_task()
    assert worker is not None  # noqa: S101 - it is awaited
    is_lost = False

    async def renew() -> None:
        nonlocal is_lost
        time = asyncio.get_running_loop().time
        until = time() + for_ms / 1000
        while time() < until:
            await asyncio.sleep(for_ms / 1000 / BEATS)
            with suppress(StoreError):  # it is tried again until the lease has ended
                asked = time()
                if not await leases.renew(
                    taken.name, taken.holder, for_ms=for_ms, now=clock.now_ms()
                ):
                    break
                until = asked + for_ms / 1000
        is_lost = True
        worker.cancel()

    beat = asyncio.get_running_loop().create_task(renew())
    try:
        yield
    except asyncio.CancelledError:
        if is_lost and not worker.uncancel():
            raise LeaseLost(taken.name) from None
        raise
    finally:
        beat.cancel()


@asynccontextmanager
async def leased(
    leases: Leases, name: str, clock: Clock, randomness: Randomness
) -> AsyncIterator[bool]:
    """Hold what is no job, say a run, for the length of the block; False if somebody else does."""
    holder, at = new_holder(randomness), clock.now_ms()
    take = asyncio.ensure_future(leases.take(name, holder, for_ms=LEASE_MS, now=at))
    try:
        taken = await asyncio.shield(take)
        if taken is None:
            yield False
        else:
            async with held(leases, taken, clock):
                yield True
    finally:
        await asyncio.wait({take})  # whoever gives up waiting for it may have it all the same
        if take.exception() is None and take.result() is not None:
            with suppress(StoreError):  # then it ends by itself
                await asyncio.shield(leases.release(name, holder))
