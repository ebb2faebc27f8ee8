"""The time limits of steps, as the engine is handed them."""

from collections.abc import Coroutine
from typing import Any

from memoranda.journeys.records.foreign import within
from memoranda.plans.engine import Output


async def within_limit(seconds: float, work: Coroutine[Any, Any, Output]) -> Output:
    """The output of a step; TookTooLong when the limit is over, whether it heeds that or not."""
    return await within(seconds, work, "a step")
