"""The summariser that needs no model, beside the event loop where there is much to read."""

import asyncio
from typing import Final

from memoranda.plans.extracting import ExtractiveSummariser, extract
from memoranda.plans.summary import Limits, Summary

AT_ONCE: Final = 2_000
"""Characters of a response and of what was asked that are read on the event loop's own thread."""


class SummariserAside:
    """The same summary, made on a thread of its own unless there is little to read.

    How much is read has a limit, so that a thread that nobody waits for any more soon ends.
    """

    async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary | None:
        """What `extract` makes of a response."""
        if len(response) + len(text or "") <= AT_ONCE:
            return await ExtractiveSummariser().summarise(response, text, limits)
        return await asyncio.to_thread(extract, response, text, limits)
