"""What is sent part by part: the tail of the journal, and a file to keep."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Send

from memoranda.surfaces.http.door import HEARTBEAT_S, Door
from memoranda.surfaces.http.messages import started


@dataclass(slots=True)
class ConsoleStream:
    """A stream and how each of its items is written; it takes no room while it is open."""

    items: AsyncGenerator[Any, None]
    write: Callable[[Any], bytes]
    headers: dict[str, str]
    beats: bool = False
    """Whether it goes on until somebody leaves, and says meanwhile that it is there."""

    async def send(self, door: Door, receive: Receive, send: Send) -> None:
        """Send it until it ends, whoever asked has gone, or the server stops."""
        await send(started(200, self.headers))
        async with aclosing(self.items) as items:
            gone = asyncio.create_task(_gone(receive))
            stopping = asyncio.create_task(door.stopping.wait())
            following = asyncio.ensure_future(anext(items, None))
            try:
                while True:
                    done, _ = await asyncio.wait(
                        {following, gone, stopping},
                        timeout=HEARTBEAT_S if self.beats else None,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                    if gone in done or stopping in done:
                        break
                    if following not in done:
                        await send(_part(b": still here\n\n"))
                        continue
                    item = following.result()
                    if item is None:
                        break
                    await send(_part(self.write(item)))
                    following = asyncio.ensure_future(anext(items, None))
            finally:
                for task in (following, gone, stopping):
                    task.cancel()
                await asyncio.wait({following})
        await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}
