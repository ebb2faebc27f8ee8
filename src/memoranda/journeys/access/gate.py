"""The gate: who comes with which key, and whether they come too often.

A key is read anew each second, so that one that was revoked is refused within a second in every
process. Requests are counted in the database: each process takes a portion of what a key has left
in a minute, and all of them together never more than its limit.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from memoranda.journeys.access.keys import key_id, principal_of
from memoranda.kernel.access import KeyRows, Principal, StoredKey
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import RateExceeded

KNOWN_FOR_S: Final = 1.0
"""How long a key is known before it is read again."""
PER_MINUTE: Final = 6_000
"""How many requests a key may make in a minute where nothing else is said."""
_PORTIONS: Final = 20
_MOST_KNOWN: Final = 10_000
_MINUTE_MS: Final = 60_000


@dataclass(slots=True)
class _Portion:
    """What this process may still let through of a key's requests in a minute."""

    minute: int = -1
    left: int = 0
    is_used_up: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class AccessGate:
    """Lets in whoever has a key of the database."""

    def __init__(self, rows: KeyRows, clock: Clock, *, per_minute: int = PER_MINUTE) -> None:
        self._rows = rows
        self._clock = clock
        self._per_minute = per_minute
        self._known: OrderedDict[str, tuple[float, StoredKey]] = OrderedDict()
        self._portions: OrderedDict[str, _Portion] = OrderedDict()
        self._looked_at = -KNOWN_FOR_S
        self._has_keys = False

    async def is_guarded(self) -> bool:
        """Whether the database ever had a key: from then on nobody is let in without."""
        now = asyncio.get_running_loop().time()
        if not self._has_keys and now - self._looked_at >= KNOWN_FOR_S:
            self._has_keys = await self._rows.has_keys()
            self._looked_at = now
        return self._has_keys

    async def principal(self, key: str) -> Principal:
        """Whom a key stands for; KeyRefused if it is not, or no longer, good."""
        id = key_id(key)
        now = asyncio.get_running_loop().time()
        known = self._known.get(id)
        if known is None or now - known[0] >= KNOWN_FOR_S:
            stored = await self._rows.key(id)
            if stored is None:  # not kept: whoever guesses ids would fill the memory
                return principal_of(key, None, self._clock.now_ms())
            known = self._known[id] = (now, stored)
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return principal_of(key, known[1], self._clock.now_ms())

    async def count(self, principal: Principal) -> None:
        """Count a request; RateExceeded if its key made too many in this minute."""
        if principal.key_id is None:
            return
        limit = principal.per_minute or self._per_minute
        minute, past_ms = divmod(self._clock.now_ms(), _MINUTE_MS)
        portion = self._portions.get(principal.key_id)
        if portion is None:
            portion = self._portions[principal.key_id] = _Portion()
            if len(self._portions) > _MOST_KNOWN:
                self._portions.popitem(last=False)
        if portion.minute != minute or not portion.left:
            async with portion.lock:
                await self._refill(portion, principal.key_id, minute, limit)
        if not portion.left:
            raise RateExceeded(max(1, (_MINUTE_MS - past_ms) // 1000))
        portion.left -= 1

    async def _refill(self, portion: _Portion, id: str, minute: int, limit: int) -> None:
        if portion.minute != minute:
            portion.minute, portion.left, portion.is_used_up = minute, 0, False
        if portion.left or portion.is_used_up:
            return
        for count in (max(1, limit // _PORTIONS), 1):
            if await self._rows.take_requests(id, minute, count, limit):
                portion.left = count
                return
        portion.is_used_up = True
